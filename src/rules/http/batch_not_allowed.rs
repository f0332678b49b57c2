//! batch-not-allowed: an array body in a revision without batches, `initialize` in a batch, or an empty array.

use crate::{
    evidence::Locus,
    model::{Content, Era, EventKind, Exchange, MessageFlags, Transport},
    reconstruct::initializes,
    rules::{Case, Check, EVERY, Family, Finding, Party, Rule, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "batch-not-allowed",
    family: Family::Http,
    summary: "a batch is sent where the revision has none",
    severity: Severity::Error,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &[],
    thresholds: &[],
    remedy: "send each message in a POST of its own; batches exist in 2025-03-26 only",
    page: include_str!("batch_not_allowed.md"),
    check: Check::Session(check),
};

/// The server's half holds a batch.
fn answers_with_batch(exchange: &Exchange) -> bool {
    match exchange.response.content() {
        Some(Content::Messages(messages)) => messages.iter().any(|m| m.flags.contains(MessageFlags::BATCH)),
        Some(Content::Events(log)) => log.events.iter().any(|e| e.kind == EventKind::Batch),
        _ => false,
    }
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !matches!(case.session.transport, Transport::Streamable | Transport::Modern) {
        return;
    }
    let negotiated = case.session.complete_from_start && case.session.era >= Era::June2025;
    for &index in &case.session.exchanges {
        let exchange = case.exchange(index);
        let era = if exchange.is_modern() { Era::Modern2026 } else { case.session.era };
        let forbidden = era == Era::Modern2026 || negotiated;
        let reason = if !exchange.batch {
            None
        } else if exchange.request.is_whole() && exchange.messages().is_empty() {
            Some(("empty", "an empty array was sent"))
        } else if initializes(exchange) {
            Some(("initialize", "initialize was sent in a batch"))
        } else {
            forbidden.then_some(("batch", "a batch was sent, which this revision does not have"))
        };
        if let Some((kind, message)) = reason {
            found.push(
                case.finding(&RULE, Party::Client, message.to_owned(), Locus::request(index), "an array").kind(kind),
            );
        }
        if forbidden && answers_with_batch(exchange) {
            let message = "the server answered with a batch, which this revision does not have".to_owned();
            found.push(case.finding(&RULE, Party::Server, message, Locus::response(index), "an array").kind("batch"));
        }
    }
}
