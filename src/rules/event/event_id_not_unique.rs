//! event-id-not-unique: one explicit id stands for two different events of a session.

use crate::{
    evidence::Locus,
    model::{EventFact, EventFlags, EventId, Resolved},
    rules::{Case, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};
use foldhash::{HashMap, HashSet};
use std::collections::BTreeMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "event-id-not-unique",
    family: Family::Event,
    summary: "one event id is used for different events of a session",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[],
    remedy: "servers: build ids as <stream>_<n>, unique within the session",
    page: include_str!("event_id_not_unique.md"),
    check: Check::Session(check),
};

/// One delivery of an explicit id.
#[derive(Clone, Copy)]
struct Use {
    id: EventId,
    exchange: u32,
    event: u32,
    stream: u32,
    payload: u64,
    is_session: bool,
}

fn uses(case: &Case<'_>) -> Vec<Use> {
    let mut uses = Vec::new();
    for (number, stream) in case.session.streams.iter().enumerate() {
        for leg in &stream.legs {
            let Some(log) = case.log(leg.exchange) else { continue };
            uses.extend(log.events.iter().enumerate().filter_map(|(event, fact)| {
                Some(Use {
                    id: fact.explicit_id()?,
                    exchange: leg.exchange,
                    event: event as u32,
                    stream: number as u32,
                    payload: fact.distinction(),
                    is_session: fact.flags.contains(EventFlags::ID_IS_SESSION),
                })
            }));
        }
    }
    uses
}

/// An id stands in two places, or more.
fn any_repeats(case: &Case<'_>) -> bool {
    let ids = || {
        let legs = case.session.streams.iter().flat_map(|stream| &stream.legs);
        legs.filter_map(|leg| case.log(leg.exchange)).flat_map(|l| l.events.iter().filter_map(EventFact::explicit_id))
    };
    let mut seen: HashSet<EventId> = HashSet::default();
    !all_climb(ids()) && ids().any(|id| !seen.insert(id))
}

/// Every id has a counter that is higher than all before it of the same form: none can be there twice.
fn all_climb(ids: impl Iterator<Item = EventId>) -> bool {
    let mut highest: HashMap<u64, u32> = HashMap::default();
    let mut present: Option<(u64, u32)> = None;
    for id in ids {
        let Some(counter) = id.counter() else { return false };
        let before = match present {
            Some((space, before)) if space == id.space => Some(before),
            _ => {
                // Ids of one form mostly follow one another; the map is asked where they change.
                if let Some((space, before)) = present {
                    highest.insert(space, before);
                }
                highest.get(&id.space).copied()
            }
        };
        if before.is_some_and(|before| counter <= before) {
            return false;
        }
        present = Some((id.space, counter));
    }
    true
}

/// The first use of an id, and one for another event.
type Clash = (Use, Use);

/// Two uses that are not deliveries of one event: another payload, or the same nothing on another stream.
fn differ(a: &Use, b: &Use) -> bool {
    a.payload != b.payload || (a.payload == 0 && a.stream != b.stream)
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.placeholder || !any_repeats(case) {
        return;
    }
    let mut uses = uses(case);
    uses.sort_by_key(|u| (u.id, u.exchange, u.event));
    // One finding for each cursor. Of the ids that nobody resumed with, one for each stream that uses an id twice by
    // itself, and one for those that streams share: a server that numbers every stream alike has one fault, not many.
    let mut clashes: BTreeMap<(Option<EventId>, Option<u32>), Vec<Clash>> = BTreeMap::new();
    // By cursor: the last resume with it, or the end of time where it was ambiguous.
    let mut resumes: HashMap<EventId, u32> = HashMap::default();
    for resumption in &case.session.resumptions {
        let last = if resumption.resolved == Resolved::Ambiguous { u32::MAX } else { resumption.exchange };
        let known = resumes.entry(resumption.cursor.id).or_default();
        *known = last.max(*known);
    }
    for group in uses.chunk_by(|a, b| a.id == b.id).filter(|g| g.len() > 1) {
        let Some(other) = group.iter().find(|u| differ(&group[0], u)) else { continue };
        let used = resumes.get(&group[0].id).is_some_and(|last| *last > other.exchange);
        let alone = (!used && group[0].stream == other.stream).then_some(other.stream);
        clashes.entry((used.then_some(group[0].id), alone)).or_default().push((group[0], *other));
    }
    for ((cursor, _), clashes) in clashes {
        let (first, other) = &clashes[0];
        let constant =
            if first.is_session { ": it is the session id, as in every final response of the Java SDK" } else { "" };
        let message = match cursor {
            Some(_) => {
                format!("an event id that a client resumed with stands for different events of the session{constant}")
            }
            None => format!("{} event id(s) stand for different events of the session{constant}", clashes.len()),
        };
        let request = case.session.streams[other.stream as usize].requests.first().copied();
        let finding = case
            .finding(
                &RULE,
                Party::Server,
                message,
                Locus::event(other.exchange, other.event),
                "the same id on another event",
            )
            .and(Locus::event(first.exchange, first.event), "its first use")
            .of_request(request)
            .of_stream(other.stream)
            .with_cursor(first.id)
            .counting(clashes.len(), clashes.iter().map(|(_, other)| other.exchange));
        found.push(if cursor.is_some() { finding.severity(Severity::Error) } else { finding });
    }
}
