//! side-effecting-call-reissued: an interrupted call is sent again under a new id, without proof that the first did not run.

use crate::{
    evidence::Locus,
    model::{Direction, Era, Id128, LegEnd, Reply, Request, RequestState, SessionEnd, Terminal, Transport},
    reconstruct::{Capture, clock},
    rules::{Certainty, Check, EVERY, Evidence, Family, Finding, Party, Rule, Severity, Thresholds},
};
use foldhash::{HashSet, fast::RandomState};
use std::hash::BuildHasher;

/// The rule.
pub static RULE: Rule = Rule {
    id: "side-effecting-call-reissued",
    family: Family::Terminal,
    summary: "an interrupted tool call was issued again: it may have run twice",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &["request-never-answered"],
    thresholds: &[],
    remedy: "resume first; else use an application idempotency key or a task, or ask the user before issuing the call again",
    page: include_str!("side_effecting_call_reissued.md"),
    check: Check::Endpoint(check),
};

/// What makes two calls the same: endpoint, client, tool and arguments.
type Call<'c> = (&'c str, u64, &'c str, Id128);

/// A session, and a request of it.
type Place = (u32, u32);

/// Side-effecting calls by what makes them the same; none that is alone.
fn repeated(capture: &Capture) -> Vec<(Call<'_>, Place)> {
    let key = |(session, number): Place| {
        let facts = &capture.sessions[session as usize];
        let request = &facts.requests[number as usize];
        let name = request.name.as_deref().unwrap_or_default();
        (&*facts.endpoint, facts.client_scope, name, request.arguments)
    };
    let is_call = |request: &Request| {
        request.direction == Direction::Client
            && &*request.method == "tools/call"
            && request.side_effecting
            && !request.input_retry
    };
    let hasher = RandomState::default();
    let mut calls: Vec<(u64, Place)> = Vec::new();
    for (session, facts) in capture.sessions.iter().enumerate().filter(|(_, s)| s.transport != Transport::Messages) {
        let places = facts.requests.iter().enumerate().filter(|(_, r)| is_call(r));
        calls.extend(places.map(|(number, _)| {
            let place = (session as u32, number as u32);
            (hasher.hash_one(key(place)), place)
        }));
    }
    // Most calls are made once: only what shares a hash with another is compared in full.
    calls.sort_unstable();
    let shared = calls.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1).flatten();
    shared.map(|(_, place)| (key(*place), *place)).collect()
}

fn check(capture: &Capture, _: &Thresholds, found: &mut Vec<Finding>) {
    let mut calls = repeated(capture);
    let unlisted = unlisted(capture);
    let request = |(session, number): Place| &capture.sessions[session as usize].requests[number as usize];
    calls.sort_by_key(|(call, place)| (*call, request(*place).at, *place));
    for same in calls.chunk_by(|a, b| a.0 == b.0) {
        for pair in same.windows(2) {
            let pair = [pair[0].1, pair[1].1];
            let (first, second) = (request(pair[0]), request(pair[1]));
            let same_id = pair[0].0 == pair[1].0 && first.id == second.id && first.era < Era::Modern2026;
            if !same_id && one_client(capture, pair, second) && interrupted(capture, pair[0].0, first, second) {
                found.push(report(capture, pair[0], pair[1], &unlisted));
            }
        }
    }
}

/// Nothing shows that two clients made the calls: a client that begins a session anew does not use the one before.
fn one_client(capture: &Capture, [first, second]: [Place; 2], again: &Request) -> bool {
    let former = &capture.sessions[first.0 as usize];
    let later = former.exchanges.last().is_some_and(|x| *x > again.at.exchange);
    first.0 == second.0 || former.era >= Era::Modern2026 || !later
}

/// The first call was cut off, its fate unknown, when the second was sent.
fn interrupted(capture: &Capture, session: u32, first: &Request, second: &Request) -> bool {
    let sent = second.time;
    let may_have_run = first.refused.is_none_or(|status| status >= 500 && status != 501) && first.cancelled.is_none();
    let answered = first
        .terminals
        .iter()
        .any(|t| t.time.zip(sent).is_none_or(|(t, sent)| t <= sent) && t.at.exchange <= second.at.exchange);
    if !may_have_run || answered || polled(capture, session, first, second) {
        return false;
    }
    // Its connection, or the last one that resumed it, had ended: two equal calls at once are no re-issue.
    let facts = &capture.sessions[session as usize];
    let legs = first.stream.map_or(&[][..], |s| facts.streams[s as usize].legs.as_slice());
    let last = legs.iter().rev().map(|leg| leg.exchange).find(|x| *x < second.at.exchange).unwrap_or(first.at.exchange);
    let exchange = capture.exchange(last);
    // A body that the capture lacks may have held the answer.
    let post = capture.exchange(first.at.exchange);
    let unseen = post.accepted() && matches!(post.response, crate::model::Body::NotCaptured(_));
    let unknown = unseen
        || legs.iter().any(|leg| {
            let body = &capture.exchange(leg.exchange).response;
            body.content().is_none() && !body.is_whole() && capture.exchange(leg.exchange).accepted()
        });
    let ended = exchange.ended.zip(sent).map_or(exchange.end != crate::model::End::Open, |(ended, sent)| ended <= sent);
    ended && !unknown
}

