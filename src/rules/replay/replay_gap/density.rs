//! Gaps in a counter that the stream itself proves to be dense.

use super::RULE;
use crate::{
    evidence::Locus,
    model::{EventFact, EventId, Resolved},
    rules::{Case, Certainty, Finding, Party, Severity},
};
use foldhash::HashMap;

/// How many steps of one prove that a counter leaves nothing out.
const PROOF: u32 = 4;

/// Whose events a namespace of ids numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Stream(u32),
    Several,
}

/// Reports resumed connections that jump in a dense counter, other than those that were reported already.
pub(super) fn check(case: &Case<'_>, reported: &[(u32, u32)], found: &mut Vec<Finding>) {
    let owners = owners(case);
    for (number, stream) in case.session.streams.iter().enumerate() {
        let number = number as u32;
        if stream.legs.len() < 2 {
            continue;
        }
        let mut counter = Counter::default();
        for leg in &stream.legs {
            let Some(log) = case.log(leg.exchange).filter(|_| case.leg_is_captured(leg)) else {
                // What it carried is not known: it may have used numbers.
                counter.broken |= leg.status.is_none_or(|s| s < 300);
                continue;
            };
            // Only an id that names its stream is numbered within it; plain numbers count across streams and sessions.
            let at = case.session.resumptions.binary_search_by_key(&leg.exchange, |r| r.exchange);
            let resumption = at.ok().map(|at| &case.session.resumptions[at]);
            let exact = resumption.is_some_and(|r| r.resolved == Resolved::Exact && r.cursor.stream.is_some());
            for (event, fact) in log.events.iter().enumerate() {
                let Some(id) = fact.explicit_id() else { continue };
                if owners.get(&id.space) != Some(&Owner::Stream(number)) {
                    counter.broken = true;
                }
                let jump = counter.step(id, fact, leg.cursor);
                let Some((missing, cursor)) = jump.zip(leg.cursor).filter(|_| exact) else { continue };
                if !reported.contains(&(number, leg.exchange)) {
                    found.push(report(case, number, leg.exchange, event as u32, missing, cursor));
                }
            }
        }
    }
}

/// By namespace of ids: the stream whose events it numbers.
fn owners(case: &Case<'_>) -> HashMap<u64, Owner> {
    let mut owners = HashMap::default();
    for (number, stream) in case.session.streams.iter().enumerate() {
        let own = Owner::Stream(number as u32);
        for log in stream.legs.iter().filter_map(|leg| case.log(leg.exchange)) {
            for id in log.events.iter().filter_map(EventFact::explicit_id) {
                let owner = owners.entry(id.space).or_insert(own);
                if *owner != own {
                    *owner = Owner::Several;
                }
            }
        }
    }
    owners
}

/// A counter as it was seen so far.
#[derive(Default)]
struct Counter {
    space: Option<u64>,
    highest: Option<u32>,
    steps: u32,
    seen: u32,
    broken: bool,
}

impl Counter {
    /// Takes the next id; gives how many numbers a resumed connection jumped over.
    fn step(&mut self, id: EventId, fact: &EventFact, cursor: Option<EventId>) -> Option<u32> {
        self.seen += 1;
        let number = id.counter();
        // Frames without a message use numbers too, and need not be replayed.
        let bare = !fact.is_message() && self.seen > 1;
        self.broken |= number.is_none() || bare || self.space.is_some_and(|space| space != id.space);
        let (false, Some(number)) = (self.broken, number) else { return None };
        self.space = Some(id.space);
        let Some(highest) = self.highest else {
            self.highest = Some(number);
            return None;
        };
        if number <= highest {
            return None;
        }
        self.highest = Some(number);
        let missing = number - highest - 1;
        if missing == 0 {
            self.steps = self.steps.saturating_add(1);
            return None;
        }
        let proven = self.steps >= PROOF && cursor.is_some_and(|c| c.space == id.space);
        self.broken = true;
        proven.then_some(missing)
    }
}

fn report(case: &Case<'_>, number: u32, exchange: u32, event: u32, missing: u32, cursor: EventId) -> Finding {
    let message = format!("the replay jumps over {missing} number(s) of a counter that left none out before");
    case.finding(&RULE, Party::Server, message, Locus::event(exchange, event), "the event behind the jump")
        .and(Locus::request(exchange), "the resume")
        .kind("counter")
        .of_request(case.stream(number).requests.first().copied())
        .of_stream(number)
        .with_cursor(cursor)
        .severity(Severity::Warning)
        .assuming(Certainty::Possible, "the server numbers the events of this stream without gaps")
}
