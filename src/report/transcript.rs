//! Exchanges as a transcript, rebuilt from their facts: redacted, and readable again as input.
//!
//! The source is not read again. Payloads are their digests (`{"redacted":"d_…"}`), so that what was equal stays equal;
//! ids are their pseudonyms.

mod body;
mod message;

use crate::{
    audit::IdTexts,
    capture::{Headers, RawBody, RawExchange, transcript as format},
    model::{Body, Content, End, Exchange, HeaderFlags, MediaType, Message, Missing, OtherKind, Vantage},
};
use std::borrow::Cow;

/// Request flags, and header lines that set them again.
const REQUEST_LINES: [(HeaderFlags, &str, &str); 3] = [
    (HeaderFlags::CROSS_ORIGIN, "origin", "https://other.example"),
    (HeaderFlags::METHOD_OVERRIDE, "x-http-method-override", "GET"),
    (HeaderFlags::SANITISED, "x-sanitised", "REDACTED"),
];

/// Response flags, and header lines that set them again.
const RESPONSE_LINES: [(HeaderFlags, &str, &str); 7] = [
    (HeaderFlags::EXPOSES_SESSION, "access-control-expose-headers", "mcp-session-id"),
    (HeaderFlags::GATEWAY_MARK, "via", "1.1 gateway"),
    (HeaderFlags::RETRY_AFTER, "retry-after", "1"),
    (HeaderFlags::WWW_AUTHENTICATE, "www-authenticate", "Bearer"),
    (HeaderFlags::ZERO_LENGTH, "content-length", "0"),
    (HeaderFlags::LOCATION, "location", "/"),
    (HeaderFlags::NO_BUFFERING, "x-accel-buffering", "no"),
];

/// Writes exchanges, in the order given.
pub fn render<'e>(exchanges: impl Iterator<Item = &'e Exchange> + Clone, texts: &IdTexts) -> String {
    let mut vantages = exchanges.clone().map(|e| e.vantage);
    let first = vantages.next().unwrap_or_default();
    let vantage = if vantages.all(|v| v == first) { first } else { Vantage::Unknown };
    let raws: Vec<_> = exchanges.map(|exchange| raw(exchange, texts)).collect();
    format::write(vantage, None, &raws)
}

fn raw(exchange: &Exchange, texts: &IdTexts) -> RawExchange<'static> {
    let legacy = exchange.legacy_session.as_ref().filter(|_| exchange.announces.is_none());
    let query = legacy.map(|id| format!("?sessionId={id}")).unwrap_or_default();
    let mut raw = RawExchange::new(exchange.method.to_string(), format!("{}{query}", exchange.endpoint));
    (raw.sent, raw.head, raw.ended) = (exchange.sent, exchange.head, exchange.ended);
    (raw.status, raw.end) = (exchange.status, exchange.end);
    raw.request_headers = request_headers(exchange, texts);
    raw.response_headers = response_headers(exchange);
    raw.request_body = match &exchange.request {
        Body::NotCaptured(why) => RawBody::NotCaptured(*why),
        Body::Empty => RawBody::EMPTY,
        Body::Partial(messages, why) => RawBody::Cut(joined(messages, exchange.batch).into(), *why),
        Body::Complete(_) if exchange.foreign_body => RawBody::Whole(Cow::Borrowed(b"(no JSON-RPC)")),
        Body::Complete(messages) => RawBody::Whole(joined(messages, exchange.batch).into()),
    };
    response(exchange, &mut raw, texts);
    raw
}

fn response(exchange: &Exchange, raw: &mut RawExchange<'static>, texts: &IdTexts) {
    let (content, missing) = match &exchange.response {
        Body::NotCaptured(why) => {
            raw.response_body = RawBody::NotCaptured(*why);
            return;
        }
        Body::Empty => {
            raw.response_body = RawBody::EMPTY;
            return;
        }
        Body::Partial(content, why) => (content, Some(*why)),
        Body::Complete(content) => (content, None),
    };
    let bytes: Cow<'static, [u8]> = match content {
        Content::Events(log) => {
            let written = body::events(exchange, log, texts);
            (raw.marks, raw.acknowledged) = (written.marks, written.received);
            written.text.into_bytes().into()
        }
        Content::Messages(messages) => joined(messages, messages.iter().any(message::is_in_batch)).into(),
        Content::Other(other) => refusal(other).into_bytes().into(),
    };
    // How the response ended says as much.
    let is_said = |why| match raw.end {
        End::Abrupt(_) => why == Missing::CutOff,
        End::Open => why == Missing::CaptureEnd,
        End::Clean | End::Unknown => false,
    };
    raw.response_body = match missing {
        Some(why) if !is_said(why) => RawBody::Cut(bytes, why),
        _ => RawBody::Whole(bytes),
    };
}

