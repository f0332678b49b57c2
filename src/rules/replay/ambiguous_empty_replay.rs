//! ambiguous-empty-replay: a resume was answered 200, and nothing came: this proves nothing.

use crate::{
    evidence::Locus,
    model::{EventFlags, Exchange, OpenedBy, Resolved, Resumption, Stream},
    reconstruct::{clock, is_open_stream},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold, case::SECOND},
};
use std::collections::BTreeMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "ambiguous-empty-replay",
    family: Family::Replay,
    summary: "a resume got 200 and an empty replay while the request was still unanswered",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["request-never-answered"],
    thresholds: &[Threshold {
        name: "black-hole",
        default: 30.0,
        about: "seconds without a message from which it is resume-black-hole instead",
    }],
    remedy: "treat it as a failed resumption: a few more polls with the same cursor, then retry with idempotency protection or report an error; servers answer 400 for a cursor they do not know",
    page: include_str!("ambiguous_empty_replay.md"),
    check: Check::Session(check),
};

/// The body invites to come again: a new id, or `retry` (SEP-1699 polling).
pub fn invites(resumption: &Resumption, exchange: &Exchange) -> bool {
    clock::log(exchange).is_some_and(|log| {
        log.events.iter().any(|e| {
            e.explicit_id().is_some_and(|id| id != resumption.cursor.id) || e.flags.contains(EventFlags::HAS_RETRY)
        })
    })
}

/// The resume was answered with an event stream that ended, was captured to its end, and carried no message.
pub fn is_empty(case: &Case<'_>, resumption: &Resumption, exchange: &Exchange) -> bool {
    let captured =
        exchange.response.is_whole() || exchange.response.content().is_some() && clock::ended_on_wire(exchange);
    is_open_stream(exchange)
        && captured
        && resumption.replayed == 0
        && resumption.answers.is_empty()
        && clock::log(exchange).is_none_or(|l| l.tail.as_ref().is_none_or(|t| t.message.is_none()))
        && !case.client_closed(resumption.exchange)
}

/// How long the connection was open, in microseconds.
pub fn open_for(case: &Case<'_>, exchange: &Exchange) -> Option<i64> {
    let ended = if exchange.end == crate::model::End::Open { case.capture.ends() } else { exchange.ended };
    Some(ended?.since(exchange.head.or(exchange.sent)?))
}

/// The request that an empty replay leaves open: still unanswered and not cancelled when the connection ended.
pub fn left_open(case: &Case<'_>, stream: &Stream, resumption: &Resumption, exchange: &Exchange) -> Option<u32> {
    let request = case.open_request(stream, resumption.exchange)?;
    still_open(case, request, exchange).then_some(request)
}

/// Neither answered elsewhere nor cancelled before the connection ended.
fn still_open(case: &Case<'_>, request: u32, exchange: &Exchange) -> bool {
    let facts = case.request(request);
    let ended = exchange.ended;
    let until = |time: Option<crate::model::Time>| time.zip(ended).is_some_and(|(t, ended)| t <= ended);
    // Answers are in order of time.
    let parallel = facts.first_terminal().is_some_and(|t| until(t.time));
    let cancelled = facts.cancelled.is_some_and(|(_, time)| until(time));
    !parallel && !cancelled
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    // By stream, by the request that it leaves open, and whether the stream is known.
    let mut groups = BTreeMap::<_, Vec<&Resumption>>::new();
    for (resumption, exchange) in case.resumes() {
        let long = open_for(case, exchange)
            .is_some_and(|open| open >= (case.thresholds.get(&RULE, "black-hole") * SECOND as f64) as i64);
        if !is_empty(case, resumption, exchange) || invites(resumption, exchange) || long {
            continue;
        }
        let known = case.meant(resumption);
        let (request, certain) = match known {
            Some((_, stream)) if stream.opened_by == OpenedBy::Get => continue,
            Some((_, stream)) if stream.opened_by == OpenedBy::Post => {
                (left_open(case, stream, resumption, exchange), true)
            }
            // Whose cursor it is nobody knows; but something is in flight.
            _ => (case.stranded_request(resumption.exchange).filter(|r| still_open(case, *r, exchange)), false),
        };
        let Some(request) = request else { continue };
        groups.entry((resumption.stream, Some(request), certain)).or_default().push(resumption);
    }
    for ((stream, request, known), resumes) in groups {
        let Some(request) = request else { continue };
        report(case, stream, request, known, &resumes, found);
    }
}

fn report(
    case: &Case<'_>,
    stream: Option<u32>,
    request: u32,
    known: bool,
    resumes: &[&Resumption],
    found: &mut Vec<Finding>,
) {
    let times = if resumes.len() == 1 { String::new() } else { format!(" {} times", resumes.len()) };
    let message = format!(
        "{} was in flight; its resume was answered 200 with an empty replay{times}, which does not say that nothing was missed",
        case.name_of(request)
    );
    let first = resumes[0];
    let mut finding = case
        .finding(
            &RULE,
            Party::Server,
            message,
            Locus::response(first.exchange),
            "200, an event stream without any message, ended",
        )
        .and(Locus::request(case.request(request).at.exchange), "the request that is still unanswered")
        .of_request(request)
        .of_stream(stream)
        .with_cursor(first.cursor.id)
        .severity(case.loss(request))
        .counting(resumes.len(), resumes.iter().map(|r| r.exchange));
    if resumes.len() > 1 {
        finding = finding.and(Locus::response(resumes[resumes.len() - 1].exchange), "the last empty replay");
    }
    if !case.streams_are_captured_since(case.request(request).at.exchange) {
        let why = "the answer did not come on a stream that the capture lacks";
        finding = finding.severity(Severity::Warning).assuming(Certainty::Possible, why);
    }
    if !known {
        finding = finding.severity(Severity::Warning).assuming(
            Certainty::Possible,
            "the cursor was meant for the request in flight; the capture does not show who issued it",
        );
    } else if resumes.iter().all(|r| r.resolved == Resolved::Temporal) {
        finding = finding.assuming(Certainty::Possible, "the cursor belongs to the only stream that could be meant");
    } else if case.exchange(first.exchange).end == crate::model::End::Unknown {
        finding = finding.assuming(Certainty::Likely, "the server ended the connection, and not the client");
    }
    found.push(finding);
}
