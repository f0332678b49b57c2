//! request-never-answered: a request has no answer, no cancel and no resume by the end of its scope.

use crate::{
    evidence::Locus,
    model::{Direction, End, Era, Request, RequestState, SessionEnd, Time, Transport},
    reconstruct::clock,
    rules::{
        Case, Certainty, Check, EVERY, Family, Finding, Party, Rule, Severity, Threshold,
        case::{SECOND, last_heard},
    },
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "request-never-answered",
    family: Family::Terminal,
    summary: "a request was never answered",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &[],
    thresholds: &[Threshold {
        name: "activity",
        default: 60.0,
        about: "seconds of later activity after which an answer is no longer awaited",
    }],
    remedy: "servers: answer every request, or give its stream an event id before closing; clients: resume or retry with idempotency protection",
    page: include_str!("request_never_answered.md"),
    check: Check::Session(check),
};

/// Requests that may stay open for good reasons.
const LONG_LIVED: &[&str] = &["subscriptions/listen", "tasks/result", "tasks/get"];

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if case.session.transport == Transport::Messages {
        return;
    }
    for (number, request) in case.session.requests.iter().enumerate() {
        let client = request.direction == Direction::Client && request.state == RequestState::Open;
        if client && !LONG_LIVED.contains(&&*request.method) && request.task.is_none() && request.era < Era::Modern2026
        {
            found.extend(judge(case, number as u32, request));
        }
    }
}

/// Where the request was last heard of: the last connection of its stream, else its own exchange.
fn last_leg(case: &Case<'_>, request: &Request) -> u32 {
    request.stream.and_then(|s| case.last_accepted_leg(s)).unwrap_or(request.at.exchange)
}

fn judge(case: &Case<'_>, number: u32, request: &Request) -> Option<Finding> {
    let post = case.exchange(request.at.exchange);
    let last = last_leg(case, request);
    let exchange = case.exchange(last);
    let legacy = case.session.transport == Transport::LegacySse;
    let resumed = request.stream.is_some_and(|s| case.stream(s).legs.len() > 1);
    let captured = case.streams_are_captured_since(request.at.exchange)
        && (exchange.response.is_whole()
            || exchange.response.content().is_some() && clock::ended_on_wire(exchange)
            || failed(post));
    let undispatched = clock::log(exchange).is_some_and(|l| l.tail.as_ref().is_some_and(|t| t.message.is_some()));
    let excused = case.client_closed(last) && !resumed && !came_back(case, request);
    let ended = exchange.end != End::Open || case.session.end != SessionEnd::CaptureEnd;
    // Posted again under the same id: then that is what there is to say.
    let reposted = case.sent_again(request).is_some_and(|r| case.request(r).id == request.id);
    if !captured || undispatched || reposted || excused || !ended || legacy && !legacy_stream_ended(case) {
        return None;
    }
    let (since, scope) = scope_end(case, last_heard(exchange)?, last)?;
    let clean = exchange.end == End::Clean;
    let without_id = request.stream.is_none_or(|s| case.held_before(s, u32::MAX).is_none());
    // A stream that ends because the session does was not closed early.
    let pulled = case.session.ended_by.is_some_and(|by| exchange.ended >= case.exchange(by).sent);
    let early = clean && without_id && !pulled && last == request.at.exchange;
    let severity = if early && exchange.accepted() && !legacy { Severity::Error } else { Severity::Warning };
    let party = match exchange.end {
        End::Clean if severity == Severity::Error => Party::Server,
        _ => Party::Unknown,
    };
    let message = format!("{} was never answered: {scope}", case.name_of(number));
    let finding = case
        .finding(&RULE, party, message, Locus::request(request.at.exchange), "the request")
        .and(Locus::response(last), "what was last heard of its stream")
        .and(Locus::request(since), "the scope ended, or the session went on without the answer")
        .of_request(number)
        .of_stream(request.stream)
        .severity(severity);
    // A resume may be refused for its cursor; a client that initializes again took it otherwise.
    let gone = case.session.ended_by == Some(since) && case.session.end == SessionEnd::Gone;
    let of_cursor = gone && case.exchange(since).cursor.is_some() && case.reinitialized_after(since).is_none();
    let finding = if of_cursor {
        finding.assuming(Certainty::Possible, "the 404 speaks of the session, and not of the cursor")
    } else {
        finding
    };
    Some(if clean {
        finding
    } else {
        finding.assuming(Certainty::Likely, "the client did not give the request up on purpose")
    })
}

/// The POST itself got no answer because its connection broke.
fn failed(post: &crate::model::Exchange) -> bool {
    post.status.is_none() && matches!(post.end, End::Abrupt(_))
}

/// A client that closed the connection came back for the stream with a cursor.
fn came_back(case: &Case<'_>, request: &Request) -> bool {
    let own = request.stream.and_then(|s| case.resumes_of(s).last());
    own.max(case.unknown_resumes().last()).is_some_and(|last| *last > request.at.exchange)
}

fn legacy_stream_ended(case: &Case<'_>) -> bool {
    let get = case.session.streams.iter().flat_map(|s| &s.legs).next();
    get.is_some_and(|leg| {
        case.leg_is_captured(leg) && leg.end != crate::model::LegEnd::Open && case.log(leg.exchange).is_some()
    })
}

/// Why an answer is no longer to be expected, and the exchange that shows it.
fn scope_end(case: &Case<'_>, heard: Time, last: u32) -> Option<(u32, &'static str)> {
    let activity = (case.thresholds.get(&RULE, "activity") * SECOND as f64) as i64;
    match (case.session.end, case.session.ended_by) {
        (SessionEnd::Deleted, Some(by)) if by > last => return Some((by, "the client ended the session")),
        (SessionEnd::Gone, Some(by)) if by >= last => return Some((by, "the session is gone")),
        (SessionEnd::Superseded, Some(by)) if by > last => return Some((by, "the client initialized again")),
        _ => {}
    }
    let later = case.sent_after(last, heard.plus(activity));
    later.map(|x| (x, "the session went on for a minute and more"))
}
