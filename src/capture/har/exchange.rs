//! From an entry of a HAR to a raw exchange: status, bodies, times and how the response ended.

use super::{Job, Scratch, body, entry::Entry, events, relevance, timing};
use crate::{
    capture::{RawBody, RawExchange},
    model::{Address, End, Missing, Side},
    wire::har_split::Pair,
};
use bitflags::bitflags;
use std::borrow::Cow;

bitflags! {
    /// What must be remembered of an entry until the whole file is known.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(super) struct Traits: u16 {
        /// The start has no time zone.
        const ZONELESS = 1;
        /// There is no start that could be read.
        const TIMELESS = 1 << 1;
        /// The start has a fraction of a second.
        const FINE = 1 << 2;
        /// The response is an event stream whose text was recorded.
        const STREAM = 1 << 3;
        /// … and is empty.
        const EMPTY_STREAM = 1 << 4;
        /// `timings.receive` is 0.
        const NO_RECEIVE = 1 << 5;
        /// Undeclared base64 was decoded.
        const GUESSED_BASE64 = 1 << 6;
        /// A body was longer than the limit.
        const OVER_LIMIT = 1 << 7;
        /// A header that MCP needs was blacked out.
        const REDACTED = 1 << 8;
    }
}

/// What becomes of an entry.
pub(super) struct Made<'s> {
    pub raw: RawExchange<'s>,
    pub traits: Traits,
    /// Minutes east of UTC of the start.
    pub zone: Option<i16>,
}

/// Makes a raw exchange of an entry; none where it cannot be MCP.
pub(super) fn exchange<'s>(
    entry: &Entry<'s>,
    scratch: &'s mut Scratch,
    job: &Job<'_>,
    at: Address,
) -> Option<Made<'s>> {
    if !relevance::may_be_mcp(entry) {
        return None;
    }
    let (request, response) = (&entry.request, &entry.response);
    let status = status(entry);
    if status.is_some_and(|status| status < 200) {
        return None;
    }
    let limit = job.body_limit();
    let times = timing::times(entry, job.kind);
    let Scratch { request: request_text, request_decoded, response: text, response_decoded: decoded } = scratch;

    let mut raw = RawExchange::new(request.method.text_or_empty(), request.url.text_or_empty());
    raw.request_body = body::request(entry, request_text, request_decoded, job.options, limit);
    let (response_body, notes) =
        body::response(entry, status, job.kind, times.unfinished, (text, decoded), job.options, limit);
    raw.response_body = response_body;
    raw.request_headers = request.headers.to_vec();
    raw.response_headers = response.headers.to_vec();
    if relevance::value(&response.headers, "content-type").is_none()
        && let Some(mime) = response.mime.text().filter(|mime| mime.contains("json") || mime.contains("event-stream"))
    {
        // Stripped of its headers, the answer still has a type.
        raw.response_headers.push((Cow::Borrowed("content-type"), mime));
    }
    raw.status = status;
    (raw.sent, raw.head, raw.ended) = (times.sent, times.head, times.ended);
    raw.end = end(entry, status, times.unfinished);
    raw.vantage = job.vantage;
    raw.from_cache = entry.from_cache.text().is_some_and(|cache| !cache.is_empty() && cache != "false");
    raw.at = address(entry, job, at);
    if body::is_event_stream(entry) {
        raw.marks = events::marks(entry, raw.response_body.bytes().len());
        raw.recorded_events = events::messages(entry).unwrap_or_default();
        let sanitised = !raw.recorded_events.is_empty() && raw.recorded_events.iter().all(|event| event.data.is_none());
        if sanitised && let RawBody::NotCaptured(why) = &mut raw.response_body {
            *why = Missing::Sanitised;
        }
    }
    if relevance::is_rpc_without_http(entry) {
        dress_down(entry, &mut raw);
    }

    let mut traits = Traits::empty();
    let recorded = !matches!(raw.response_body, RawBody::NotCaptured(why) if why != Missing::Streamed);
    let is_stream = body::is_event_stream(entry) && recorded;
    traits.set(Traits::ZONELESS, times.sent.is_some() && times.zone.is_none());
    traits.set(Traits::TIMELESS, times.sent.is_none());
    traits.set(Traits::FINE, times.fine);
    traits.set(Traits::STREAM, is_stream);
    traits.set(Traits::EMPTY_STREAM, is_stream && raw.response_body.bytes().is_empty());
    traits.set(Traits::NO_RECEIVE, response.present && entry.timings.receive.number() == Some(0.0));
    traits.set(Traits::GUESSED_BASE64, notes.guessed_base64);
    traits.set(Traits::OVER_LIMIT, notes.over_limit || is_over(&raw.request_body, limit));
    traits.set(Traits::REDACTED, is_redacted(&request.headers) || is_redacted(&response.headers));
    Some(Made { raw, traits, zone: times.zone })
}

fn is_over(body: &RawBody<'_>, limit: usize) -> bool {
    matches!(body, RawBody::Cut(bytes, Missing::SizeLimit) if bytes.len() >= limit)
}

