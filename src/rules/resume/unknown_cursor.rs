//! unknown-cursor: a cursor that no captured event of the endpoint ever carried.

use crate::{
    evidence::Locus,
    model::{Body, End, EventId, Exchange, MediaType, Method, Missing, Resolved, Resumption, Session, Transport},
    reconstruct::{Capture, authority, clock},
    rules::{Certainty, Check, Evidence, Family, Finding, Party, Rule, STREAMABLE, Severity, Thresholds, case::by_get},
};
use foldhash::HashMap;
use std::{collections::BTreeMap, sync::Arc};

/// The rule.
pub static RULE: Rule = Rule {
    id: "unknown-cursor",
    family: Family::Resume,
    summary: "a resume uses a cursor that was never issued",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[],
    remedy: "look at what the client stores between runs, and at proxies that rewrite headers",
    page: include_str!("unknown_cursor.md"),
    check: Check::Endpoint(check),
};

fn check(capture: &Capture, _: &Thresholds, found: &mut Vec<Finding>) {
    let streamable = |s: &Session| s.transport == Transport::Streamable && !s.resumptions.is_empty();
    if !capture.sessions.iter().any(streamable) {
        return;
    }
    let gaps = gaps(capture);
    for (number, session) in capture.sessions.iter().enumerate().filter(|(_, s)| streamable(s)) {
        let mut unknown: BTreeMap<EventId, Vec<&Resumption>> = BTreeMap::new();
        for resumption in &session.resumptions {
            if by_get(resumption, capture.exchange(resumption.exchange)) && is_unresolved(resumption) {
                unknown.entry(resumption.cursor.id).or_default().push(resumption);
            }
        }
        unknown.retain(|id, _| !is_issued(capture, &session.endpoint, *id));
        if unknown.is_empty() {
            continue;
        }
        let gap = gaps.get(authority(&session.endpoint)).copied();
        let ids_from = first_with_ids(capture, session);
        found.extend(unknown.values().filter_map(|all| report(capture, number as u32, all, gap, ids_from)));
    }
}

/// No issued id and no form of id resolved it; that content or time suggest a stream does not make it an issued one.
fn is_unresolved(resumption: &Resumption) -> bool {
    matches!(resumption.resolved, Resolved::Unknown | Resolved::Content | Resolved::Temporal)
}

/// An event of the endpoint carried the id, in whatever session.
fn is_issued(capture: &Capture, endpoint: &Arc<str>, id: EventId) -> bool {
    capture.index.deliveries(id).iter().any(|(x, _)| capture.exchange(*x).endpoint == *endpoint)
}

/// By host: the first exchange that may have been an event stream and was not captured as far as it went. A legacy
/// endpoint of the same server may have issued the cursor as well.
fn gaps(capture: &Capture) -> HashMap<&str, u32> {
    let mut gaps = HashMap::default();
    for (index, exchange) in capture.exchanges.iter().enumerate() {
        if may_hide_ids(exchange) {
            gaps.entry(authority(&exchange.endpoint)).or_insert(index as u32);
        }
    }
    gaps
}

fn may_hide_ids(exchange: &Exchange) -> bool {
    let streams = matches!(exchange.headers.content_type, MediaType::EventStream | MediaType::Absent);
    let carries = matches!(exchange.method, Method::Get | Method::Post) && exchange.accepted() && streams;
    // A stream that was still open when the capture ended is there as far as it went.
    let known = match &exchange.response {
        Body::Partial(_, Missing::CaptureEnd) => exchange.end == End::Open,
        body => body.is_whole() || body.content().is_some() && clock::ended_on_wire(exchange),
    };
    carries && !known
}

/// The first exchange of a session whose stream had ids.
fn first_with_ids(capture: &Capture, session: &Session) -> Option<u32> {
    session
        .exchanges
        .iter()
        .copied()
        .find(|x| clock::log(capture.exchange(*x)).is_some_and(|l| l.events.iter().any(|e| e.explicit_id().is_some())))
}

fn report(
    capture: &Capture,
    number: u32,
    all: &[&Resumption],
    gap: Option<u32>,
    ids_from: Option<u32>,
) -> Option<Finding> {
    let session = &capture.sessions[number as usize];
    let first = all[0];
    let complete = session.complete_from_start && !session.placeholder;
    // A session that is older than the capture got its cursors before it.
    if !complete && ids_from.is_none_or(|x| x >= first.exchange) {
        return None;
    }
    let covered = complete && gap.is_none_or(|gap| gap > first.exchange);
    let meant = first.cursor.normalised.iter().find(|id| is_issued(capture, &session.endpoint, **id));
    let message = match meant {
        Some(_) => {
            "no event carried this cursor as it was sent; trimmed and unescaped it is an issued id: it was mangled on the way"
        }
        None => "the client resumed with a cursor that no captured event of this endpoint carried",
    };
    let what = Evidence { at: Locus::request(first.exchange), what: "resumed with this cursor".into() };
    let mut finding = Finding::new(&RULE, Party::Unknown, message.to_owned(), what)
        .in_session(number)
        .of_stream(first.stream)
        .with_cursor(first.cursor.id)
        .severity(if covered { Severity::Warning } else { Severity::Note })
        .counting(all.len(), all.iter().map(|r| r.exchange));
    if let Some((exchange, event)) = meant.and_then(|id| capture.index.deliveries(*id).first()) {
        finding = finding.kind("mangled").and(Locus::event(*exchange, *event), "the id that was meant");
    }
    if !complete {
        finding = finding.assuming(Certainty::Possible, "the cursor was not issued before the capture began");
    } else if !covered {
        finding = finding.assuming(Certainty::Possible, "none of the bodies that the capture lacks carried this id");
    }
    Some(finding)
}
