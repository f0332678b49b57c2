//! `--map FIELD=PATH`: what the lines of a log hold whose shape nobody foresaw.

use super::{
    Line, field,
    message::{self, Sender, Talk},
};
use crate::{
    capture::{RawBody, RawExchange},
    model::{End, Missing},
};
use serde_json::Value;

/// The fields that can be mapped.
const FIELDS: [&str; 12] = [
    "time",
    "method",
    "path",
    "url",
    "status",
    "duration",
    "session",
    "cursor",
    "request",
    "response",
    "direction",
    "message",
];

/// Where in a line's object each field stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldMap {
    paths: [Option<String>; FIELDS.len()],
}

/// Why a map cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// No equals sign.
    #[error("'{0}' is no field map: write FIELD=PATH, as in time=.ts,message=.event.raw")]
    NoPair(String),
    /// No such field.
    #[error(
        "unknown field '{0}'; the fields are time, method, path, url, status, duration, session, cursor, request, response, direction and message"
    )]
    NoField(String),
    /// Neither a message nor a request is named.
    #[error("a field map names `message`, or `path` or `url`")]
    NoTarget,
}

impl FieldMap {
    /// Reads `field=path` pairs, separated by commas where one text holds several. A path is member names separated by
    /// dots, with or without a dot before the first; a name that has dots itself is found, too.
    ///
    /// # Errors
    /// A pair is malformed, names no field, or the whole names nothing to read.
    pub fn parse<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, MapError> {
        let mut map = Self::default();
        for pair in texts.into_iter().flat_map(|t| t.split(',')).map(str::trim).filter(|p| !p.is_empty()) {
            let (name, path) = pair.split_once('=').ok_or_else(|| MapError::NoPair(pair.into()))?;
            let name = match name.trim() {
                "ts" => "time",
                "dir" => "direction",
                "msg" => "message",
                other => other,
            };
            let at = FIELDS.iter().position(|f| *f == name);
            let slot = at.ok_or_else(|| MapError::NoField(name.into()))?;
            map.paths[slot] = Some(path.trim().trim_start_matches('.').to_owned());
        }
        let named = |field: &str| map.path(field).is_some();
        if named("message") || named("path") || named("url") { Ok(map) } else { Err(MapError::NoTarget) }
    }

    fn path(&self, field: &str) -> Option<&str> {
        let at = FIELDS.iter().position(|f| *f == field)?;
        self.paths[at].as_deref()
    }

    fn value<'v>(&self, field: &str, line: &'v Value) -> Option<&'v Value> {
        lookup(line, self.path(field)?)
    }

    fn text(&self, field: &str, line: &Value) -> Option<String> {
        self.value(field, line).and_then(field::text)
    }
}

/// The value at a path; a member's whole name goes before its parts.
fn lookup<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    let object = value.as_object()?;
    if let Some(found) = object.get(path) {
        return Some(found);
    }
    // From the longest name to the shortest; each step is a lookup, so that the path alone bounds the work.
    path.rmatch_indices('.').find_map(|(at, _)| lookup(object.get(&path[..at])?, &path[at + 1..]))
}

/// Reads one line by a map.
pub fn line(text: &[u8], map: &FieldMap, talk: &mut Talk, sink: &mut dyn FnMut(&mut RawExchange<'_>)) -> Line {
    let Ok(value) = serde_json::from_slice::<Value>(text) else { return Line::Foreign };
    let made = if map.path("message").is_some() { message(&value, map, talk) } else { exchange(&value, map) };
    match made {
        Some(mut raw) => {
            sink(&mut raw);
            Line::Read
        }
        None => Line::Foreign,
    }
}

fn message(value: &Value, map: &FieldMap, talk: &mut Talk) -> Option<RawExchange<'static>> {
    let bytes = body(map.value("message", value)?)?;
    let guessed = message::sender(&bytes, talk)?;
    let sender = map.text("direction", value).and_then(|d| direction(&d)).unwrap_or(guessed);
    let session = map.text("session", value);
    let url =
        session.as_deref().map_or_else(|| "jsonrpc:".into(), |s| format!("jsonrpc:{}", field::percent_encoded(s)));
    let time = map.value("time", value).and_then(field::moment);
    let half = message::exchange(&bytes, sender, url, time.map(|(t, _)| t));
    let mut raw = RawExchange::new(half.method.into_owned(), half.url.into_owned());
    (raw.status, raw.sent, raw.head, raw.ended, raw.end) = (half.status, half.sent, half.head, half.ended, half.end);
    raw.request_headers =
        half.request_headers.into_iter().map(|(n, v)| (n.into_owned().into(), v.into_owned().into())).collect();
    raw.response_headers =
        half.response_headers.into_iter().map(|(n, v)| (n.into_owned().into(), v.into_owned().into())).collect();
    raw.no_headers = true;
    raw.coarse_times = time.is_some_and(|(_, fine)| !fine);
    match sender {
        Sender::Client => raw.request_body = RawBody::Whole(bytes.into()),
        Sender::Server => raw.response_body = RawBody::Whole(bytes.into()),
    }
    Some(raw)
}

