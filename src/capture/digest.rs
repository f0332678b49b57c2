//! From a raw exchange to facts, the same way for every format.

pub mod endpoint;
mod events;
mod headers;
mod ids;
mod message;
mod names;
mod words;

pub use events::message_digest;
pub use headers::is_read;
pub use ids::{is_placeholder, percent_decoded};
pub use names::Names;

use super::{Context, RawBody, RawExchange, header};
use crate::model::{
    Body, Content, End, Exchange, HeaderFacts, HeaderFlags, MediaType, Message, MessageKind, Method, Missing,
    OtherKind, SessionId, Vantage,
};
use ids::Ids;
use message::{Parsed, Reader};
use rayon::prelude::*;
use std::sync::Arc;

/// The facts of one exchange; none where it cannot be MCP. `vantage` is the file's own.
pub fn exchange(context: &Context<'_>, raw: &RawExchange<'_>, vantage: Vantage) -> Option<Exchange> {
    let method = method(&raw.method)?;
    let key = context.key;
    if endpoint::is_discovery(&raw.url) {
        return None;
    }
    let place = endpoint::parse(&raw.url, key, context.names);
    let session_text = header(&raw.request_headers, "mcp-session-id").map(str::trim).filter(|s| !s.is_empty());
    let issued_text = header(&raw.response_headers, "mcp-session-id").map(str::trim).filter(|s| !s.is_empty());
    let mut facts = headers::facts(raw, &place.name, key, context.names);
    let mut ids = Ids::new(key);
    let session_name = session_text.or(issued_text).or(place.session.as_deref());
    let mut reader = Reader::new(key, context.names, session_name);

    let parsed = request(raw, &mut reader);
    let response_type = facts.content_type;
    let (response, announced) = response(raw, response_type, &mut reader, &parsed);
    if !is_relevant(method, raw, &facts, &parsed, &response, session_text.is_some()) {
        return None;
    }
    if let [message] = parsed.messages() {
        headers::compare(&mut facts, &raw.request_headers, message, reader.last_name.as_deref());
    }
    let announces = announced.as_deref().map(|a| endpoint::parse(&endpoint::join(&raw.url, a), key, context.names));
    let legacy = announces.as_ref().and_then(|a| a.session.as_deref()).or(place.session.as_deref());
    let status = raw.status.filter(|s| *s >= 100);
    let ended = raw.ended.filter(|e| raw.sent.is_none_or(|s| *e >= s));
    Some(Exchange {
        at: raw.at.clone(),
        vantage: context.vantage.unwrap_or(if raw.vantage == Vantage::Unknown { vantage } else { raw.vantage }),
        sent: raw.sent,
        head: raw.head.filter(|h| raw.sent.is_none_or(|s| *h >= s)),
        ended,
        endpoint: place.name,
        method,
        status,
        session: session_text.and_then(|s| ids.session(s)),
        issued: issued_text.and_then(|s| ids.session(s)),
        legacy_session: legacy.and_then(|s| ids.session(s)).map(Box::new),
        announces: announces.map(|a| a.name),
        cursor: header(&raw.request_headers, "last-event-id").and_then(|c| ids.cursor(c, session_text)).map(Box::new),
        headers: facts,
        batch: parsed.batch,
        foreign_body: parsed.foreign,
        request: parsed.body,
        response,
        end: raw.end,
        coarse_times: raw.coarse_times,
    })
}

/// Adds the rest of an event stream, in parts that begin behind blank lines, to an exchange that holds its beginning.
pub fn continue_stream(context: &Context<'_>, exchange: &mut Exchange, lines: &mut u32, parts: &[Vec<u8>]) {
    let logs: Vec<_> = parts
        .par_iter()
        .map(|part| events::of_part(part, &mut Reader::new(context.key, context.names, None)))
        .collect();
    if let Body::Complete(Content::Events(log)) = &mut exchange.response {
        for (part, more) in logs {
            events::extend(log, part, lines, more);
        }
    }
}

fn method(text: &str) -> Option<Method> {
    let methods =
        [("POST", Method::Post), ("GET", Method::Get), ("DELETE", Method::Delete), ("MESSAGE", Method::Message)];
    methods.into_iter().find(|(name, _)| text.eq_ignore_ascii_case(name)).map(|(_, method)| method)
}

/// What the request's body was.
struct Request {
    body: Body<Vec<Message>>,
    batch: bool,
    foreign: bool,
}

impl Request {
    fn messages(&self) -> &[Message] {
        self.body.content().map_or(&[], Vec::as_slice)
    }
}

fn request(raw: &RawExchange<'_>, reader: &mut Reader<'_>) -> Request {
    let (mut batch, mut foreign) = (false, false);
    let mut read = |bytes: &[u8]| match reader.parse(bytes) {
        Ok(Parsed::One(message)) if message.kind != MessageKind::Other => vec![message],
        Ok(Parsed::Batch(members)) => {
            batch = true;
            members
        }
        Ok(Parsed::Progress(token)) => vec![reader.progress(token)],
        _ => {
            foreign = true;
            Vec::new()
        }
    };
    let body = match &raw.request_body {
        RawBody::NotCaptured(why) => Body::NotCaptured(*why),
        RawBody::Whole(bytes) if bytes.trim_ascii().is_empty() => Body::Empty,
        RawBody::Whole(bytes) => Body::Complete(read(bytes)),
        RawBody::Cut(bytes, why) => match read(bytes) {
            messages if messages.is_empty() => Body::NotCaptured(*why),
            messages => Body::Partial(messages, *why),
        },
    };
    let foreign = foreign && body.is_whole();
    Request { body, batch, foreign }
}