/// The server closed the first call's stream with an invitation to come again (`retry`).
fn invited(capture: &Capture, session: u32, first: &Request, second: &Request) -> bool {
    let facts = &capture.sessions[session as usize];
    let legs = first.stream.map_or(&[][..], |s| facts.streams[s as usize].legs.as_slice());
    let last = legs.iter().rev().find(|leg| leg.exchange < second.at.exchange);
    last.is_some_and(|leg| {
        let log = clock::log(capture.exchange(leg.exchange));
        leg.end != LegEnd::Abrupt && log.is_some_and(|log| !log.retries.is_empty())
    })
}

/// It was, and the client came and got the answer: nothing was interrupted.
fn polled(capture: &Capture, session: u32, first: &Request, second: &Request) -> bool {
    let came_back = |t: &Terminal| capture.exchange(t.at.exchange).cursor.is_some();
    invited(capture, session, first, second) && first.terminals.iter().any(came_back)
}

/// Endpoints of which a `tools/list` was answered, and the answer not captured.
fn unlisted(capture: &Capture) -> HashSet<&str> {
    let lacks = |r: &Request| {
        &*r.method == "tools/list" && r.terminals.is_empty() && capture.exchange(r.at.exchange).accepted()
    };
    capture.sessions.iter().filter(|s| s.requests.iter().any(lacks)).map(|s| &*s.endpoint).collect()
}

fn report(capture: &Capture, first: (u32, u32), second: (u32, u32), unlisted: &HashSet<&str>) -> Finding {
    let request = |(session, number): Place| &capture.sessions[session as usize].requests[number as usize];
    let (a, b) = (request(first), request(second));
    let ran = |r: &Request| r.terminals.iter().any(|t| t.kind == Reply::Result);
    let both = ran(a) && ran(b);
    let modern = a.era >= Era::Modern2026;
    let severity = match (both, modern) {
        (true, _) => Severity::Error,
        (false, true) => Severity::Note,
        (false, false) => Severity::Warning,
    };
    let tool = a.name.as_deref().unwrap_or("?");
    let how = if both { "and both were executed" } else { "and nothing proves that the first did not run" };
    let message =
        format!("the call of {tool} (request {}) was interrupted and issued again as request {}, {how}", a.id, b.id);
    let what = Evidence { at: b.at, what: "the same call again".into() };
    let mut finding = Finding::new(&RULE, Party::Client, message, what)
        .in_session(first.0)
        .of_request(first.1)
        .of_stream(a.stream)
        .and(a.at, "the first call")
        .severity(severity);
    if let Some(terminal) = a.first_terminal() {
        finding = finding.and(terminal.at, "the answer to the first call");
    }
    if b.state == RequestState::Answered {
        finding = finding.and(Locus::response(b.terminals[0].at.exchange), "the answer to the second call");
    }
    // A tools/list whose answer was not captured may have said that the tool is harmless.
    let unlisted = unlisted.contains(&*capture.sessions[first.0 as usize].endpoint);
    let mut finding =
        if both { finding } else { finding.assuming(Certainty::Likely, "the first call may have reached the tool") };
    let unsure = [
        (unlisted, "the tool is not one that may run twice; its annotations were not captured"),
        (may_be_another(capture, first.0, second.0), "one client made both calls; its first session may live on"),
        (
            invited(capture, first.0, a, b),
            "the client did not mean to come back for the first call, as it was invited to",
        ),
    ];
    for (_, why) in unsure.into_iter().filter(|(doubtful, _)| *doubtful) {
        finding = finding.assuming(Certainty::Possible, why);
        if finding.severity == Severity::Error {
            finding = finding.severity(Severity::Warning);
        }
    }
    finding
}

/// The calls stand in two sessions of which the first is not known to have ended: two clients may have made them.
fn may_be_another(capture: &Capture, first: u32, second: u32) -> bool {
    let former = &capture.sessions[first as usize];
    first != second
        && former.era < Era::Modern2026
        && former.id.is_some()
        && !matches!(former.end, SessionEnd::Deleted | SessionEnd::Gone)
}
