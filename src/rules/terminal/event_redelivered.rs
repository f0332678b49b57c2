//! event-redelivered: an event that a stream had delivered comes again on another connection of it.

use crate::{
    evidence::Locus,
    model::{EventId, Message, Resolved, Stream, Transport},
    rules::{Case, Check, EVERY, Family, Finding, Party, Rule, Severity},
};
use foldhash::HashMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "event-redelivered",
    family: Family::Terminal,
    summary: "an event was delivered again on a later connection of its stream",
    severity: Severity::Note,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &[],
    thresholds: &[],
    remedy: "clients: drop events whose id the stream has had; servers: replay only what is behind the cursor",
    page: include_str!("event_redelivered.md"),
    check: Check::Session(check),
};

/// The first delivery of an event.
struct First {
    /// How many ids the stream had delivered before.
    order: usize,
    payload: u64,
    at: (u32, u32),
}

/// An event that came again.
struct Again {
    first: (u32, u32),
    at: (u32, u32),
    /// The cursor was newer than the event.
    behind_cursor: bool,
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    // A bare event stream may hold several connections in one.
    let bare = case.session.transport == Transport::Messages;
    for (number, stream) in case.session.streams.iter().enumerate() {
        if stream.legs.len() > 1 || bare {
            let again = again(case, stream, bare);
            if !again.is_empty() {
                found.push(report(case, number as u32, stream, &again));
            }
        }
    }
}

fn again(case: &Case<'_>, stream: &Stream, bare: bool) -> Vec<Again> {
    let mut known: HashMap<EventId, First> = HashMap::default();
    let mut again = Vec::new();
    for leg in &stream.legs {
        let Some(log) = case.log(leg.exchange) else { continue };
        let cursor =
            leg.cursor.filter(|_| is_exact(case, leg.exchange)).and_then(|id| Some((id, known.get(&id)?.order)));
        for (event, fact) in log.events.iter().enumerate() {
            let Some(id) = fact.explicit_id() else { continue };
            let at = (leg.exchange, event as u32);
            let order = known.len();
            let Some(first) = known.get(&id) else {
                known.insert(id, First { order, payload: fact.payload, at });
                continue;
            };
            let reply = || log.messages_of(event as u32).any(Message::is_reply);
            let elsewhere = first.at.0 != leg.exchange || bare;
            if elsewhere && fact.is_message() && first.payload == fact.payload && !reply() {
                // The cursor's own event is replay-includes-cursor.
                let behind_cursor = cursor.is_some_and(|(cursor, order)| id != cursor && first.order < order);
                again.push(Again { first: first.at, at, behind_cursor });
            }
        }
    }
    again
}

fn is_exact(case: &Case<'_>, exchange: u32) -> bool {
    let at = case.session.resumptions.binary_search_by_key(&exchange, |r| r.exchange);
    at.is_ok_and(|at| case.session.resumptions[at].resolved == Resolved::Exact)
}

fn report(case: &Case<'_>, number: u32, stream: &Stream, all: &[Again]) -> Finding {
    let wrong = all.iter().find(|again| again.behind_cursor);
    let shown = wrong.unwrap_or(&all[0]);
    let message = match wrong {
        Some(_) => format!("{} event(s) came again although the cursor was newer", all.len()),
        None => format!("{} event(s) came again on a later connection of their stream", all.len()),
    };
    let finding = case
        .finding(
            &RULE,
            if wrong.is_some() { Party::Server } else { Party::Unknown },
            message,
            Locus::event(shown.at.0, shown.at.1),
            "the event again",
        )
        .and(Locus::event(shown.first.0, shown.first.1), "its first delivery")
        .of_request(stream.requests.first().copied())
        .of_stream(number)
        .with_cursor(case.exchange(shown.at.0).cursor.as_ref().map(|c| c.id))
        .counting(all.len(), all.iter().map(|again| again.at.0));
    if wrong.is_some() { finding.severity(Severity::Warning) } else { finding }
}
