//! Progress of an answered request on another stream than its own.

use super::RULE;
use crate::{
    evidence::Locus,
    model::{Direction, EventKind, Leg, OpenedBy, Time},
    rules::{Case, Certainty, Finding, Party, Severity},
};
use foldhash::{HashMap, HashSet};
use std::collections::BTreeMap;

/// How much later than the answer progress must arrive, in microseconds: the times of two connections are compared.
const MARGIN: i64 = 100_000;

/// Requests by progress token, in order; and which tokens belong to which streams.
#[derive(Default)]
struct Owners {
    requests: HashMap<u64, Vec<u32>>,
    at_home: HashSet<(u64, u32)>,
}

/// Reports progress that came on another stream after the answer; on a standalone stream that is a note.
pub(super) fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    let mut owners = Owners::default();
    for (number, request) in case.session.requests.iter().enumerate() {
        if let Some(token) = request.token.filter(|_| request.direction == Direction::Client) {
            owners.requests.entry(token).or_default().push(number as u32);
            owners.at_home.extend(request.stream.map(|stream| (token, stream)));
        }
    }
    if owners.requests.is_empty() {
        return;
    }
    let mut late: BTreeMap<(u32, u32), Vec<(u32, u32)>> = BTreeMap::new();
    for (number, stream) in case.session.streams.iter().enumerate() {
        // A replay brings what is older.
        for leg in stream.legs.iter().filter(|leg| leg.cursor.is_none()) {
            for (request, event) in on(case, number as u32, leg, &owners) {
                late.entry((request, number as u32)).or_default().push((leg.exchange, event));
            }
        }
    }
    for ((request, stream), events) in late {
        found.push(report(case, request, stream, &events));
    }
}

/// Late progress on one connection: request and event.
fn on(case: &Case<'_>, stream: u32, leg: &Leg, owners: &Owners) -> Vec<(u32, u32)> {
    let Some(log) = case.log(leg.exchange).filter(|l| !l.tokens.is_empty() && !l.times.is_empty()) else {
        return Vec::new();
    };
    let progress = log.events.iter().enumerate().filter(|(_, e)| e.kind == EventKind::Progress);
    let late = progress.filter_map(|(event, _)| {
        let event = event as u32;
        let (token, time) = (log.token_of(event)?, log.time_of(event)?);
        // Clients without sessions look alike, and so may their tokens: on its own stream a token is at home.
        if owners.at_home.contains(&(token, stream)) {
            return None;
        }
        let request = owner(case, owners.requests.get(&token)?, time)?;
        let facts = case.request(request);
        let answered = facts.first_terminal().and_then(|t| t.time)?;
        let excused = facts.task.is_some() || facts.cancelled.is_some();
        (!excused && time.since(answered) > MARGIN).then_some((request, event))
    });
    late.collect()
}

/// The newest request of a token that had been sent by then: a token may be used again.
fn owner(case: &Case<'_>, requests: &[u32], time: Time) -> Option<u32> {
    let sent = requests.partition_point(|r| case.request(*r).time.is_some_and(|sent| sent <= time));
    requests.get(sent.checked_sub(1)?).copied()
}

fn report(case: &Case<'_>, request: u32, stream: u32, events: &[(u32, u32)]) -> Finding {
    let standalone = case.stream(stream).opened_by == OpenedBy::Get;
    let place = if standalone { "the standalone stream" } else { "another stream" };
    let message =
        format!("progress of {} came {} time(s) on {place} after the answer", case.name_of(request), events.len());
    let finding = case
        .finding(&RULE, Party::Server, message, Locus::event(events[0].0, events[0].1), "progress after the answer")
        .kind("progress")
        .of_request(request)
        .of_stream(stream)
        .severity(if standalone { Severity::Note } else { Severity::Warning })
        .counting(events.len(), events.iter().map(|(x, _)| *x))
        .assuming(Certainty::Likely, "the times of two connections can be compared");
    match case.request(request).first_terminal() {
        Some(terminal) => finding.and(terminal.at, "the answer"),
        None => finding,
    }
}
