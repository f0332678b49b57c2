//! cursor-dropped-on-reconnect: a stream had a cursor, its connection ended, and the next GET carries none.

use crate::{
    evidence::Locus,
    model::{EventId, Leg, OpenedBy, Stream},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold, case::SECOND},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "cursor-dropped-on-reconnect",
    family: Family::Resume,
    summary: "a client that held a cursor reconnects without it",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[Threshold {
        name: "window",
        default: 30.0,
        about: "seconds after the end in which a GET counts as the reconnect, or the stream's retry if that is longer",
    }],
    remedy: "seed the tracker with the cursor that opened the stream, and keep one cursor per stream over empty reconnects",
    page: include_str!("cursor_dropped_on_reconnect.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    for (number, stream) in case.session.streams.iter().enumerate() {
        let Some(leg) = stream.legs.last() else { continue };
        // The last connection that was answered with a stream; what was refused after it ended nothing.
        let held =
            case.held_before(number as u32, u32::MAX).or_else(|| stream.legs.iter().rev().find_map(|l| l.cursor));
        let Some(cursor) = held else { continue };
        if leg.status != Some(200) || resets(case, leg) {
            continue;
        }
        match stream.opened_by {
            OpenedBy::Get => standalone(case, number as u32, leg, cursor, found),
            OpenedBy::Post | OpenedBy::Resume => in_flight(case, number as u32, stream, leg, cursor, found),
        }
    }
}

/// The connection ended with an explicit reset: then there is nothing to send.
fn resets(case: &Case<'_>, leg: &Leg) -> bool {
    case.log(leg.exchange).is_some_and(|log| {
        log.events.iter().any(|e| e.flags.contains(crate::model::EventFlags::RESETS_ID))
            && case.held_cursor(leg).is_none()
    })
}

/// The first GET after the end of a connection, within the window, where it has no cursor.
fn bare_reconnect(case: &Case<'_>, stream: u32, leg: &Leg) -> Option<u32> {
    let ended = leg.ended?;
    let window =
        ((case.thresholds.get(RULE.id, "window") * SECOND as f64) as i64).max(case.retry_of(stream).unwrap_or(0));
    let next = case.get_after(leg.exchange, ended)?;
    let exchange = case.exchange(next);
    let soon = exchange.sent.is_some_and(|sent| sent.since(ended) <= window);
    (soon && exchange.cursor.is_none()).then_some(next)
}

fn standalone(case: &Case<'_>, number: u32, leg: &Leg, cursor: EventId, found: &mut Vec<Finding>) {
    if case.held_cursor(leg).is_none() && leg.cursor.is_none() {
        return;
    }
    let Some(next) = bare_reconnect(case, number, leg) else { return };
    let message =
        "the standalone stream had delivered event ids; it was reopened without Last-Event-ID, so its place was lost"
            .to_owned();
    found.push(
        case.finding(&RULE, Party::Client, message, Locus::request(next), "GET without Last-Event-ID")
            .and(Locus::response(leg.exchange), "the connection that delivered the cursor and ended")
            .of_stream(number)
            .with_cursor(cursor),
    );
}

/// The GET without cursor with which a client came back for a stream that had a request in flight, and that request.
pub fn lost_place(case: &Case<'_>, number: u32, stream: &Stream, leg: &Leg) -> Option<(u32, u32)> {
    let next = bare_reconnect(case, number, leg)?;
    let request = case.open_request(stream, next)?;
    // A first GET would be opened anyway; a GET that reopens the standalone stream is that stream's reconnect.
    let earlier = case.bare_before(next);
    let post = stream.legs.first().map(|l| l.exchange)?;
    let reopens = earlier.is_some_and(|x| {
        let ended = case.exchange(x).ended;
        case.exchange(x).accepted() && (x > post || ended.is_none() || ended >= leg.ended)
    });
    (leg.cursor.is_some() || earlier.is_some() && !reopens).then_some((next, request))
}

fn in_flight(case: &Case<'_>, number: u32, stream: &Stream, leg: &Leg, cursor: EventId, found: &mut Vec<Finding>) {
    let Some((next, request)) = lost_place(case, number, stream, leg) else { return };
    let resumed = leg.cursor.is_some();
    let lost = case.loss(request);
    let message = format!(
        "{} was in flight with a known cursor; the client reconnected without Last-Event-ID",
        case.name_of(request)
    );
    let mut finding = case
        .finding(&RULE, Party::Client, message, Locus::request(next), "GET without Last-Event-ID")
        .and(Locus::response(leg.exchange), "the connection that ended before the answer")
        .of_request(request)
        .of_stream(number)
        .with_cursor(cursor)
        .severity(lost);
    if !resumed {
        finding = finding
            .assuming(Certainty::Likely, "the GET was meant to bring the stream back, and is no new standalone stream");
    }
    found.push(finding);
}