/// Who sent it, in the words that logs have.
fn direction(text: &str) -> Option<Sender> {
    let text = text.to_ascii_lowercase();
    match text.as_str() {
        "c2s" | "client" | "req" | "request" | "out" | "outgoing" | "send" | "sent" | "->" | ">"
        | "client_to_server" | "client-to-server" | "client->server" | "egress" | "up" | "upstream" => {
            Some(Sender::Client)
        }
        "s2c" | "server" | "res" | "resp" | "response" | "in" | "incoming" | "recv" | "received" | "receive" | "<-"
        | "<" | "server_to_client" | "server-to-client" | "server->client" | "ingress" | "down" | "downstream" => {
            Some(Sender::Server)
        }
        _ => None,
    }
}

fn exchange(value: &Value, map: &FieldMap) -> Option<RawExchange<'static>> {
    let target = map.text("url", value).or_else(|| map.text("path", value))?;
    let request = map.value("request", value).and_then(body);
    let response = map.value("response", value).and_then(body);
    let implied = if request.is_some() { "POST" } else { "GET" };
    let method = map.text("method", value).unwrap_or_else(|| implied.into()).to_ascii_uppercase();
    let mut raw = RawExchange::new(method, target);
    let status = map.value("status", value).and_then(field::number).filter(|s| (100.0..1000.0).contains(s));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by the filter")]
    let status = status.map(|s| s as u16);
    raw.status = status;
    raw.no_headers = true;
    let headers = [("mcp-session-id", map.text("session", value)), ("last-event-id", map.text("cursor", value))];
    raw.request_headers = headers.into_iter().filter_map(|(n, v)| Some((n.into(), v?.into()))).collect();
    if let Some((time, fine)) = map.value("time", value).and_then(field::moment) {
        let name = map.path("duration").unwrap_or_default();
        let duration = map.value("duration", value).and_then(|d| field::duration(name, d));
        (raw.sent, raw.ended, raw.coarse_times) = (Some(time), duration.map(|d| time.plus(d)), !fine);
    }
    if let Some(bytes) = request {
        raw.request_body = RawBody::Whole(bytes.into());
    }
    if let Some(bytes) = response {
        let streams = ["data:", "event:", "id:", ":"].iter().any(|f| bytes.starts_with(f.as_bytes()));
        let media = if streams { "text/event-stream" } else { "application/json" };
        raw.response_headers = vec![("content-type".into(), media.into())];
        raw.response_body = RawBody::Whole(bytes.into());
    } else {
        raw.response_body = RawBody::NotCaptured(Missing::NotRecorded);
    }
    raw.end = End::Unknown;
    Some(raw)
}

/// A body that a log holds as text, or as the JSON that it is; an empty text says nothing.
fn body(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.clone().into_bytes()),
        Value::Null => None,
        other => serde_json::to_vec(other).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_needs_known_fields_and_something_to_read() {
        let map = FieldMap::parse(["message=.raw,time=ts"]);
        assert!(map.is_ok());
        assert_eq!(map, FieldMap::parse(["msg=raw", "ts=.ts"]), "short names mean the same");
        assert_eq!(FieldMap::parse(["raw"]), Err(MapError::NoPair("raw".into())));
        assert_eq!(FieldMap::parse(["text=raw"]), Err(MapError::NoField("text".into())));
        assert_eq!(FieldMap::parse(["time=ts"]), Err(MapError::NoTarget));
    }

    #[test]
    fn paths_follow_members_and_names_that_have_dots() {
        let value = serde_json::json!({"a": {"b.c": {"d": 1}}, "x.y": 2});
        assert_eq!(lookup(&value, "a.b.c.d"), Some(&Value::from(1)));
        assert_eq!(lookup(&value, "x.y"), Some(&Value::from(2)));
        assert_eq!(lookup(&value, "a.z"), None);
    }
}
