//! mcpsnoop's envelopes: JSON-RPC with direction, time, session and connection; no HTTP.

use super::{
    Line,
    field::percent_encoded,
    message::{self, Sender},
};
use crate::{
    capture::{RawBody, RawExchange},
    model::{Missing, Time},
    wire::timestamp::Timestamp,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
struct Envelope<'e> {
    #[serde(borrow, default)]
    session_id: Cow<'e, str>,
    #[serde(borrow, default)]
    conn_id: Option<&'e RawValue>,
    #[serde(borrow, default)]
    ts: Cow<'e, str>,
    #[serde(borrow)]
    direction: Cow<'e, str>,
    #[serde(borrow, default)]
    raw: Option<&'e RawValue>,
    #[serde(default)]
    truncated: bool,
}

/// Reads one envelope.
pub fn line(text: &[u8], sink: &mut dyn FnMut(&mut RawExchange<'_>)) -> Line {
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(text) else { return Line::Foreign };
    let sender = match &*envelope.direction {
        "c2s" => Sender::Client,
        "s2c" => Sender::Server,
        _ => return Line::Silent,
    };
    let connection = envelope.conn_id.map(|c| c.get().trim_matches('"')).unwrap_or_default();
    let url = format!("jsonrpc:mcpsnoop/{}/{}", percent_encoded(&envelope.session_id), percent_encoded(connection));
    let time = Timestamp::parse(envelope.ts.as_bytes()).map(|t| Time(t.micros));
    let raw = envelope.raw.map(RawValue::get).filter(|raw| *raw != "null");
    // What is cut is no JSON any more, and stands in the envelope as text.
    let quoted: Option<String> = raw.filter(|raw| raw.starts_with('"')).and_then(|raw| serde_json::from_str(raw).ok());
    let bytes = quoted.as_deref().or(raw).unwrap_or_default().as_bytes();
    let mut exchange = message::exchange(bytes, sender, url, time);
    let body = match sender {
        Sender::Client => &mut exchange.request_body,
        Sender::Server => &mut exchange.response_body,
    };
    if raw.is_none() {
        *body = RawBody::NotCaptured(Missing::NotRecorded);
    } else if envelope.truncated {
        *body = RawBody::Cut(bytes.into(), Missing::SizeLimit);
    }
    sink(&mut exchange);
    Line::Read
}
