//! Which format is it, where the file begins with JSON (or JSON in a JavaScript call)?

use super::Format;
use crate::wire::json::{Json, Kind, Malformed};

/// How many lines are looked at, where the first are foreign to the format.
const LINES: usize = 32;

/// The format of a text that begins with a JSON value; none where it does not, or where the value is of no known kind.
pub fn format(start: &[u8]) -> Option<Format> {
    match start.first()? {
        b'{' => object(start),
        b'[' => array(start),
        b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => jsonp(start).then_some(Format::Har),
        _ => None,
    }
}

/// The format of a log, of which some line within the first few is a JSON object of a known kind.
pub fn of_lines(text: &[u8]) -> Option<Format> {
    let lines = text.split(|b| *b == b'\n').take(LINES).map(<[u8]>::trim_ascii);
    lines.filter(|line| line.starts_with(b"{")).find_map(object).filter(|format| {
        // Only formats of lines may have foreign lines before.
        matches!(format, Format::AccessLog | Format::JsonRpcLines | Format::Mcpsnoop | Format::HarLines)
    })
}

/// What the first object of a file says: the names of its members, as far as the prefix goes.
#[derive(Default)]
struct Members {
    names: Vec<String>,
    /// The text of `method`, where it is one.
    method: String,
    /// `request` is an object with a URL.
    request_has_url: bool,
    complete: bool,
}

impl Members {
    fn of(start: &[u8]) -> Self {
        let mut found = Self::default();
        let mut json = Json::new(start, &[0; 16]);
        json.set_digesting(false);
        let end = json.object(|json, name| {
            let name = name.to_str().into_owned();
            let kind = json.kind();
            match (name.as_str(), kind) {
                ("request", Ok(Kind::Object)) => {
                    let _ = json.clone().object(|inner, name| {
                        found.request_has_url |= name.is("url");
                        inner.value()
                    });
                }
                ("method", Ok(Kind::String)) => {
                    found.method = json.clone().text().map(|t| t.to_str().into_owned()).unwrap_or_default();
                }
                _ => {}
            }
            if found.names.len() < 256 {
                found.names.push(name);
            }
            // A HAR is one whatever follows, and its log may be long.
            if found.has("log") { Err(Malformed { at: json.offset() }) } else { json.value() }
        });
        found.complete = end.is_ok();
        found
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|n| n == name)
    }

    fn has_all(&self, names: &[&str]) -> bool {
        names.iter().all(|n| self.has(n))
    }

    fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|n| self.has(n))
    }
}

fn object(start: &[u8]) -> Option<Format> {
    let members = Members::of(start);
    let first = members.names.first().map(String::as_str);
    if first == Some("k") && members.has_any(&["at", "endpoint", "method"]) {
        return Some(Format::Rows);
    }
    if members.has("log") {
        return Some(Format::Har);
    }
    if members.has("index") && first == Some("index") {
        return Some(Format::TsharkEk);
    }
    if members.has("layers") {
        return Some(if members.has("_source") { Format::TsharkJson } else { Format::TsharkEk });
    }
    if members.has_all(&["session_id", "direction", "seq"]) {
        return Some(Format::Mcpsnoop);
    }
    if members.has_any(&["http_buffered_trace", "http_streamed_trace_segment", "socket_buffered_trace"]) {
        return Some(Format::EnvoyTap);
    }
    if members.has_any(&["resourceSpans", "resource_spans"]) {
        return Some(Format::Otlp);
    }
    if members.has("constants") || members.has_all(&["events", "polledData"]) {
        return Some(Format::Netlog);
    }
    if members.has("interactions") || members.has("http_interactions") {
        return Some(Format::Vcr);
    }
    if members.has("jsonrpc") {
        return Some(Format::JsonRpcLines);
    }
    if members.has("method") && is_cdp(&members.method) {
        return Some(Format::CdpLog);
    }
    if members.request_has_url && members.has_any(&["startedDateTime", "response", "timings"]) {
        return Some(Format::HarLines);
    }
    if is_access(&members) {
        return Some(Format::AccessLog);
    }
    // A HAR whose `log` lies behind the prefix, as after a huge first member.
    (!members.complete && first.is_none_or(|f| f.starts_with('_'))).then_some(Format::Har)
}

fn array(start: &[u8]) -> Option<Format> {
    let inner = start[1..].trim_ascii_start();
    let members = Members::of(inner);
    if members.has_all(&["_index", "_source"]) || members.names.first().is_some_and(|n| n == "_index") {
        return Some(Format::TsharkJson);
    }
    if members.has("jsonrpc") {
        return Some(Format::JsonRpcLines);
    }
    let charles = ["status", "method", "protocolVersion"];
    if members.has_all(&charles) {
        return Some(Format::CharlesJson);
    }
    if members.has_any(&["http_buffered_trace", "http_streamed_trace_segment"]) {
        return Some(Format::EnvoyTap);
    }
    None
}

/// Events of the Chrome DevTools protocol have methods as `Network.requestWillBeSent`.
fn is_cdp(method: &str) -> bool {
    method.split_once('.').is_some_and(|(domain, name)| {
        domain.starts_with(|c: char| c.is_ascii_uppercase()) && name.starts_with(|c: char| c.is_ascii_lowercase())
    })
}

/// A log object says with what status a request ended, and what the request was.
fn is_access(members: &Members) -> bool {
    let plain: Vec<String> =
        members.names.iter().map(|n| n.to_ascii_lowercase().replace(['.', '-', '_'], "")).collect();
    let any = |needles: &[&str]| plain.iter().any(|n| needles.contains(&n.as_str()));
    let status = ["status", "statuscode", "httpstatus", "responsecode", "httpresponsestatuscode", "downstreamstatus"];
    let request = [
        "method",
        "httpmethod",
        "requestmethod",
        "httprequestmethod",
        "path",
        "uri",
        "url",
        "requesturi",
        "requestpath",
        "httppath",
        "urlpath",
        "mcpsessionid",
        "mcpmethod",
        "mcpmethodname",
        "originpath",
        "request",
        "httprequest",
    ];
    (any(&status) && any(&request)) || any(&["mcpsessionid"])
}

/// A call around a HAR: `onInputData({"log":`.
fn jsonp(start: &[u8]) -> bool {
    let name = start.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.')).count();
    let rest = start[name..].trim_ascii_start();
    name <= 128
        && rest.first() == Some(&b'(')
        && rest[1..].trim_ascii_start().first() == Some(&b'{')
        && object(rest[1..].trim_ascii_start()) == Some(Format::Har)
}
