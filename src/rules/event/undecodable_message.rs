//! undecodable-message: data that clients read as JSON-RPC and that is none, or JSON-RPC that clients do not read.

use crate::{
    evidence::Locus,
    model::{Body, Era, EventFlags, EventKind, EventLog, Missing, Transport},
    rules::{Case, Check, EVERY, Family, Finding, Party, Rule, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "undecodable-message",
    family: Family::Event,
    summary: "an event is no JSON-RPC message where one must be, or hides one where clients do not look",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &[],
    thresholds: &[],
    remedy: "servers: send each JSON-RPC message whole in an event of type message, and nothing else there",
    page: include_str!("undecodable_message.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    for (number, stream) in case.session.streams.iter().enumerate() {
        for leg in &stream.legs {
            let Some(log) = case.log(leg.exchange) else { continue };
            // Recorders that rebuild bodies cannot tell a fault of the server from one of their own.
            if log.rebuilt {
                continue;
            }
            let request = stream.requests.first().copied();
            for (event, fact) in log.events.iter().enumerate() {
                let event = event as u32;
                let Some((kind, words, severity)) = fault(case, log, event, fact.kind, fact.flags) else { continue };
                let last = event as usize + 1 == log.events.len();
                let cut =
                    matches!(&case.exchange(leg.exchange).response, Body::Partial(_, why) if *why != Missing::CutOff);
                if last && cut {
                    continue;
                }
                found.push(
                    case.finding(&RULE, Party::Server, words.to_owned(), Locus::event(leg.exchange, event), words)
                        .of_request(request)
                        .of_stream(number as u32)
                        .with_cursor(fact.explicit_id())
                        .kind(kind)
                        .severity(severity),
                );
            }
        }
    }
}

fn fault(
    case: &Case<'_>,
    log: &EventLog,
    event: u32,
    kind: EventKind,
    flags: EventFlags,
) -> Option<(&'static str, &'static str, Severity)> {
    match kind {
        EventKind::Undecodable => {
            Some(("not-json-rpc", "a message event holds no JSON-RPC 2.0 message", Severity::Warning))
        }
        EventKind::Misnamed => {
            let terminal = log.messages_of(event).any(crate::model::Message::is_reply);
            let severity = if terminal { Severity::Error } else { Severity::Warning };
            let words = if flags.contains(EventFlags::IS_ERROR_TYPE) {
                "a JSON-RPC message stands in an event of type error, which clients do not read"
            } else {
                "a JSON-RPC message stands in an event of another type, which clients do not read"
            };
            Some(("misnamed", words, severity))
        }
        EventKind::Batch
            if case.session.era >= Era::June2025
                && case.session.complete_from_start
                && case.session.transport != Transport::Messages =>
        {
            Some(("batch", "a message event holds a batch, which this revision does not have", Severity::Warning))
        }
        _ => None,
    }
}
