//! One flow to one exchange: what mitmproxy's state says, and what it does not.

use crate::{
    capture::{Context, Headers, RawBody, RawExchange, encoded},
    model::{End, Missing, Side, Time, Vantage},
    wire::tnetstring::Value,
};
use serde::Deserialize;
use std::borrow::Cow;

/// The exchange of an HTTP flow. Values that are missing or of a wrong type count as not recorded.
pub fn exchange<'a>(flow: Value<'a>, context: &Context<'_>) -> RawExchange<'a> {
    let (request, response, error) = (flow.get("request"), flow.get("response"), flow.get("error"));
    let request_headers = headers(request.get("headers"));
    let mut raw = RawExchange::new(text(request.get("method")), url(request, &request_headers));
    raw.vantage = Vantage::Proxy;
    raw.sent = time(request.get("timestamp_start"));
    raw.request_body = match request.get("content").bytes() {
        Some(bytes) => RawBody::Whole(bytes.into()),
        None => RawBody::NotCaptured(Missing::Streamed),
    };
    (raw.request_body, _) = encoded::decoded(&request_headers, raw.request_body, Vec::new(), &context.limits);
    raw.request_headers = request_headers;
    peers(&mut raw, flow, context);

    let failed = !error.is_null();
    if failed {
        raw.end = End::Abrupt(side(&text(error.get("msg")), !response.is_null()));
        raw.ended = time(error.get("timestamp"));
    }
    if response.is_null() {
        raw.response_body = RawBody::NotCaptured(if failed { Missing::Failed } else { Missing::NotRecorded });
        return raw;
    }
    raw.status = response.get("status_code").int().or(response.get("code").int()).and_then(|s| s.try_into().ok());
    raw.response_headers = headers(response.get("headers"));
    raw.head = time(response.get("timestamp_start"));
    if !failed {
        raw.ended = time(response.get("timestamp_end"));
        raw.end = if raw.ended.is_some() { End::Clean } else { End::Unknown };
    }
    let chunks = Chunks::of(flow.get("comment"));
    let content = response.get("content").bytes();
    raw.response_body = body(content, chunks.as_ref(), failed, &raw.response_headers);
    let marks = chunks.map(|c| c.marks(raw.response_body.bytes().len())).unwrap_or_default();
    (raw.response_body, raw.marks) = encoded::decoded(&raw.response_headers, raw.response_body, marks, &context.limits);
    raw
}

/// Null content was streamed through or lost with an error; empty content was recorded and empty.
fn body<'a>(content: Option<&'a [u8]>, chunks: Option<&Chunks>, failed: bool, headers: &Headers<'_>) -> RawBody<'a> {
    // The recorder of chunks saw the end of the stream, and no chunk before it.
    let content = content.or(chunks.is_some_and(|c| c.sse_chunks.is_empty()).then_some(&[]));
    let Some(bytes) = content else {
        return RawBody::NotCaptured(if failed { Missing::NotRecorded } else { Missing::Streamed });
    };
    let announced = crate::capture::header(headers, "content-length").and_then(|l| l.trim().parse().ok());
    if failed && announced != Some(bytes.len()) {
        return RawBody::Cut(bytes.into(), Missing::CutOff);
    }
    RawBody::Whole(bytes.into())
}

/// What the chunk-noting addon leaves in a flow's comment: arrival in seconds since the epoch, and length in bytes.
#[derive(Deserialize)]
struct Chunks {
    sse_chunks: Vec<(f64, u64)>,
}

impl Chunks {
    fn of(comment: Value<'_>) -> Option<Self> {
        serde_json::from_slice(comment.bytes().filter(|c| c.starts_with(b"{"))?).ok()
    }

    /// Offsets with times; none where the lengths do not add up to the body's, since another addon changed it then.
    fn marks(&self, size: usize) -> encoded::Marks {
        let mut at = 0_u64;
        let marks = self.sse_chunks.iter().map_while(|(time, length)| {
            at = at.saturating_add(*length);
            Some((at, moment(*time)?))
        });
        let marks: Vec<_> = marks.collect();
        if at == size as u64 { marks } else { Vec::new() }
    }
}

