//! replay-gap: a replay left out events that the server had produced after the cursor.

mod between;
mod density;

use crate::{
    evidence::Locus,
    model::{EventId, Message, OpenedBy, Resolved},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};
use foldhash::HashMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "replay-gap",
    family: Family::Replay,
    summary: "a replay skipped events that came after the cursor, or something between lost them",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["request-never-answered"],
    thresholds: &[],
    remedy: "servers: replay in the order of sending, and refuse a cursor whose successors are no longer all there",
    page: include_str!("replay_gap.md"),
    check: Check::Session(check),
};

/// How far a chain of events is followed back.
const LONGEST: usize = 64;

/// How many predecessors an event is remembered with.
const KNOWN: usize = 3;

/// Where an id was delivered first: exchange and event.
type First = HashMap<EventId, (u32, u32)>;

/// Which ids came right before an id on some connection.
type Before = HashMap<EventId, Vec<EventId>>;

/// What a connection left out: the event behind the gap, and the events that lie before it.
struct Gap {
    exchange: u32,
    behind: u32,
    cursor: EventId,
    left_out: Vec<(u32, u32)>,
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    between::check(case, found);
    if case.session.resumptions.is_empty() {
        return;
    }
    let mut own = Vec::new();
    for (number, stream) in case.session.streams.iter().enumerate() {
        if stream.legs.iter().filter(|leg| leg.cursor.is_some()).count() > 1 {
            let (before, first) = order(case, number as u32);
            for gap in gaps(case, number as u32, &before, &first) {
                own.push((number as u32, gap.exchange));
                found.push(report(case, number as u32, &gap));
            }
        }
    }
    density::check(case, &own, found);
}

/// The ids of one connection in order, its cursor first; only where the cursor's stream is certain.
fn ids(case: &Case<'_>, exchange: u32) -> Vec<(EventId, Option<u32>)> {
    let cursor = case.exchange(exchange).cursor.as_ref().map(|c| (c.id, None));
    let at = case.session.resumptions.binary_search_by_key(&exchange, |r| r.exchange);
    if at.is_ok_and(|at| case.session.resumptions[at].resolved != Resolved::Exact) {
        return Vec::new();
    }
    let events = case.log(exchange).map_or(&[][..], |l| &l.events);
    let carried = events.iter().enumerate().filter_map(|(event, e)| Some((e.explicit_id()?, Some(event as u32))));
    cursor.into_iter().chain(carried).collect()
}

fn order(case: &Case<'_>, stream: u32) -> (Before, First) {
    let (mut before, mut first) = (Before::default(), First::default());
    for leg in &case.stream(stream).legs {
        let ids = ids(case, leg.exchange);
        for (id, event) in &ids {
            if let Some(event) = event {
                first.entry(*id).or_insert((leg.exchange, *event));
            }
        }
        for pair in ids.windows(2) {
            let known = before.entry(pair[1].0).or_default();
            if known.len() < KNOWN && !known.contains(&pair[0].0) {
                known.push(pair[0].0);
            }
        }
    }
    (before, first)
}

/// Where another connection shows events between two that follow each other on this one.
fn gaps(case: &Case<'_>, stream: u32, before: &Before, first: &First) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for leg in case.stream(stream).legs.iter().filter(|leg| leg.cursor.is_some()) {
        for pair in ids(case, leg.exchange).windows(2) {
            let ((previous, _), (next, Some(event))) = (pair[0], pair[1]) else { continue };
            let others = before.get(&next).map_or(&[][..], Vec::as_slice).iter().filter(|id| **id != previous);
            let chain = others.filter_map(|from| between(previous, *from, before)).max_by_key(Vec::len);
            let Some(chain) = chain else { continue };
            // Only messages, which came to light after this connection; what had arrived before it was not lost.
            let places = chain.iter().rev().filter_map(|id| first.get(id)).filter(|(x, event)| {
                let fact = case.log(*x).and_then(|l| l.events.get(*event as usize));
                *x > leg.exchange && fact.is_some_and(crate::model::EventFact::is_message)
            });
            let left_out: Vec<_> = places.copied().collect();
            if let Some(cursor) = leg.cursor.filter(|_| !left_out.is_empty()) {
                gaps.push(Gap { exchange: leg.exchange, behind: event, cursor, left_out });
            }
        }
    }
    gaps
}

/// The ids from `from` back to, and without, `until`.
fn between(until: EventId, from: EventId, before: &Before) -> Option<Vec<EventId>> {
    let mut chain = vec![from];
    while chain.len() < LONGEST {
        let last = chain[chain.len() - 1];
        let known = before.get(&last)?;
        if known.contains(&until) {
            return Some(chain);
        }
        let next = known.iter().find(|id| !chain.contains(id))?;
        chain.push(*next);
    }
    None
}

fn report(case: &Case<'_>, number: u32, gap: &Gap) -> Finding {
    let stream = case.stream(number);
    let replies = |(x, event): &(u32, u32)| case.log(*x).is_some_and(|l| l.messages_of(*event).any(Message::is_reply));
    let terminal = gap.left_out.iter().find(|place| replies(place));
    let what = if terminal.is_some() { ", an answer among them" } else { "" };
    let message = format!(
        "the replay left out {} message(s) that a later replay shows between the cursor and what was delivered{what}",
        gap.left_out.len()
    );
    let (exchange, event) = terminal.copied().unwrap_or(gap.left_out[0]);
    let finding = case
        .finding(
            &RULE,
            Party::Server,
            message,
            Locus::event(gap.exchange, gap.behind),
            "delivered without what is before it",
        )
        .and(Locus::request(gap.exchange), "the resume")
        .and(Locus::event(exchange, event), "left out then, delivered later")
        .of_request(stream.requests.first().copied())
        .of_stream(number)
        .with_cursor(gap.cursor)
        .severity(if terminal.is_some() { Severity::Error } else { Severity::Warning });
    if stream.opened_by == OpenedBy::Post && gap.left_out.iter().all(|place| belongs(case, number, *place)) {
        finding.assuming(Certainty::Likely, "the later replay is in the order of sending")
    } else {
        finding.assuming(Certainty::Possible, "the later replay is in the order of sending, and holds this stream only")
    }
}

/// Every message of an event answers, or reports on, a request of the stream.
fn belongs(case: &Case<'_>, number: u32, (exchange, event): (u32, u32)) -> bool {
    let Some(log) = case.log(exchange) else { return false };
    let requests = || case.stream(number).requests.iter().map(|r| case.request(*r));
    if log.events.get(event as usize).is_some_and(|e| e.kind == crate::model::EventKind::Progress) {
        return log.token_of(event).is_some_and(|token| requests().any(|r| r.token == Some(token)));
    }
    log.messages_of(event).all(|m| m.is_reply() && requests().any(|r| Some(&r.id) == m.id.as_ref()))
}
