//! Which entries may be MCP, told by method, headers and media types before any body is looked into.
//!
//! The rule is generous: what it lets pass is judged again with the body at hand.

use super::entry::{Entry, Text};
use crate::wire::har_split::{Pair, RawString};

/// The entry may be MCP, as far as it has been read.
pub(super) fn may_be_mcp(entry: &Entry<'_>) -> bool {
    let (request, response) = (&entry.request, &entry.response);
    if is_rpc_without_http(entry) {
        return true;
    }
    let Some(method) = request.method.raw() else { return false };
    let answers_events = contains(response.mime.raw(), b"event-stream")
        || contains(value(&response.headers, "content-type"), b"event-stream");
    if method.is("POST") {
        let answers_json = is_json(response.mime.raw()) || is_json(value(&response.headers, "content-type"));
        answers_events || answers_json || sends_json(entry)
    } else if method.is("GET") {
        answers_events
            || contains(value(&request.headers, "accept"), b"event-stream")
            || has(&request.headers, "mcp-session-id")
            || has(&request.headers, "last-event-id")
            || (request.headers.is_empty() && response.mime.raw().is_none_or(|mime| mime.is_empty()))
    } else {
        method.is("DELETE") && (request.headers.is_empty() || has(&request.headers, "mcp-session-id"))
    }
}

/// JSON-RPC that was recorded without HTTP and dressed up as HTTP.
pub(super) fn is_rpc_without_http(entry: &Entry<'_>) -> bool {
    entry.request.http_version.raw().is_some_and(|version| version.is("JSON-RPC/2.0"))
}

/// A media type of JSON.
pub(super) fn is_json(mime: Option<RawString<'_>>) -> bool {
    contains(mime, b"json")
}

/// The request's body is or may be JSON.
fn sends_json(entry: &Entry<'_>) -> bool {
    let request = &entry.request;
    if is_json(request.mime.raw()) || is_json(value(&request.headers, "content-type")) {
        return true;
    }
    match request.text {
        // An unflagged or mislabelled body still begins like JSON.
        Text::Raw(text) => matches!(text.as_written().trim_ascii_start().first(), Some(b'{' | b'[')),
        Text::Copied { .. } => true,
        Text::Absent => {
            let mime = request.mime.raw().or(value(&request.headers, "content-type"));
            mime.is_none_or(|mime| mime.is_empty()) || request.file.is_present()
        }
    }
}

/// The first value of a header.
pub(super) fn value<'t>(headers: &[Pair<'t>], name: &str) -> Option<RawString<'t>> {
    headers.iter().find(|(n, _)| n.is(name)).map(|(_, value)| *value)
}

fn has(headers: &[Pair<'_>], name: &str) -> bool {
    value(headers, name).is_some()
}

/// The text holds `part`, in any case of letters.
pub(super) fn contains(text: Option<RawString<'_>>, part: &[u8]) -> bool {
    text.is_some_and(|text| text.as_written().windows(part.len()).any(|window| window.eq_ignore_ascii_case(part)))
}