/// Who ended the exchange, by mitmproxy's words.
fn side(message: &str, answered: bool) -> Side {
    let message = message.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| message.contains(w));
    if has(&["client disconnected", "client closed", "client reset"]) {
        Side::Client
    } else if has(&["connect call failed", "server disconnected", "server closed", "server reset"])
        || (answered && has(&["peer closed", "connection reset by peer"]))
    {
        Side::Server
    } else {
        Side::Unknown
    }
}

/// As mitmproxy's own HAR export writes it: the host that the client named, else the one that was connected to.
fn url(request: Value<'_>, headers: &Headers<'_>) -> String {
    let scheme = text(request.get("scheme"));
    let scheme = if scheme.is_empty() { "http" } else { &scheme };
    let path = text(request.get("path"));
    let path = if path == "*" { "" } else { &*path };
    let authority = text(request.get("authority"));
    let named = if authority.is_empty() { crate::capture::header(headers, "host") } else { Some(&*authority) };
    if let Some(host) = named.map(str::trim).filter(|h| !h.is_empty()) {
        return format!("{scheme}://{host}{path}");
    }
    let (host, port) = (text(request.get("host")), request.get("port").int().unwrap_or_default());
    let default = if scheme == "https" { 443 } else { 80 };
    let bracketed = if host.contains(':') { format!("[{host}]") } else { host.into_owned() };
    if port == default || port == 0 {
        format!("{scheme}://{bracketed}{path}")
    } else {
        format!("{scheme}://{bracketed}:{port}{path}")
    }
}

/// Keyed hashes of the two ends, as far as the flow names them.
fn peers(raw: &mut RawExchange<'_>, flow: Value<'_>, context: &Context<'_>) {
    let (client, server) = (flow.get("client_conn"), flow.get("server_conn"));
    let hash = |text: &str| (!text.is_empty()).then(|| context.key.hash(b'a', text.as_bytes()));
    let from = endpoint(client.get("peername")).or_else(|| endpoint(client.get("address")));
    let to = endpoint(server.get("peername")).or_else(|| endpoint(server.get("ip_address")));
    raw.at.client = from.as_ref().and_then(|(host, _)| hash(host));
    raw.at.server = to.and_then(|(host, port)| hash(&format!("{host}:{port}")));
    let id = text(client.get("id"));
    raw.at.connection = from.and_then(|(host, port)| hash(&format!("{host}:{port} {id}")));
}

fn endpoint(address: Value<'_>) -> Option<(String, i64)> {
    // Old formats wrap the pair: `{"address": [host, port], "use_ipv6": …}`.
    let address = if let Value::Dict(_) = address { address.get("address") } else { address };
    let mut parts = address.list();
    Some((String::from_utf8_lossy(parts.next()?.bytes()?).into_owned(), parts.next()?.int()?))
}

fn headers<'a>(list: Value<'a>) -> Headers<'a> {
    list.list()
        .filter_map(|pair| {
            let mut pair = pair.list();
            Some((String::from_utf8_lossy(pair.next()?.bytes()?), String::from_utf8_lossy(pair.next()?.bytes()?)))
        })
        .collect()
}

fn text(value: Value<'_>) -> Cow<'_, str> {
    String::from_utf8_lossy(value.bytes().unwrap_or_default())
}

fn time(value: Value<'_>) -> Option<Time> {
    moment(value.number()?)
}

/// Seconds since the epoch, between its start and the year 3000.
#[expect(clippy::cast_possible_truncation, reason = "bounded above")]
fn moment(seconds: f64) -> Option<Time> {
    (seconds > 0.0 && seconds < 32_503_680_000.0).then(|| Time((seconds * 1e6).round() as i64))
}
