//! conflicting-terminals: one request has answers that differ.

use super::duplicate_terminal::reached;
use crate::{
    model::{Reply, Transport},
    rules::{Case, Check, EVERY, Family, Finding, Party, Rule, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "conflicting-terminals",
    family: Family::Terminal,
    summary: "one request was answered twice, and the answers differ",
    severity: Severity::Error,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &["event-redelivered"],
    thresholds: &[],
    remedy: "servers: send one response per request; clients: keep the first and report the second",
    page: include_str!("conflicting_terminals.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    for (number, request) in case.session.requests.iter().enumerate().filter(|(_, r)| r.terminals.len() > 1) {
        let deliveries = reached(request);
        let Some((first, rest)) = deliveries.split_first() else { continue };
        let others: Vec<_> = rest.iter().copied().filter(|t| t.payload != first.payload).collect();
        let Some(other) = others.first() else { continue };
        let kinds = match (first.kind, other.kind) {
            (Reply::Result, Reply::Result) => "two different results",
            (Reply::Error, Reply::Error) => "two different errors",
            _ => "a result and an error",
        };
        let mut finding = case
            .finding(
                &RULE,
                Party::Server,
                format!("{} was answered with {kinds}", case.name_of(number as u32)),
                other.at,
                "an answer that differs",
            )
            .and(first.at, "the first answer")
            .of_request(number as u32)
            .of_stream(first.stream)
            .counting(others.len(), others.iter().map(|t| t.at.exchange));
        // A cancelled request may be answered late with an error: its sender ignores both.
        if request.cancelled.is_some() {
            finding = finding.severity(Severity::Note);
        }
        found.push(finding);
    }
    orphans(case, found);
}

/// Responses whose request was not captured, as in a bare event stream.
fn orphans(case: &Case<'_>, found: &mut Vec<Finding>) {
    if case.session.transport != Transport::Messages {
        return;
    }
    let mut first: foldhash::HashMap<&str, &crate::model::Terminal> = foldhash::HashMap::default();
    for (id, terminal) in &case.session.orphans {
        let Some(id) = id.as_deref() else { continue };
        let known = *first.entry(id).or_insert(terminal);
        if known.payload != terminal.payload {
            let finding = case.finding(
                &RULE,
                Party::Unknown,
                format!("request {id} has answers that differ"),
                terminal.at,
                "an answer that differs",
            );
            found.push(finding.and(known.at, "the first answer"));
        }
    }
}
