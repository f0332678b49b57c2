//! duplicate-request-id: two different requests of one sender have the same id.

use crate::{
    evidence::Locus,
    model::{Direction, Request, Transport, Vantage},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, Severity, case::is_recorded_twice},
};
use foldhash::HashMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "duplicate-request-id",
    family: Family::Terminal,
    summary: "two different requests use the same id",
    severity: Severity::Error,
    since: "0.1.0",
    eras: ERAS,
    suppresses: &["request-never-answered"],
    thresholds: &[],
    remedy: "clients: take ids from one counter per session, also where several connections or threads share it",
    page: include_str!("duplicate_request_id.md"),
    check: Check::Session(check),
};

/// Streamable HTTP with sessions, and the stateless revision.
pub const ERAS: &[crate::model::Era] = &[
    crate::model::Era::March2025,
    crate::model::Era::June2025,
    crate::model::Era::November2025,
    crate::model::Era::Modern2026,
];

/// Two requests of one session, direction and id, and none of that id between them.
pub struct Repeat<'c> {
    /// Index of the first in the session.
    pub earlier: u32,
    /// Index of the second in the session.
    pub later: u32,
    /// The first.
    pub first: &'c Request,
    /// The second.
    pub second: &'c Request,
    /// The first was unanswered, and its connection open, when the second was sent.
    pub in_flight: bool,
    /// One client sent both, as far as anything tells: without a session id, clients look alike.
    pub one_sender: bool,
}

impl Repeat<'_> {
    /// Method and all parameters are equal.
    pub fn is_identical(&self) -> bool {
        self.first.method == self.second.method && self.first.payload == self.second.payload
    }
}

/// Every repeated id, in order. A new `initialize` starts the ids of a client anew.
pub fn repeats<'c>(case: &Case<'c>) -> Vec<Repeat<'c>> {
    let requests = &case.session.requests;
    if !matches!(case.session.transport, Transport::Streamable | Transport::Modern)
        || requests.iter().all(|r| r.occurrence == 0)
    {
        return Vec::new();
    }
    let starts: Vec<u32> = requests.iter().filter(|r| &*r.method == "initialize").map(|r| r.at.exchange).collect();
    let mut last: HashMap<(Direction, &str, usize), u32> = HashMap::default();
    let mut repeats = Vec::new();
    for (later, second) in requests.iter().enumerate() {
        let start = starts.partition_point(|x| *x <= second.at.exchange);
        let Some(earlier) = last.insert((second.direction, &second.id, start), later as u32) else { continue };
        let first = case.request(earlier);
        if is_recorded_twice(case.exchange(first.at.exchange), case.exchange(second.at.exchange)) {
            continue;
        }
        let in_flight = in_flight(case, first, second);
        repeats.push(Repeat {
            earlier,
            later: later as u32,
            first,
            second,
            in_flight,
            one_sender: one_sender(case, first, second),
        });
    }
    repeats
}

fn in_flight(case: &Case<'_>, first: &Request, second: &Request) -> bool {
    if first.at.exchange == second.at.exchange && first.direction == Direction::Client {
        return true;
    }
    let Some(sent) = second.time else { return false };
    let over = first.terminals.iter().any(|t| t.time.is_none_or(|t| t <= sent))
        || first.cancelled.is_some_and(|(_, time)| time.is_none_or(|t| t <= sent));
    if over || first.direction == Direction::Server {
        return !over && !first.terminals.is_empty();
    }
    let post = case.exchange(first.at.exchange);
    post.ended.map_or(post.end == crate::model::End::Open, |ended| ended > sent)
}

fn one_sender(case: &Case<'_>, first: &Request, second: &Request) -> bool {
    let (a, b) = (case.exchange(first.at.exchange), case.exchange(second.at.exchange));
    let equal = |a: Option<u64>, b: Option<u64>| a.is_some() && a == b;
    case.session.id.is_some() && !case.session.placeholder
        || a.vantage == Vantage::Client && b.vantage == Vantage::Client && a.at.source == b.at.source
        || equal(a.headers.auth, b.headers.auth)
        || equal(a.at.connection, b.at.connection)
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    let modern = case.session.transport == Transport::Modern;
    for repeat in repeats(case) {
        let refused = repeat.first.refused.is_some() || repeat.second.refused.is_some();
        // After completion an id may be used again since 2026-07-28; the server's own ids are judged only in flight.
        let free = !repeat.in_flight && (modern || repeat.first.direction == Direction::Server);
        // Without a session, a script that numbers each of its runs from 1 breaks no rule.
        let apart = case.session.id.is_none() && !repeat.in_flight;
        if repeat.one_sender && !repeat.is_identical() && !refused && !free && !apart {
            found.push(report(case, &repeat));
        }
    }
}

fn report(case: &Case<'_>, repeat: &Repeat<'_>) -> Finding {
    let party = match repeat.first.direction {
        Direction::Client => Party::Client,
        Direction::Server => Party::Server,
    };
    let how = if repeat.in_flight { "while the first was in flight" } else { "for another request" };
    let second = repeat.second;
    let name = second.name.as_deref().map_or_else(String::new, |name| format!(" {name}"));
    let message = format!("the id of {} was used again {how} ({}{name})", case.name_of(repeat.earlier), second.method);
    // The one that was left without an answer is the one that it is about.
    let left = [repeat.earlier, repeat.later].into_iter().find(|r| case.request(*r).terminals.is_empty());
    let finding = case
        .finding(&RULE, party, message, second.at, "the second request of this id")
        .and(repeat.first.at, "the first one")
        .kind(if repeat.in_flight { "in-flight" } else { "reused" })
        .of_request(left.unwrap_or(repeat.later))
        .of_stream(second.stream)
        .severity(if repeat.in_flight { Severity::Error } else { Severity::Warning });
    let finding = match repeat.first.first_terminal().filter(|_| repeat.in_flight) {
        Some(terminal) => finding.and(terminal.at, "the answer to the first, after the second was sent"),
        None if repeat.in_flight => {
            finding.and(Locus::response(repeat.first.at.exchange), "the first had no answer yet")
        }
        None => finding,
    };
    if case.session.id.is_some() {
        finding
    } else {
        finding.assuming(Certainty::Likely, "both requests come from one client; there is no session that says so")
    }
}
