//! resume-black-hole: a resume is accepted and stays open, and the answer never comes.

use super::ambiguous_empty_replay::{invites, open_for};
use crate::{
    evidence::Locus,
    model::{End, OpenedBy, RequestState, Resolved, Resumption, Side},
    reconstruct::is_open_stream,
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold, case::SECOND},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "resume-black-hole",
    family: Family::Replay,
    summary: "a resumed connection stays open without ever bringing the answer",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["request-never-answered"],
    thresholds: &[
        Threshold {
            name: "patience",
            default: 3.0,
            about: "seconds of silence after which a client that leaves, or cancels, has given up",
        },
        Threshold {
            name: "silent",
            default: 30.0,
            about: "seconds without a message from which it is reported as a warning",
        },
        Threshold { name: "error", default: 60.0, about: "seconds without a message from which it is an error" },
    ],
    remedy: "servers: answer 400 or close; clients: set a timeout per request, then retry with idempotency protection",
    page: include_str!("resume_black_hole.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    for (resumption, exchange) in case.resumes() {
        if !is_open_stream(exchange) || exchange.response.lacks().is_some_and(|_| exchange.response.content().is_none())
        {
            continue;
        }
        let (request, stream) = match case.meant(resumption) {
            Some((number, stream)) if stream.opened_by == OpenedBy::Post => {
                (case.open_request(stream, resumption.exchange), Some(number))
            }
            Some(_) => continue,
            None => (case.stranded_request(resumption.exchange), None),
        };
        let unanswered = |r: &u32| matches!(case.request(*r).state, RequestState::Open | RequestState::Cancelled);
        let Some(request) = request.filter(unanswered) else { continue };
        found.extend(judge(case, resumption, request, stream));
    }
}

/// The silence since the last message of the connection, or the last progress of the request anywhere, in microseconds:
/// a request that reports elsewhere simply runs long.
fn silence(case: &Case<'_>, resumption: &Resumption, request: u32) -> Option<i64> {
    let exchange = case.exchange(resumption.exchange);
    let open = open_for(case, exchange)?;
    let last = case.log(resumption.exchange).and_then(|log| {
        let last = log.events.iter().rposition(crate::model::EventFact::is_message)?;
        log.time_of(last as u32)
    });
    let start = exchange.head.or(exchange.sent)?;
    let progress = case.request(request).token.and_then(|token| case.last_progress(token));
    Some(last.max(progress).map_or(open, |last| open.saturating_sub(last.since(start).max(0))))
}

fn judge(case: &Case<'_>, resumption: &Resumption, request: u32, stream: Option<u32>) -> Option<Finding> {
    let exchange = case.exchange(resumption.exchange);
    let silence = silence(case, resumption, request)?;
    let limit = |name| (case.thresholds.get(&RULE, name) * SECOND as f64) as i64;
    let by_client = exchange.end == End::Abrupt(Side::Client);
    let resumed_again =
        resumption.stream.and_then(|s| case.resumes_of(s).last()).is_some_and(|last| *last > resumption.exchange);
    // A client that leaves within seconds and comes back was only cut off.
    let cancelled = case.request(request).cancelled.map(|(_, time)| time);
    let silent = match cancelled {
        // A cancel after a long silence is the client's timeout, and a consequence; an early one explains the end.
        Some(time) => {
            silence >= limit("patience")
                && time.zip(exchange.head).is_some_and(|(cancel, head)| cancel.since(head) >= limit("patience"))
        }
        None => silence >= limit("silent") || by_client && silence >= limit("patience") && !resumed_again,
    };
    if !silent || (invites(resumption, exchange) && resumption.replayed == 0 && exchange.end == End::Clean) {
        return None;
    }
    let severity = if silence >= limit("error") && cancelled.is_none() { Severity::Error } else { Severity::Warning };
    let seconds = silence / SECOND;
    let (kind, what) = if resumption.replayed > 0 {
        (Some("no-live-tail"), "stored events were replayed, then nothing followed")
    } else {
        (None, "200, an event stream that stays open without any message")
    };
    let message = format!(
        "the resume for {} was accepted, then silent for {seconds} s; the answer never came",
        case.name_of(request)
    );
    let mut finding = case
        .finding(&RULE, Party::Server, message, Locus::response(resumption.exchange), what)
        .and(Locus::request(case.request(request).at.exchange), "the request that was never answered")
        .of_request(request)
        .of_stream(stream)
        .with_cursor(resumption.cursor.id)
        .severity(severity);
    finding.kind = kind;
    if !case.streams_are_captured_since(case.request(request).at.exchange) {
        let why = "the answer did not come on a stream that the capture lacks";
        finding = finding.severity(Severity::Warning).assuming(Certainty::Possible, why);
    }
    Some(match (stream, resumption.resolved) {
        (None, _) => finding.severity(Severity::Warning).assuming(
            Certainty::Possible,
            "the cursor was meant for the request in flight; the capture does not show who issued it",
        ),
        (_, Resolved::Temporal) => {
            finding.assuming(Certainty::Possible, "the cursor belongs to the only stream that could be meant")
        }
        _ => finding.assuming(Certainty::Likely, "the request does not simply run that long"),
    })
}
