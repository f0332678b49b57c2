//! response-on-wrong-stream: an answer is delivered on a connection that has no business with its request.

use crate::{
    evidence::Locus,
    model::{Direction, Exchange, Leg, LegEnd, Method, OpenedBy, Request, Terminal, Transport},
    rules::{Case, Check, EVERY, Family, Finding, Party, Rule, Severity, resume::last_event_id_on_post::is_tunnelled},
};
use foldhash::HashMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "response-on-wrong-stream",
    family: Family::Terminal,
    summary: "a response was delivered on another stream than that of its request",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &[],
    thresholds: &[],
    remedy: "servers: send a response on the stream of its own POST, or where that is resumed with its cursor",
    page: include_str!("response_on_wrong_stream.md"),
    check: Check::Session(check),
};

/// Where an answer went instead of where it belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// On the answer to another POST.
    Post,
    /// On a GET without cursor that was open when the request's own stream ended in good order, or is still open.
    Standalone,
    /// On a GET without cursor, when the request's own stream had broken off or a reconnect had come after its end.
    Flush,
    /// On a GET whose cursor belongs to another stream.
    Resume,
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    let transport = case.session.transport;
    if !matches!(transport, Transport::Streamable | Transport::Modern) || case.session.placeholder {
        return;
    }
    let reused = reused(case);
    for (number, request) in case.session.requests.iter().enumerate() {
        // A task may be answered on any stream.
        if request.direction != Direction::Client || request.task.is_some() || request.method.starts_with("tasks/") {
            continue;
        }
        let streams = reused.get(&*request.id).map_or(&[][..], Vec::as_slice);
        for terminal in &request.terminals {
            // Of two requests with one id, the answer may be the other's.
            let others = terminal.stream.is_some_and(|s| streams.contains(&s));
            if let Some(place) = place(case, request, terminal).filter(|_| !others) {
                found.push(report(case, number as u32, terminal, place));
            }
        }
    }
}

/// The streams of requests whose id was used more than once, by id.
fn reused<'c>(case: &Case<'c>) -> HashMap<&'c str, Vec<u32>> {
    let clients = || case.session.requests.iter().filter(|r| r.direction == Direction::Client);
    let mut streams: HashMap<&str, Vec<u32>> =
        clients().filter(|r| r.occurrence > 0).map(|r| (&*r.id, Vec::new())).collect();
    if !streams.is_empty() {
        for request in clients() {
            if let Some(all) = streams.get_mut(&*request.id) {
                all.extend(request.stream);
            }
        }
    }
    streams
}

fn place(case: &Case<'_>, request: &Request, terminal: &Terminal) -> Option<Place> {
    let exchange = case.exchange(terminal.at.exchange);
    if terminal.at.exchange == request.at.exchange || terminal.stream.is_some() && terminal.stream == request.stream {
        return None;
    }
    match exchange.method {
        // What a refusal says, it says to the exchange that it refuses.
        Method::Post => (exchange.accepted() && !is_tunnelled(exchange)).then_some(Place::Post),
        Method::Get if exchange.cursor.is_none() => Some(standalone(case, request, terminal, exchange)),
        Method::Get => {
            let resumption = case.session.resumptions.binary_search_by_key(&terminal.at.exchange, |r| r.exchange);
            let (_, stream) = case.meant(&case.session.resumptions[resumption.ok()?])?;
            // A stream that began before the capture may have been the request's own.
            let known = stream.opened_by != OpenedBy::Resume
                && case.session.resumptions[resumption.ok()?].resolved != crate::model::Resolved::Temporal;
            known.then_some(Place::Resume)
        }
        Method::Delete | Method::Message => None,
    }
}

/// On a standalone stream: a fallback where the request's own connection was lost, else plainly wrong.
fn standalone(case: &Case<'_>, request: &Request, terminal: &Terminal, get: &Exchange) -> Place {
    let legs: &[Leg] = request.stream.map_or(&[], |s| &case.stream(s).legs);
    let Some(own) = legs.last() else { return Place::Standalone };
    let before = own.ended.zip(terminal.time).is_none_or(|(ended, arrived)| ended <= arrived);
    let broken = own.end == LegEnd::Abrupt && before;
    let reconnected = own.ended.zip(get.sent).is_some_and(|(ended, sent)| ended <= sent);
    if broken || reconnected { Place::Flush } else { Place::Standalone }
}

fn report(case: &Case<'_>, number: u32, terminal: &Terminal, place: Place) -> Finding {
    let (severity, kind, what) = match place {
        Place::Standalone => {
            (Severity::Error, "standalone", "on a GET stream without cursor, which never carries responses")
        }
        Place::Flush => (
            Severity::Warning,
            "flush",
            "on a GET stream without cursor after its own stream had ended; meant well perhaps, yet no client looks there",
        ),
        Place::Post => (Severity::Warning, "other-post", "on the answer to another POST"),
        Place::Resume => (Severity::Warning, "other-resume", "on a GET that resumed another stream"),
    };
    let request = case.request(number);
    case.finding(
        &RULE,
        Party::Server,
        format!("the response to {} was delivered {what}", case.name_of(number)),
        terminal.at,
        "the response, on a connection of another stream",
    )
    .and(Locus::request(request.at.exchange), "the request")
    .and(Locus::request(terminal.at.exchange), "what opened the connection that carried it")
    .kind(kind)
    .of_request(number)
    .of_stream(terminal.stream)
    .with_cursor(terminal.event_id)
    .severity(severity)
}
