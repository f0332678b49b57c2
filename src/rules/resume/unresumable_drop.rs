//! unresumable-drop: the connection of a request in flight ended before any event id: there is nothing to resume with.

use crate::{
    evidence::Locus,
    model::{Era, EventFact, Leg, LegEnd, OpenedBy, Request, SessionEnd, Side, Stream, Time},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, case::SECOND},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "unresumable-drop",
    family: Family::Resume,
    summary: "a stream ended before its answer and before any event id, so it cannot be resumed",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["request-never-answered"],
    thresholds: &[],
    remedy: "servers: begin every POST stream with a priming event that has an id, or answer as JSON; clients: retry with idempotency protection",
    page: include_str!("unresumable_drop.md"),
    check: Check::Session(check),
};

/// How long after the end a cancel or a DELETE may follow that explains it.
const GRACE: i64 = SECOND;

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    let mut uses_ids = None;
    for (number, stream) in case.session.streams.iter().enumerate() {
        let Some((leg, request)) = dropped(case, stream) else { continue };
        let uses_ids = *uses_ids.get_or_insert_with(|| uses_ids_at_all(case));
        found.push(report(case, number as u32, leg, request, uses_ids));
    }
}

/// The only connection of a POST stream, and a request that it left open without any cursor.
fn dropped<'c>(case: &Case<'c>, stream: &'c Stream) -> Option<(&'c Leg, u32)> {
    let [leg] = stream.legs.as_slice() else { return None };
    let exchange = case.exchange(leg.exchange);
    let whole = case.leg_is_captured(leg) && exchange.accepted() && leg.end != LegEnd::Open;
    if stream.opened_by != OpenedBy::Post || !whole || case.client_closed(leg.exchange) {
        return None;
    }
    let log = case.log(leg.exchange);
    if log.is_some_and(|l| l.events.iter().any(|e| e.explicit_id().is_some())) {
        return None;
    }
    let ended = leg.ended?;
    let pulled = case.session.ended_by.filter(|_| case.session.end == SessionEnd::Deleted);
    if pulled.is_some_and(|by| case.exchange(by).sent.is_none_or(|sent| sent.since(ended) <= GRACE)) {
        return None;
    }
    // Where the server did not close, the process behind the connection may simply have ended.
    let by_server = leg.end == LegEnd::Clean || exchange.end == crate::model::End::Abrupt(Side::Server);
    let went_on = case.last_use().is_some_and(|last| last > ended) || case.session.end == SessionEnd::Superseded;
    if !by_server && !went_on {
        return None;
    }
    let tail = log.and_then(|l| l.tail.as_ref()).and_then(|t| t.message.as_ref()).filter(|m| m.is_reply());
    let undispatched = |r: &Request| tail.is_some_and(|m| m.id.as_ref() == Some(&r.id));
    let open = stream.requests.iter().copied().find(|r| {
        let request = case.request(*r);
        request.terminals.is_empty() && !cancelled_about(request, ended) && !undispatched(request)
    })?;
    Some((leg, open))
}

/// The client gave the request up before the connection ended, or right then.
fn cancelled_about(request: &Request, ended: Time) -> bool {
    request.cancelled.is_some_and(|(_, time)| time.is_none_or(|t| t.since(ended) <= GRACE))
}

fn uses_ids_at_all(case: &Case<'_>) -> bool {
    let legs = case.session.streams.iter().flat_map(|s| &s.legs);
    let mut events = legs.filter_map(|leg| case.log(leg.exchange)).flat_map(|log| &log.events);
    events.any(|e| EventFact::explicit_id(e).is_some())
}

fn report(case: &Case<'_>, stream: u32, leg: &Leg, request: u32, uses_ids: bool) -> Finding {
    let clean = leg.end == LegEnd::Clean;
    let by_server = clean || case.exchange(leg.exchange).end == crate::model::End::Abrupt(Side::Server);
    let promised = case.session.era >= Era::November2025 && uses_ids;
    let how = if clean { "was closed" } else { "broke off" };
    let message = format!(
        "the stream of {} {how} before the answer and before any event id: it cannot be resumed",
        case.name_of(request)
    );
    let finding = case
        .finding(
            &RULE,
            if by_server { Party::Server } else { Party::Unknown },
            message,
            Locus::response(leg.exchange),
            "the stream ended; no event of it had an id",
        )
        .and(Locus::request(case.request(request).at.exchange), "the request that it leaves open")
        .of_request(request)
        .of_stream(stream)
        .severity(if promised { Severity::Warning } else { Severity::Note });
    if by_server {
        finding
    } else {
        finding.assuming(Certainty::Likely, "the client did not close the connection on purpose")
    }
}
