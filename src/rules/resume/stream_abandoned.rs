//! stream-abandoned: a stream with a cursor ended before its answer, and the client never came back for it.

use crate::{
    evidence::Locus,
    model::{Leg, OpenedBy, Time},
    rules::{
        Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold, case::SECOND,
        resume::cursor_dropped_on_reconnect::lost_place,
    },
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "stream-abandoned",
    family: Family::Resume,
    summary: "a stream that could be resumed was left, while the session went on",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["request-never-answered"],
    thresholds: &[Threshold {
        name: "wait",
        default: 2.0,
        about: "seconds that a client may take to come back where the server sent no retry",
    }],
    remedy: "resume with GET and the stream's own cursor; after that, retry with idempotency protection",
    page: include_str!("stream_abandoned.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    for (number, stream) in case.session.streams.iter().enumerate() {
        let [leg] = stream.legs.as_slice() else { continue };
        if stream.opened_by != OpenedBy::Post || !case.leg_is_captured(leg) || case.client_closed(leg.exchange) {
            continue;
        }
        let Some(cursor) = case.held_cursor(leg) else { continue };
        // Without an end, the last thing that is known of the connection is when it began.
        let Some(ended) = leg.ended.or(leg.started) else { continue };
        if leg.end == crate::model::LegEnd::Open {
            continue;
        }
        let open = stream.requests.iter().copied().find(|r| !case.is_settled(*r));
        let Some(request) = open else { continue };
        let Some(use_) = went_on(case, number as u32, leg, ended) else { continue };
        if excused(case, number as u32, request, leg) {
            continue;
        }
        let severity = if case.request(request).side_effecting { Severity::Error } else { Severity::Warning };
        let message = format!(
            "the stream of {} ended before the answer; the client held its cursor and never came back for it",
            case.name_of(request)
        );
        let finding = case
            .finding(
                &RULE,
                Party::Client,
                message,
                Locus::response(leg.exchange),
                "the stream ended without the answer",
            )
            .and(Locus::request(use_), "the session was used for something else afterwards")
            .of_request(request)
            .of_stream(number as u32)
            .with_cursor(cursor)
            .severity(severity);
        found.push(if leg.end == crate::model::LegEnd::Clean {
            finding
        } else {
            finding.assuming(Certainty::Likely, "the client did not close the connection on purpose")
        });
    }
}

/// The client used the session after the time in which it should have come back.
fn went_on(case: &Case<'_>, stream: u32, leg: &Leg, ended: Time) -> Option<u32> {
    let wait = case.retry_of(stream).unwrap_or((case.thresholds.get(RULE.id, "wait") * SECOND as f64) as i64);
    case.sent_after(leg.exchange, ended.plus(wait.saturating_add(1)))
}

/// The request was sent again, a cursor was used whose stream is not known, or a reconnect without cursor says it better.
fn excused(case: &Case<'_>, number: u32, request: u32, leg: &Leg) -> bool {
    let facts = case.request(request);
    let tail = case.log(leg.exchange).and_then(|l| l.tail.as_ref()).and_then(|t| t.message.as_ref());
    let undispatched = tail.is_some_and(|m| m.is_reply() && m.id.as_ref() == Some(&facts.id));
    // A reconnect without cursor says it better.
    let reconnects = lost_place(case, number, case.stream(number), leg).is_some();
    let unknown = case.unknown_resumes().last().is_some_and(|x| *x > leg.exchange);
    case.sent_again(facts).is_some()
        || undispatched
        || reconnects
        || unknown
        || !case.streams_are_captured_since(facts.at.exchange)
}
