//! message-broadcast: one message is sent on two streams that are open at the same time.

use crate::{
    evidence::Locus,
    model::{Direction, EventId, Id128, Leg, LegEnd, Message, MessageKind, Stream, Time},
    rules::{Case, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, case::is_recorded_twice},
};
use foldhash::HashMap;
use std::collections::BTreeMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "message-broadcast",
    family: Family::Terminal,
    summary: "the server sent one message on two open streams",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["duplicate-terminal"],
    thresholds: &[],
    remedy: "servers: send each message on exactly one of the open streams",
    page: include_str!("message_broadcast.md"),
    check: Check::Session(check),
};

/// An event: exchange and ordinal.
type Place = (u32, u32);

/// Two connections, and the request that a message belongs to.
type Group = (u32, u32, Option<u32>);

/// What makes two deliveries one message.
#[derive(PartialEq, Eq, Hash)]
enum Key<'c> {
    /// A request of the server's: id, method, parameters.
    Request(&'c str, &'c str, Id128),
    /// An event id.
    Event(EventId),
}

/// The first delivery of a message, and the first one on another connection.
struct Sent {
    payload: u64,
    first: Place,
    again: Option<Place>,
    /// The id stands for several messages, and proves nothing.
    ambiguous: bool,
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    let spans = parallel(case);
    if spans.is_empty() {
        return;
    }
    let mut sent: HashMap<Key<'_>, Sent> = HashMap::default();
    for exchange in spans.keys().copied() {
        let Some(log) = case.log(exchange) else { continue };
        for (event, fact) in log.events.iter().enumerate().filter(|(_, e)| e.is_message()) {
            let place = (exchange, event as u32);
            if let Some(id) = fact.explicit_id() {
                take(&mut sent, Key::Event(id), fact.payload, place, &spans);
            }
            let requests = log.messages_of(event as u32).filter(|m| m.kind == MessageKind::Request);
            for (id, method, message) in
                requests.filter_map(|m: &Message| Some((m.id.as_deref()?, m.method.as_deref()?, m)))
            {
                take(&mut sent, Key::Request(id, method, message.payload), fact.payload, place, &spans);
            }
        }
    }
    // One message may be known by both keys: by place it is one.
    let one_record = |a: Place, b: Place| is_recorded_twice(case.exchange(a.0), case.exchange(b.0));
    let twice = sent.into_values().filter(|s| !s.ambiguous).filter_map(|s| Some((s.first, s.again?)));
    let pairs: BTreeMap<Place, Place> =
        twice.filter(|(first, again)| !one_record(*first, *again)).map(|(first, again)| (again, first)).collect();
    if !pairs.is_empty() {
        report(case, &pairs, found);
    }
}

/// The connections without cursor that overlap another one, each with the span in which it was open.
fn parallel(case: &Case<'_>) -> BTreeMap<u32, (Time, Time)> {
    let legs = case.session.streams.iter().flat_map(|s| &s.legs).filter(|leg| leg.cursor.is_none() && leg.messages > 0);
    let mut spans: Vec<(Time, Time, u32)> =
        legs.filter_map(|leg| Some((leg.started?, end(leg)?, leg.exchange))).collect();
    spans.sort_unstable();
    let mut parallel = BTreeMap::new();
    let mut longest: Option<(Time, Time, u32)> = None;
    for span in spans {
        if let Some(before) = longest.filter(|before| span.0 < before.1) {
            parallel.insert(before.2, (before.0, before.1));
            parallel.insert(span.2, (span.0, span.1));
        }
        longest = Some(longest.filter(|before| before.1 >= span.1).unwrap_or(span));
    }
    parallel
}

/// When a connection ended; one that had not when the capture did lasts for ever, one whose end is unknown never did.
fn end(leg: &Leg) -> Option<Time> {
    if leg.end == LegEnd::Open { Some(Time(i64::MAX)) } else { leg.ended }
}

fn take<'c>(
    sent: &mut HashMap<Key<'c>, Sent>,
    key: Key<'c>,
    payload: u64,
    place: Place,
    spans: &BTreeMap<u32, (Time, Time)>,
) {
    let known = sent.entry(key).or_insert(Sent { payload, first: place, again: None, ambiguous: false });
    known.ambiguous |= known.payload != payload;
    let overlap = spans.get(&known.first.0).zip(spans.get(&place.0)).is_some_and(|(a, b)| a.0 < b.1 && b.0 < a.1);
    if known.first.0 == place.0 || known.again.is_some() {
        return;
    }
    if overlap { known.again = Some(place) } else { known.first = place }
}

/// One finding for each two connections and each request.
fn report(case: &Case<'_>, pairs: &BTreeMap<Place, Place>, found: &mut Vec<Finding>) {
    let mut requests: HashMap<Locus, u32> = HashMap::default();
    let mut own: HashMap<&str, u32> = HashMap::default();
    for (number, request) in case.session.requests.iter().enumerate() {
        requests.extend(request.terminals.iter().map(|t| (t.at, number as u32)));
        if request.direction == Direction::Server {
            own.insert(&request.id, number as u32);
        }
    }
    let legs =
        |(number, s): (usize, &'_ Stream)| s.legs.iter().map(move |l| (l.exchange, number as u32)).collect::<Vec<_>>();
    let streams: HashMap<u32, u32> = case.session.streams.iter().enumerate().flat_map(legs).collect();
    let mut groups: BTreeMap<Group, Vec<Place>> = BTreeMap::new();
    for (again, first) in pairs {
        let asked = case.log(again.0).and_then(|l| l.messages_of(again.1).find(|m| m.kind == MessageKind::Request));
        let asked = asked.and_then(|m| own.get(m.id.as_deref()?)).copied();
        let request = requests.get(&Locus::event(again.0, again.1)).copied().or(asked);
        groups.entry((first.0, again.0, request)).or_default().push(*again);
    }
    for ((one, other, request), all) in groups {
        let again = all[0];
        let first = pairs[&again];
        let what = match request {
            Some(request) if case.request(request).direction == Direction::Server => {
                format!("the server's {}", case.name_of(request))
            }
            Some(request) => format!("the answer to {}", case.name_of(request)),
            None => format!("{} message(s)", all.len()),
        };
        let message = format!("{what} was sent on two streams that were open at the same time");
        let message =
            if request.is_none() && all.len() > 1 { message.replace(" was sent", " were sent") } else { message };
        found.push(
            case.finding(&RULE, Party::Server, message, Locus::event(again.0, again.1), "the message again")
                .and(Locus::event(first.0, first.1), "the same message on the other stream")
                .of_request(request)
                .of_stream(streams.get(&other).copied())
                .counting(all.len(), [one, other]),
        );
    }
}
