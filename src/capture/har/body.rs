//! What the absence, emptiness or text of a response's body means, for each way in which recorders lose bodies.

use super::{
    Options,
    entry::{Entry, Text},
    recorder::Kind,
    relevance,
};
use crate::{
    capture::RawBody,
    model::Missing,
    wire::har_split::{Buffer, Scalar, Scanner},
};
use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use std::borrow::Cow;

mod request;

pub(super) use request::request;

/// HTTP Toolkit leaves out bodies that are longer.
const HTTP_TOOLKIT_LIMIT: f64 = 40_960.0;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What was noticed of a body besides its content.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Notes {
    /// Base64 that nothing declared was decoded.
    pub guessed_base64: bool,
    /// The body was longer than the limit.
    pub over_limit: bool,
}

/// The body of the response, its end apart.
pub(super) fn response<'s>(
    entry: &Entry<'s>,
    status: Option<u16>,
    kind: Kind,
    unfinished: bool,
    scratch: (&'s mut Buffer, &'s mut Vec<u8>),
    options: &Options<'_>,
    limit: usize,
) -> (RawBody<'s>, Notes) {
    let response = &entry.response;
    let (text, decoded) = scratch;
    let mut notes = Notes::default();
    if !response.present {
        return (RawBody::NotCaptured(Missing::NotRecorded), notes);
    }
    if let Some(body) = attached(&response.file, options) {
        return (body, notes);
    }
    let cut = match response.text {
        Text::Copied { cut } => cut,
        Text::Raw(raw) => {
            text.clear();
            raw.unescape_into(text, limit).cut
        }
        Text::Absent => return (absent(entry, status, kind), notes),
    };
    let broken = unfinished || is_fault(entry, status);
    if text.is_empty() {
        return (empty(entry, status, kind, unfinished, broken), notes);
    }
    notes.over_limit = cut;
    let mut body: &'s [u8] = text;
    if response.encoding.raw().is_some_and(|e| e.is("base64")) {
        if !decode(text, decoded) {
            return (RawBody::NotCaptured(Missing::Undecodable), notes);
        }
        body = decoded;
    } else if is_event_stream(entry) && !has_field(body) && decode(text, decoded) && has_field(decoded) {
        notes.guessed_base64 = true;
        body = decoded;
    }
    if body.starts_with(b"\x1F\x8B") && relevance::value(&response.headers, "content-encoding").is_some() {
        return (RawBody::NotCaptured(Missing::Undecodable), notes);
    }
    let shortened = kind == Kind::Firefox
        && response.comment.raw().is_some_and(|comment| !comment.is_empty())
        && response.size.number().is_some_and(|size| size > body.len() as f64);
    let why = match () {
        () if cut || shortened => Some(Missing::SizeLimit),
        () if broken => Some(Missing::CutOff),
        () => None,
    };
    let body = Cow::Borrowed(body);
    (why.map_or(RawBody::Whole(body.clone()), |why| RawBody::Cut(body, why)), notes)
}

