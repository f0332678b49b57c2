//! Which entries may be MCP, told by method, headers and media types before any body is looked into.
//!
//! The rule is generous: what it lets pass is judged again with the body at hand.

use super::entry::{Entry, Text};
use crate::wire::har_split::{Pair, Scalar};
use memchr::memmem;

/// The entry may be MCP, as far as it has been read.
pub(super) fn may_be_mcp(entry: &Entry<'_>) -> bool {
    let (request, response) = (&entry.request, &entry.response);
    if is_rpc_without_http(entry) {
        return true;
    }
    let Some(method) = request.method.raw() else { return false };
    let answers_events = is_of_type(&response.mime, &response.headers, b"event-stream");
    if method.is("POST") {
        answers_events || is_of_type(&response.mime, &response.headers, b"json") || sends_json(entry)
    } else if method.is("GET") {
        answers_events
            || value(&request.headers, "accept").is_some_and(|accept| contains(accept.as_bytes(), b"event-stream"))
            || value(&request.headers, "mcp-session-id").is_some()
            || value(&request.headers, "last-event-id").is_some()
            || (request.headers.is_blank() && !names_a_type(&response.mime))
    } else {
        method.is("DELETE") && (request.headers.is_blank() || value(&request.headers, "mcp-session-id").is_some())
    }
}

/// JSON-RPC that was recorded without HTTP and dressed up as HTTP.
pub(super) fn is_rpc_without_http(entry: &Entry<'_>) -> bool {
    entry.request.http_version.raw().is_some_and(|version| version.is("JSON-RPC/2.0"))
}

/// The request's body is or may be JSON.
fn sends_json(entry: &Entry<'_>) -> bool {
    let request = &entry.request;
    if is_of_type(&request.mime, &request.headers, b"json") {
        return true;
    }
    match request.text {
        // An unflagged or mislabelled body still begins like JSON.
        Text::Raw(text) => matches!(text.as_written().trim_ascii_start().first(), Some(b'{' | b'[')),
        Text::Copied { .. } => true,
        Text::Absent => {
            let untold = !names_a_type(&request.mime) && value(&request.headers, "content-type").is_none();
            let in_params = matches!(request.params, Scalar::Nested(list) if memmem::find(list, b"\"{").is_some());
            untold || in_params || request.file.is_present()
        }
    }
}

/// The recorder or a header says that the media type is or ends in `part`.
pub(super) fn is_of_type(mime: &Scalar<'_>, headers: &[Pair<'_>], part: &[u8]) -> bool {
    mime.raw().is_some_and(|mime| contains(mime.as_written(), part))
        || value(headers, "content-type").is_some_and(|kind| contains(kind.as_bytes(), part))
}

fn names_a_type(mime: &Scalar<'_>) -> bool {
    mime.raw().is_some_and(|mime| !mime.is_empty() && !mime.is("x-unknown"))
}

/// The first value of a header.
pub(super) fn value<'h>(headers: &'h [Pair<'_>], name: &str) -> Option<&'h str> {
    headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_ref())
}

/// The text holds `part`, in any case of letters.
fn contains(text: &[u8], part: &[u8]) -> bool {
    let Some((first, rest)) = part.split_first() else { return true };
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    memchr::memchr2_iter(lower, upper, text)
        .any(|at| text.get(at + 1..at + part.len()).is_some_and(|found| found.eq_ignore_ascii_case(rest)))
}