/// The response's body, and what a first `endpoint` event announced.
fn response(
    raw: &RawExchange<'_>,
    media: MediaType,
    reader: &mut Reader<'_>,
    request: &Request,
) -> (Body<Content>, Option<String>) {
    let streams = media == MediaType::EventStream;
    let (bytes, missing) = match &raw.response_body {
        RawBody::NotCaptured(why) if streams && !raw.recorded_events.is_empty() => {
            let log = events::from_records(&raw.recorded_events, reader);
            return (Body::Partial(Content::Events(Box::new(log)), *why), None);
        }
        RawBody::NotCaptured(why) => return (Body::NotCaptured(*why), None),
        RawBody::Whole(bytes) => (bytes, None),
        RawBody::Cut(bytes, why) => (bytes, Some(*why)),
    };
    // Bytes that a reader calls whole are the beginning of a body whose end was cut or is still to come.
    let missing = missing.or(match raw.end {
        End::Abrupt(_) => Some(Missing::CutOff),
        End::Open => Some(Missing::CaptureEnd),
        End::Clean | End::Unknown => None,
    });
    if bytes.is_empty() {
        return match missing {
            None => (Body::Empty, None),
            Some(why) if streams => (Body::Partial(Content::Events(Box::default()), why), None),
            Some(why) => (Body::NotCaptured(why), None),
        };
    }
    let mut announced = None;
    let content = if streams {
        let (log, endpoint) = events::from_bytes(raw, bytes, reader);
        announced = endpoint;
        Content::Events(Box::new(log))
    } else {
        other(bytes, media, reader, request)
    };
    let body = match missing {
        None => Body::Complete(content),
        Some(why) => Body::Partial(content, why),
    };
    (body, announced)
}

/// A body that is no event stream: JSON-RPC, or something else.
fn other(bytes: &[u8], media: MediaType, reader: &mut Reader<'_>, request: &Request) -> Content {
    let looks_json = matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
    let worth = media == MediaType::Json || !request.messages().is_empty() || bytes.len() <= 64 << 10;
    let parsed = (looks_json && worth).then(|| reader.parse(bytes));
    match parsed {
        Some(Ok(Parsed::One(message))) if message.kind != MessageKind::Other => {
            return Content::Messages(vec![message]);
        }
        Some(Ok(Parsed::Progress(token))) => {
            let message = reader.progress(token);
            return Content::Messages(vec![message]);
        }
        Some(Ok(Parsed::Batch(members)))
            if !members.is_empty() && members.iter().all(|m| m.kind != MessageKind::Other) =>
        {
            return Content::Messages(members);
        }
        _ => {}
    }
    let said = words::of(bytes);
    let begins =
        |tag: &str| bytes.trim_ascii_start().get(..tag.len()).is_some_and(|b| b.eq_ignore_ascii_case(tag.as_bytes()));
    Content::Other(OtherKind {
        size: bytes.len() as u64,
        html: media == MediaType::Html || begins("<!doctype html") || begins("<html"),
        json: matches!(parsed, Some(Ok(_))),
        session_words: said.session,
        busy_words: said.busy,
        missing_session_words: said.missing,
    })
}

/// Whether an exchange can be MCP at all (reconstruction.md, Scopes 2); what an endpoint is for is decided later.
fn is_relevant(
    method: Method,
    raw: &RawExchange<'_>,
    facts: &HeaderFacts,
    request: &Request,
    response: &Body<Content>,
    has_session: bool,
) -> bool {
    let streams = facts.content_type == MediaType::EventStream;
    let marked =
        has_session || facts.protocol_version.is_some() || header(&raw.request_headers, "last-event-id").is_some();
    let rpc = |m: &Message| {
        m.kind != MessageKind::Other && (!m.flags.contains(crate::model::MessageFlags::NO_VERSION) || marked)
    };
    let speaks = request.messages().iter().any(rpc)
        || matches!(response.content(), Some(Content::Messages(messages)) if messages.iter().any(rpc));
    match method {
        Method::Message => true,
        Method::Delete => marked,
        Method::Get => marked || streams || accepts_stream(raw),
        Method::Post => {
            speaks
                || marked
                || (streams && request.messages().is_empty() && !request.foreign)
                || accepts_both(raw, facts)
        }
    }
}

fn accepts_stream(raw: &RawExchange<'_>) -> bool {
    header(&raw.request_headers, "accept").is_some_and(|a| a.to_ascii_lowercase().contains("text/event-stream"))
}

/// A POST whose body is not known but that asks for JSON and event streams alike, as MCP clients do.
fn accepts_both(raw: &RawExchange<'_>, facts: &HeaderFacts) -> bool {
    matches!(raw.request_body, RawBody::NotCaptured(_) | RawBody::Cut(..))
        && accepts_stream(raw)
        && facts.flags.contains(HeaderFlags::ACCEPTS_JSON)
}

/// A session id for tests and readers that know one without a header.
pub fn session_id(context: &Context<'_>, text: &str) -> Option<SessionId> {
    Ids::new(context.key).session(text)
}

/// A shared copy of a text that is printed as it is.
pub fn shared(context: &Context<'_>, text: &str) -> Arc<str> {
    context.names.get(text)
}