/// The response has no text at all.
fn absent(entry: &Entry<'_>, status: Option<u16>, kind: Kind) -> RawBody<'static> {
    let response = &entry.response;
    let Some(status) = status else { return RawBody::NotCaptured(Missing::Failed) };
    let zero = |scalar: &Scalar<'_>| scalar.number() == Some(0.0);
    let length = relevance::value(&response.headers, "content-length");
    let says_nothing = zero(&response.body_size) && length.is_some_and(|l| l.trim() == "0");
    if matches!(status, 204 | 205 | 304) || says_nothing {
        return RawBody::EMPTY;
    }
    // Recorders of events list none: an empty list, where the sizes agree, is an empty stream.
    if let Scalar::Nested(list) = entry.messages {
        let none = Scanner::new(list, 1).peek() == Some(b']');
        if none && zero(&response.size) && zero(&response.body_size) {
            return RawBody::EMPTY;
        }
    }
    if kind == Kind::HttpToolkit && response.size.number().is_some_and(|size| size > HTTP_TOOLKIT_LIMIT) {
        return RawBody::NotCaptured(Missing::SizeLimit);
    }
    RawBody::NotCaptured(Missing::NotRecorded)
}

/// The response has a text of no length.
fn empty(entry: &Entry<'_>, status: Option<u16>, kind: Kind, unfinished: bool, broken: bool) -> RawBody<'static> {
    let response = &entry.response;
    if unfinished {
        return RawBody::NotCaptured(Missing::Streamed);
    }
    if status.is_none() || is_blocked(entry) {
        return RawBody::NotCaptured(Missing::Failed);
    }
    let head_only = entry.request.method.raw().is_some_and(|m| m.is("HEAD")) || matches!(status, Some(204 | 205 | 304));
    // mitmproxy counts coded bytes, and nothing, gzipped, is twenty of them.
    let coded = relevance::value(&response.headers, "content-encoding").is_some();
    let size = response.size.number().unwrap_or(0.0);
    let claimed = size > if coded { 64.0 } else { 0.0 }
        || (!coded && positive_length(relevance::value(&response.headers, "content-length")));
    if claimed && !head_only {
        let limit = kind == Kind::HttpToolkit && size > HTTP_TOOLKIT_LIMIT;
        return RawBody::NotCaptured(if limit { Missing::SizeLimit } else { Missing::NotRecorded });
    }
    if broken { RawBody::Cut(Cow::Borrowed(&[]), Missing::CutOff) } else { RawBody::EMPTY }
}

/// The recorder says that the exchange failed, and it did.
///
/// A page that never reads the empty body of a 202 aborts it: that is no fault.
pub(super) fn is_fault(entry: &Entry<'_>, status: Option<u16>) -> bool {
    let Some(error) = entry.response.error.raw().filter(|error| !error.is_empty()) else { return false };
    let unread = error.is("net::ERR_ABORTED")
        && status.is_some_and(|status| (200..300).contains(&status))
        && !is_event_stream(entry)
        && !relevance::is_of_type(&entry.response.mime, &[], b"json");
    !unread
}

/// The browser hid the answer from the page, and from the recorder.
fn is_blocked(entry: &Entry<'_>) -> bool {
    let mime = entry.response.mime.raw();
    let unknown = mime.is_none_or(|mime| mime.is_empty() || mime.is("x-unknown") || mime.is("application/x-unknown"));
    unknown && entry.response.error.raw().is_some_and(|error| error.is("net::ERR_FAILED"))
}

/// The response is an event stream.
pub(super) fn is_event_stream(entry: &Entry<'_>) -> bool {
    let response = &entry.response;
    relevance::is_of_type(&response.mime, &response.headers, b"event-stream")
}

/// A body that stands in a file of its own.
fn attached(file: &Scalar<'_>, options: &Options<'_>) -> Option<RawBody<'static>> {
    let name = file.text().filter(|name| !name.is_empty())?;
    let bytes = options.member.and_then(|member| member(&name));
    Some(bytes.map_or(RawBody::NotCaptured(Missing::NotRecorded), |bytes| RawBody::Whole(Cow::Owned(bytes))))
}

fn whole(bytes: &[u8], cut: bool) -> RawBody<'_> {
    let bytes = Cow::Borrowed(bytes);
    if cut { RawBody::Cut(bytes, Missing::SizeLimit) } else { RawBody::Whole(bytes) }
}

fn positive(size: &Scalar<'_>) -> bool {
    size.number().is_some_and(|size| size > 0.0)
}

fn positive_length(length: Option<&str>) -> bool {
    length.and_then(|length| length.trim().parse().ok()).is_some_and(|length: u64| length > 0)
}

/// Decodes base64, blanks and line breaks allowed; false where it is none.
fn decode(text: &[u8], out: &mut Vec<u8>) -> bool {
    out.clear();
    if text.iter().any(u8::is_ascii_whitespace) {
        let packed: Vec<u8> = text.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
        return BASE64.decode_vec(packed, out).is_ok();
    }
    BASE64.decode_vec(text, out).is_ok()
}

/// A line of the text is a field or comment of an event stream.
fn has_field(text: &[u8]) -> bool {
    text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).split(|b| matches!(b, b'\n' | b'\r')).any(|line| {
        line.starts_with(b":")
            || [&b"data"[..], b"event", b"id", b"retry"]
                .iter()
                .any(|field| line.strip_prefix(*field).is_some_and(|rest| rest.is_empty() || rest.starts_with(b":")))
    })
}
