//! The body of a request: a text, base64, form parameters that are no such thing, or nothing.

use super::{attached, decode, positive, positive_length, whole};
use crate::{
    capture::{
        RawBody,
        har::{
            Options,
            entry::{Entry, Text},
            relevance,
        },
    },
    model::Missing,
    wire::har_split::{Buffer, Scalar, Scanner},
};
use std::borrow::Cow;

/// The body of the request.
pub(in crate::capture::har) fn request<'s>(
    entry: &Entry<'s>,
    text: &'s mut Buffer,
    decoded: &'s mut Vec<u8>,
    options: &Options<'_>,
    limit: usize,
) -> RawBody<'s> {
    let request = &entry.request;
    if let Some(body) = attached(&request.file, options) {
        return body;
    }
    let cut = match request.text {
        Text::Copied { cut } => cut,
        Text::Raw(raw) => {
            text.clear();
            raw.unescape_into(text, limit).cut
        }
        Text::Absent => return without_text(entry),
    };
    if text.is_empty() {
        if request.params.is_present()
            && let RawBody::Whole(body) = without_text(entry)
            && !body.is_empty()
        {
            return RawBody::Whole(body);
        }
        let claimed =
            positive(&request.body_size) || positive_length(relevance::value(&request.headers, "content-length"));
        return if claimed { RawBody::NotCaptured(Missing::NotRecorded) } else { RawBody::EMPTY };
    }
    if request.encoding.raw().is_some_and(|e| e.is("base64")) {
        return if decode(text, decoded) { whole(decoded, cut) } else { RawBody::NotCaptured(Missing::Undecodable) };
    }
    whole(text, cut)
}

/// A request without text: a whole JSON text that was taken for the name of a form field, or nothing.
fn without_text<'s>(entry: &Entry<'s>) -> RawBody<'s> {
    let request = &entry.request;
    let mut json = None;
    if let Scalar::Nested(params) = request.params {
        let _ = Scanner::new(params, 0).array(|scanner| {
            if scanner.peek() != Some(b'{') {
                return scanner.skip();
            }
            let (mut name, mut value) = (None, None);
            scanner.object(|scanner, key| {
                match key {
                    b"name" => name = scanner.scalar()?.raw(),
                    b"value" => value = scanner.scalar()?.raw(),
                    _ => scanner.skip()?,
                }
                Ok(())
            })?;
            if let Some(name) = name.filter(|n| n.as_written().starts_with(b"{") || n.as_written().starts_with(b"["))
                && json.is_none()
            {
                let mut text = name.bytes().into_owned();
                // A form parser splits at the first `=`.
                if let Some(value) = value.filter(|value| !value.is_empty()) {
                    text.push(b'=');
                    text.extend_from_slice(&value.bytes());
                }
                json = Some(text);
            }
            Ok(())
        });
    }
    if let Some(text) = json {
        return RawBody::Whole(Cow::Owned(text));
    }
    let zero = |scalar: &Scalar<'_>| scalar.number() == Some(0.0);
    let bodiless = request.method.raw().is_some_and(|m| m.is("GET") || m.is("DELETE"));
    let length = relevance::value(&request.headers, "content-length");
    if (bodiless || zero(&request.body_size)) && !positive(&request.body_size) && !positive_length(length) {
        return RawBody::EMPTY;
    }
    RawBody::NotCaptured(Missing::NotRecorded)
}