fn joined(messages: &[Message], batch: bool) -> Vec<u8> {
    let texts: Vec<_> = messages.iter().map(message::text).collect();
    if batch { format!("[{}]", texts.join(",")).into_bytes() } else { texts.concat().into_bytes() }
}

/// A body that is no JSON-RPC, by what rules ask of it.
fn refusal(other: &OtherKind) -> String {
    let mut words = Vec::new();
    words.extend(other.session_words.then_some("unknown session"));
    words.extend(other.busy_words.then_some("already there"));
    words.extend(other.missing_session_words.then_some("the session id is missing"));
    let words = if words.is_empty() { format!("({} B)", other.size) } else { words.join(", ") };
    match (other.html, other.json) {
        (true, _) => format!("<html>{words}</html>"),
        (_, true) => format!("{{\"redacted\":\"{words}\"}}"),
        _ => words,
    }
}

fn request_headers(exchange: &Exchange, texts: &IdTexts) -> Headers<'static> {
    let facts = &exchange.headers;
    let mut lines: Headers<'static> = Vec::new();
    let mut line = |name: &'static str, value: String| lines.push((name.into(), value.into()));
    let accepted = [(HeaderFlags::ACCEPTS_JSON, "application/json"), (HeaderFlags::ACCEPTS_SSE, "text/event-stream")];
    let accepted: Vec<_> = accepted.into_iter().filter(|(flag, _)| facts.has(*flag)).map(|(_, media)| media).collect();
    if facts.has(HeaderFlags::HAS_ACCEPT) {
        line("accept", if accepted.is_empty() { "text/plain".to_owned() } else { accepted.join(", ") });
    }
    if let Some(auth) = facts.auth {
        line("authorization", format!("redacted k_{auth:016x}"));
    }
    if let Some(agent) = &facts.user_agent {
        line("user-agent", agent.to_string());
    }
    if let Some(version) = &facts.protocol_version {
        line("mcp-protocol-version", version.to_string());
    }
    if let Some(id) = &exchange.session {
        line("mcp-session-id", body::session_name(id));
    }
    if let Some(cursor) = &exchange.cursor {
        let own = exchange.session.as_ref().filter(|_| cursor.is_session_id).map(body::session_name);
        line("last-event-id", own.unwrap_or_else(|| texts.name(cursor.id)));
    }
    let (method, name) = exchange.messages().first().map_or((None, None), |m| (m.method.as_deref(), m.name.as_deref()));
    let known = [
        (HeaderFlags::HAS_MCP_METHOD, HeaderFlags::MCP_METHOD_DIFFERS, "mcp-method", method),
        (HeaderFlags::HAS_MCP_NAME, HeaderFlags::MCP_NAME_DIFFERS, "mcp-name", name),
    ];
    for (has, differs, header, value) in known {
        if facts.has(has) {
            line(header, if facts.has(differs) { "another" } else { value.unwrap_or_default() }.to_owned());
        }
    }
    for (flag, name, value) in REQUEST_LINES {
        if facts.has(flag) {
            line(name, value.to_owned());
        }
    }
    lines
}

fn response_headers(exchange: &Exchange) -> Headers<'static> {
    let facts = &exchange.headers;
    let mut lines: Headers<'static> = Vec::new();
    let media = match facts.content_type {
        MediaType::Absent => None,
        MediaType::EventStream => Some("text/event-stream"),
        MediaType::Json => Some("application/json"),
        MediaType::Html => Some("text/html"),
        MediaType::Plain => Some("text/plain"),
        MediaType::Other => Some("application/octet-stream"),
    };
    lines.extend(media.map(|media| ("content-type".into(), media.into())));
    if let Some(id) = &exchange.issued {
        let text = id.text.as_ref().map_or_else(|| id.to_string(), ToString::to_string);
        lines.push(("mcp-session-id".into(), text.into()));
    }
    for (flag, name, value) in RESPONSE_LINES {
        if facts.has(flag) {
            lines.push((name.into(), value.into()));
        }
    }
    let names = [("server", facts.server), ("x-powered-by", facts.powered_by)];
    for (name, hash) in names {
        lines.extend(hash.map(|hash| (name.into(), format!("k_{hash:016x}").into())));
    }
    lines
}
