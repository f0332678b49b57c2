//! Evidence in facts: what stands at a place, in lines that hold no captured text that is not redacted.

use super::places;
use crate::{
    evidence::{Locus, Part},
    model::{
        Body, Content, End, EventFact, EventFlags, EventKind, EventLog, Exchange, MediaType, Message, MessageKind,
        Missing, Side,
    },
};

/// How many messages of a batch are listed.
const MOST: usize = 8;

/// The facts at a place, one line each.
pub fn of(exchange: &Exchange, at: Locus) -> Vec<String> {
    match (at.part, at.event) {
        (Part::Request, _) => request(exchange),
        (Part::Response, None) => response(exchange),
        (Part::Response, Some(event)) => {
            places::log(exchange).map_or_else(|| response(exchange), |log| block(log, event))
        }
    }
}

fn request(exchange: &Exchange) -> Vec<String> {
    let mut lines = vec![format!("{} {}", exchange.method, exchange.endpoint)];
    lines.extend(exchange.session.as_ref().map(|id| format!("mcp-session-id: {id}")));
    lines.extend(exchange.cursor.as_ref().map(|cursor| format!("last-event-id: {}", cursor.id)));
    match &exchange.request {
        Body::NotCaptured(why) => lines.push(format!("body: not captured, {}", missing(*why))),
        Body::Empty => {}
        Body::Partial(messages, _) | Body::Complete(messages) => list(&mut lines, messages.iter()),
    }
    lines
}

fn response(exchange: &Exchange) -> Vec<String> {
    let status = exchange.status.map_or_else(|| "no response".to_owned(), |s| s.to_string());
    let media = media(exchange.headers.content_type);
    let mut lines = vec![format!("{status}{}{media}", if media.is_empty() { "" } else { " " })];
    lines.extend(exchange.issued.as_ref().map(|id| format!("mcp-session-id: {id}")));
    if exchange.status.is_none() {
        return lines;
    }
    if let Some(Content::Messages(messages)) = exchange.response.content() {
        list(&mut lines, messages.iter());
    }
    lines.push(format!("body: {}, {}", body(&exchange.response), end(exchange.end)));
    lines
}

fn block(log: &EventLog, event: u32) -> Vec<String> {
    let mut lines = Vec::new();
    let Some(fact) = log.events.get(event as usize) else {
        if let Some(tail) = &log.tail {
            lines.extend(tail.id.map(|id| format!("id: {id}")));
            lines.extend(tail.message.as_ref().map(|m| format!("data: {}", message(m))));
            lines.push("(no blank line follows: the block was never dispatched)".to_owned());
        }
        return lines;
    };
    if fact.flags.contains(EventFlags::RESETS_ID) {
        lines.push("id:".to_owned());
    }
    lines.extend(fact.explicit_id().map(|id| format!("id: {id}")));
    if fact.flags.contains(EventFlags::HAS_RETRY) {
        let at = log.retries.partition_point(|(e, _)| *e < event);
        lines.extend(log.retries.get(at).filter(|(e, _)| *e == event).map(|(_, ms)| format!("retry: {ms}")));
    }
    data(&mut lines, log, event, fact);
    if lines.is_empty() {
        lines.push(if fact.flags.contains(EventFlags::COMMENT_ONLY) { ": comment" } else { "(no field)" }.to_owned());
    }
    lines
}

fn data(lines: &mut Vec<String>, log: &EventLog, event: u32, fact: &EventFact) {
    let other = match fact.kind {
        EventKind::None => return,
        EventKind::Empty => "data:",
        EventKind::EmptyObject => "data: {}",
        EventKind::Progress => "data: notification notifications/progress",
        EventKind::Endpoint => "event: endpoint",
        EventKind::Vendor => "data: of an event type that clients do not read",
        EventKind::Undecodable => "data: no JSON-RPC message",
        EventKind::Message | EventKind::Batch | EventKind::Misnamed => {
            let from = lines.len();
            list(lines, log.messages_of(event));
            for line in &mut lines[from..] {
                line.insert_str(0, "data: ");
            }
            return;
        }
    };
    lines.push(other.to_owned());
}

fn list<'m>(lines: &mut Vec<String>, messages: impl Iterator<Item = &'m Message>) {
    let mut messages = messages.peekable();
    lines.extend(messages.by_ref().take(MOST).map(message));
    let more = messages.count();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
}

/// One message: `request 2, tools/call slow, 80 B`.
pub fn message(message: &Message) -> String {
    let id = message.id.as_deref().unwrap_or("without id");
    let size = message.size;
    let called = || {
        let method = message.method.as_deref().unwrap_or("?");
        message.name.as_deref().map_or_else(|| method.to_owned(), |name| format!("{method} {name}"))
    };
    match message.kind {
        MessageKind::Request => format!("request {id}, {}, {size} B", called()),
        MessageKind::Notification => format!("notification {}, {size} B", called()),
        MessageKind::Response => format!("response {id}, result, {size} B"),
        MessageKind::Error => match message.error_code() {
            Some(code) => format!("response {id}, error {code}, {size} B"),
            None => format!("response {id}, error, {size} B"),
        },
        MessageKind::Other => format!("no JSON-RPC message, {size} B"),
    }
}

/// What a response body was: `complete, 5 events, 3 messages`.
pub fn body(body: &Body<Content>) -> String {
    let (state, content) = match body {
        Body::NotCaptured(why) => return format!("not captured, {}", missing(*why)),
        Body::Empty => return "empty".to_owned(),
        Body::Partial(content, why) => (format!("partial, {}", missing(*why)), content),
        Body::Complete(content) => ("complete".to_owned(), content),
    };
    let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    match content {
        Content::Events(log) => {
            format!("{state}, {}, {}", plural(log.events.len(), "event"), plural(log.message_count(), "message"))
        }
        Content::Messages(messages) => format!("{state}, {}", plural(messages.len(), "message")),
        Content::Other(other) => format!("{state}, {} B", other.size),
    }
}

fn media(media: MediaType) -> &'static str {
    match media {
        MediaType::Absent => "",
        MediaType::EventStream => "text/event-stream",
        MediaType::Json => "application/json",
        MediaType::Html => "text/html",
        MediaType::Plain => "text/plain",
        MediaType::Other => "of another type",
    }
}

/// How a response ended, in words.
pub fn end(end: End) -> &'static str {
    match end {
        End::Clean => "ended cleanly",
        End::Abrupt(Side::Client) => "cut off by the client",
        End::Abrupt(Side::Server) => "cut off by the server",
        End::Abrupt(Side::Unknown) => "cut off",
        End::Open => "still open",
        End::Unknown => "end unknown",
    }
}

fn missing(why: Missing) -> &'static str {
    match why {
        Missing::NotRecorded => "not recorded",
        Missing::Streamed => "passed through by the recorder",
        Missing::SizeLimit => "over the recorder's limit",
        Missing::Hole => "packets are missing",
        Missing::CaptureEnd => "the capture ends first",
        Missing::Sanitised => "removed by a sanitiser",
        Missing::Undecodable => "its coding could not be undone",
        Missing::CutOff => "the connection ended first",
        Missing::Failed => "the exchange failed first",
    }
}
