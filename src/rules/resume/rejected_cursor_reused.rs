//! rejected-cursor-reused: a cursor that the server refused is sent again.

use crate::{
    evidence::Locus,
    model::Body,
    rules::{Case, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};
use std::collections::BTreeMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "rejected-cursor-reused",
    family: Family::Resume,
    summary: "a refused cursor is sent again instead of retrying the request from scratch",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[],
    remedy: "after 400, 404, 410 or 422 drop the cursor and retry the request with idempotency protection",
    page: include_str!("rejected_cursor_reused.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    let mut refused: BTreeMap<_, (u32, Vec<u32>)> = BTreeMap::new();
    for (resumption, exchange) in case.resumes() {
        if let Some((_, again)) = refused.get_mut(&resumption.cursor.id) {
            again.push(resumption.exchange);
        }
        let gone = exchange.status == Some(404) && case.accepted_after(resumption.exchange).is_none();
        let missing = exchange.session.is_none() || super::super::answer::speaks_of_missing_session(exchange);
        // A refusal whose words were not captured may have said anything.
        let busy = super::super::answer::says_busy(exchange) || matches!(exchange.response, Body::NotCaptured(_));
        let refuses = matches!(exchange.status, Some(400 | 404 | 410 | 422)) && !gone && !missing && !busy;
        if refuses && !case.capture.is_from_gateway(exchange) {
            refused.entry(resumption.cursor.id).or_insert((resumption.exchange, Vec::new()));
        }
    }
    for (cursor, (first, again)) in refused {
        let Some(&next) = again.first() else { continue };
        let stream = case.resumption(first).and_then(|r| r.stream);
        let request = stream.and_then(|s| case.stream(s).requests.first().copied());
        let severity = if again.len() >= 3 { Severity::Error } else { Severity::Warning };
        let times = if again.len() == 1 { "once more".to_owned() } else { format!("{} more times", again.len()) };
        found.push(
            case.finding(
                &RULE,
                Party::Client,
                format!("the server refused this cursor and the client sent it {times}"),
                Locus::request(next),
                "the refused cursor again",
            )
            .and(Locus::response(first), "the refusal")
            .of_request(request)
            .of_stream(stream)
            .with_cursor(cursor)
            .severity(severity)
            .counting(again.len(), again),
        );
    }
}
