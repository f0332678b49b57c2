//! wrong-status-or-content-type: an answer that the transport does not allow for this kind of request.

use crate::{
    evidence::Locus,
    model::{Content, Exchange, HeaderFlags, MediaType, Message, MessageKind, Method, Transport},
    rules::{Case, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "wrong-status-or-content-type",
    family: Family::Http,
    summary: "an answer has a status or content type that the transport does not allow",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[],
    remedy: "servers: 202 without a body for notifications and responses, JSON or an event stream for requests, an event stream or 405 for GET",
    page: include_str!("wrong_status_or_content_type.md"),
    check: Check::Session(check),
};

/// What is wrong with an answer: sub-kind, words, severity.
fn fault(exchange: &Exchange) -> Option<(&'static str, &'static str, Severity)> {
    let status = exchange.status.filter(|s| (200..300).contains(s))?;
    if exchange.headers.has(HeaderFlags::NO_HEADERS) {
        return None;
    }
    let media = exchange.headers.content_type;
    let carries = |kind: fn(&Message) -> bool| exchange.messages().iter().any(kind);
    match exchange.method {
        Method::Get if status == 204 => None,
        Method::Get if media != MediaType::EventStream => Some((
            "get",
            "a GET was answered well, but with no event stream; 405 is the answer of a server without one",
            Severity::Warning,
        )),
        Method::Post if carries(|m| m.kind == MessageKind::Request) => match (status, media) {
            (202, _) => {
                Some(("request-accepted", "a request was answered 202, as if it were a notification", Severity::Error))
            }
            (_, MediaType::EventStream | MediaType::Json) => None,
            // A body that is JSON-RPC all the same is only mislabelled.
            _ if matches!(exchange.response.content(), Some(Content::Messages(_))) => {
                Some(("mislabelled", "the JSON-RPC answer to a request is not labelled as JSON", Severity::Warning))
            }
            _ => Some(("request", "a request was answered with neither JSON nor an event stream", Severity::Error)),
        },
        Method::Post if !exchange.messages().is_empty() => {
            let body = exchange.response.content().is_some();
            (status != 202 || body).then_some((
                "notification",
                "a notification or response was not answered 202 without a body",
                Severity::Warning,
            ))
        }
        _ => None,
    }
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !matches!(case.session.transport, Transport::Streamable | Transport::Modern) {
        return;
    }
    let modern = case.session.transport == Transport::Modern;
    // HTTP+SSE answers every request 202; where its GET stream was not captured, only this tells the two apart.
    let in_place = case.session.exchanges.iter().any(|x| {
        let exchange = case.exchange(*x);
        exchange.method == Method::Post
            && exchange.accepted()
            && exchange.status != Some(202)
            && exchange.legacy_session.is_none()
    });
    let mut numbers = case.session.requests.iter().enumerate().peekable();
    for &index in &case.session.exchanges {
        let exchange = case.exchange(index);
        // An address with a session parameter is one that HTTP+SSE announced.
        if exchange.legacy_session.is_some() {
            continue;
        }
        while numbers.next_if(|(_, r)| r.at.exchange < index).is_some() {}
        let request = numbers.peek().filter(|(_, r)| r.at.exchange == index).map(|(number, _)| *number as u32);
        // GET does not exist in 2026-07-28, which another rule says.
        let Some((kind, words, severity)) = fault(exchange).filter(|(kind, ..)| match *kind {
            "get" => !modern,
            "request-accepted" => in_place,
            _ => true,
        }) else {
            continue;
        };
        let what = format!("{} {}", exchange.status.unwrap_or_default(), words_of(exchange.headers.content_type));
        found.push(
            case.finding(&RULE, Party::Server, words.to_owned(), Locus::response(index), what)
                .kind(kind)
                .of_request(request)
                .severity(severity),
        );
    }
}

fn words_of(media: MediaType) -> &'static str {
    match media {
        MediaType::Absent => "without a content type",
        MediaType::EventStream => "with an event stream",
        MediaType::Json => "with JSON",
        MediaType::Html => "with HTML",
        MediaType::Plain => "with plain text",
        MediaType::Other => "with another content type",
    }
}
