//! priming-missing: a stream with event ids does not begin with a priming event.

use crate::{
    evidence::Locus,
    model::{Era, EventKind, OpenedBy},
    rules::{Case, Check, Family, Finding, Party, Rule, Severity, Threshold},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "priming-missing",
    family: Family::Event,
    summary: "a stream with event ids begins without a priming event",
    severity: Severity::Note,
    since: "0.1.0",
    eras: &[Era::November2025],
    suppresses: &[],
    thresholds: &[Threshold {
        name: "instant",
        default: 50.0,
        about: "milliseconds in which a stream was answered at once and needed no priming",
    }],
    remedy: "servers: begin each stream of a POST with an id and empty data, so that it can be resumed from its first moment",
    page: include_str!("priming_missing.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.era < Era::November2025 || !case.session.complete_from_start {
        return;
    }
    for (number, stream) in case.session.streams.iter().enumerate().filter(|(_, s)| s.opened_by == OpenedBy::Post) {
        let Some(leg) = stream.legs.first() else { continue };
        let Some(log) = case.log(leg.exchange).filter(|l| !l.rebuilt) else { continue };
        let uses_ids = log.events.iter().any(|e| e.explicit_id().is_some());
        let first = log.events.iter().find(|e| e.kind != EventKind::None || e.explicit_id().is_some());
        let primed = first.is_none_or(|e| e.explicit_id().is_some() && !e.is_message());
        let limit = (case.thresholds.get(&RULE, "instant") * 1000.0) as i64;
        let instant = leg.ended.zip(leg.started).is_some_and(|(ended, started)| ended.since(started) <= limit);
        if !uses_ids || primed || instant {
            continue;
        }
        let message = "the stream uses event ids but does not begin with a priming event".to_owned();
        let finding =
            case.finding(&RULE, Party::Server, message, Locus::event(leg.exchange, 0), "the first event is a message");
        found.push(finding.of_request(stream.requests.first().copied()).of_stream(number as u32));
    }
}
