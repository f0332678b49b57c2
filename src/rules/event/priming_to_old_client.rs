//! priming-to-old-client: an event with empty data goes to a client whose revision does not know such events.

use crate::{
    evidence::Locus,
    model::{Era, EventKind},
    rules::{Case, Check, Family, Finding, Party, Rule, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "priming-to-old-client",
    family: Family::Event,
    summary: "a priming event is sent to a client that may fail on its empty data",
    severity: Severity::Note,
    since: "0.1.0",
    eras: &[Era::March2025, Era::June2025],
    suppresses: &[],
    thresholds: &[],
    remedy: "servers: send priming events from 2025-11-25 on only; older clients parse the empty text as JSON",
    page: include_str!("priming_to_old_client.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.era >= Era::November2025 || !case.session.complete_from_start {
        return;
    }
    for (number, stream) in case.session.streams.iter().enumerate() {
        for leg in &stream.legs {
            let Some(log) = case.log(leg.exchange) else { continue };
            let Some(event) = log.events.iter().position(|e| e.kind == EventKind::Empty) else { continue };
            // The client dropped the connection right on it.
            let dropped = case.client_closed(leg.exchange) && event + 1 == log.events.len();
            let message =
                format!("an event with empty data was sent to a client that negotiated {}", case.session.era.as_str());
            let finding =
                case.finding(&RULE, Party::Server, message, Locus::event(leg.exchange, event as u32), "empty data");
            found.push(
                finding.of_request(stream.requests.first().copied()).of_stream(number as u32).severity(if dropped {
                    Severity::Warning
                } else {
                    Severity::Note
                }),
            );
        }
    }
}
