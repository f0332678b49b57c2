//! cursor-from-other-stream: of several dropped streams only one is resumed, by a connection-wide "last id".

use crate::{
    evidence::Locus,
    model::{Leg, OpenedBy, Time},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "cursor-from-other-stream",
    family: Family::Resume,
    summary: "several streams dropped together and only one of their cursors was used to come back",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["stream-abandoned", "request-never-answered"],
    thresholds: &[],
    remedy: "keep one cursor per logical stream, and open one GET per stream",
    page: include_str!("cursor_from_other_stream.md"),
    check: Check::Session(check),
};

fn overlap(a: &Leg, b: &Leg) -> bool {
    let span = |leg: &Leg| Some((leg.started?, leg.ended?));
    match (span(a), span(b)) {
        (Some((a0, a1)), Some((b0, b1))) => a0 < b1 && b0 < a1,
        _ => false,
    }
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.resumptions.is_empty() {
        return;
    }
    for (number, stream) in case.session.streams.iter().enumerate() {
        let [dropped] = stream.legs.as_slice() else { continue };
        if stream.opened_by != OpenedBy::Post || case.held_cursor(dropped).is_none() || !case.leg_is_captured(dropped) {
            continue;
        }
        let Some(ended) = dropped.ended else { continue };
        if case.client_closed(dropped.exchange) {
            continue;
        }
        let Some((resume, other)) = other_resume(case, number as u32, dropped, ended) else { continue };
        let Some(request) = case.open_request(stream, resume) else { continue };
        if case.sent_again(case.request(request)).is_some() || !waited(case, stream, ended) {
            continue;
        }
        let severity = case.loss(request);
        let message = format!(
            "{} had its own cursor when its stream dropped; only the cursor of another stream was resumed",
            case.name_of(request)
        );
        found.push(
            case.finding(
                &RULE,
                Party::Client,
                message,
                Locus::request(resume),
                "resumed with the cursor of another stream",
            )
            .and(Locus::response(dropped.exchange), "this stream ended before its answer and was never resumed")
            .and(Locus::response(other), "the stream that was resumed instead; both were open at the same time")
            .of_request(request)
            .of_stream(number as u32)
            .with_cursor(case.held_cursor(dropped))
            .severity(severity)
            .assuming(Certainty::Likely, "the client gave this stream up because it keeps one cursor for all"),
        );
    }
}

/// A resume, after the drop, of another stream that was open together with the dropped one and ended as well.
fn other_resume(case: &Case<'_>, number: u32, dropped: &Leg, ended: Time) -> Option<(u32, u32)> {
    let mut resumes =
        case.resumes().filter(|(r, x)| r.stream != Some(number) && x.sent.is_some_and(|sent| sent >= ended));
    resumes.find_map(|(resumption, _)| {
        let (_, stream) = case.meant(resumption)?;
        let before = stream.legs.iter().filter(|leg| leg.exchange < resumption.exchange);
        let other = before.into_iter().find(|leg| overlap(leg, dropped))?;
        Some((resumption.exchange, other.exchange))
    })
}

/// The session went on long enough for a reconnect of this stream to show.
fn waited(case: &Case<'_>, stream: &crate::model::Stream, ended: Time) -> bool {
    let retry =
        case.retry_before(stream, u32::MAX).map_or(0, |ms| i64::try_from(ms).unwrap_or(i64::MAX / 2_000) * 1000);
    let wait = retry.max(2 * crate::rules::case::SECOND);
    case.last_use().is_some_and(|last| last.since(ended) > wait) || case.deletion().is_some()
}