/// The status; none for 0, -1 and whatever else is no status.
fn status(entry: &Entry<'_>) -> Option<u16> {
    let number = entry.response.status.number().filter(|n| (100.0..1000.0).contains(n))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in 100..1000")]
    Some(number as u16)
}

fn end(entry: &Entry<'_>, status: Option<u16>, unfinished: bool) -> End {
    let failed = status.is_none() || body::is_fault(entry, status);
    if !entry.response.present || !(unfinished || failed) {
        return End::Unknown;
    }
    // Browsers say of an aborted exchange that the page aborted it; any other failure came over the network.
    let by_page = ["ERR_ABORTED", "NS_BINDING_ABORTED"]
        .iter()
        .any(|word| entry.response.error.text().is_some_and(|t| t.contains(word)));
    End::Abrupt(if by_page { Side::Client } else { Side::Unknown })
}

/// A header that decides sessions or cursors holds the placeholder of Dev Proxy.
fn is_redacted(headers: &[Pair<'_>]) -> bool {
    ["mcp-session-id", "last-event-id"].iter().any(|name| {
        relevance::value(headers, name).is_some_and(|value| matches!(value.trim(), "REDACTED" | "[REDACTED]"))
    })
}

/// Where the entry stands, with its server and its connection.
fn address(entry: &Entry<'_>, job: &Job<'_>, mut at: Address) -> Address {
    let url = entry.request.url.text_or_empty();
    let url_port = port(&url);
    let key = job.context.key;
    let server = entry.server_address.text().filter(|address| !address.is_empty());
    if let Some(server) = server {
        let address = server.trim_start_matches('[').trim_end_matches(']');
        let port = entry.server_port.text().filter(|p| p != "0" && p != "-1").unwrap_or(Cow::Borrowed(url_port));
        at.server = Some(key.hash(b'a', format!("{address}:{port}").as_bytes()));
    }
    // Browsers write the server's port where the format wants a connection's id.
    let connection =
        entry.connection.text().filter(|c| c != url_port && !matches!(c.as_ref(), "" | "0" | "80" | "443"));
    let connection = entry.connection_id.text().filter(|c| !matches!(c.as_ref(), "" | "0")).or(connection);
    at.connection = connection.map(|id| key.hash(b'a', id.as_bytes()));
    at
}

/// The port of an absolute URL, written out or by its scheme.
fn port(url: &str) -> &str {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.rsplit_once(':') {
        Some((before, port)) if !port.is_empty() && (!before.contains(':') || before.ends_with(']')) => port,
        _ if scheme.eq_ignore_ascii_case("https") => "443",
        _ => "80",
    }
}

/// Undoes the costume of mcpsnoop: a call and its answer, written as `POST mcp://server/method[/tool]` with the
/// parameters alone as request and the result or the error alone as response.
fn dress_down(entry: &Entry<'_>, raw: &mut RawExchange<'_>) {
    let url = raw.url.clone();
    let path = url.split_once("://").map_or(url.as_ref(), |(_, rest)| rest);
    let path = path.split_once('/').map_or(path, |(_, path)| path);
    let method = match path.find("tools/call/") {
        Some(found) => &path[found..found + "tools/call".len()],
        None => path,
    };
    // The recorder keeps no ids; where the entry stands is as good as one.
    let id = raw.at.offset.unwrap_or_else(|| raw.at.entry.into());
    let object = |members: &[(&[u8], &[u8])]| {
        let mut text = format!(r#"{{"jsonrpc":"2.0","id":{id}"#).into_bytes();
        for (name, value) in members {
            text.extend_from_slice(b",\"");
            text.extend_from_slice(name);
            text.extend_from_slice(b"\":");
            text.extend_from_slice(value);
        }
        text.push(b'}');
        RawBody::Whole(Cow::Owned(text))
    };
    let name = serde_json::to_vec(method).unwrap_or_default();
    let params = match raw.request_body.bytes() {
        b"" => Vec::new(),
        params => params.to_vec(),
    };
    raw.request_body = match params.as_slice() {
        b"" => object(&[(b"method", &name)]),
        params => object(&[(b"method", &name), (b"params", params)]),
    };
    let failed = entry.response.status.number() == Some(500.0);
    raw.response_body = match raw.response_body.bytes() {
        b"" => RawBody::NotCaptured(Missing::NotRecorded),
        answer => object(&[(if failed { b"error" } else { b"result" }, answer)]),
    };
    raw.method = Cow::Borrowed("MESSAGE");
    raw.no_headers = true;
    raw.status = None;
    raw.end = End::Unknown;
    raw.head = None;
}

#[cfg(test)]
mod tests {
    use super::port;

    #[test]
    fn the_port_is_that_of_the_url_or_of_its_scheme() {
        assert_eq!(port("http://127.0.0.1:3001/mcp"), "3001");
        assert_eq!(port("https://u:p@example.test/mcp?x=http://a:1"), "443");
        assert_eq!(port("http://[::1]/mcp"), "80");
        assert_eq!(port("http://[::1]:8080"), "8080");
    }
}
