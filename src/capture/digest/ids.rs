//! Session ids, cursors and event ids: from header and field text to hash, counter and shape.

use crate::{
    model::{Cursor, EventId, SessionId, Shape},
    redact::Key,
};
use base64::Engine as _;
use std::sync::Arc;

/// The longest event id that fits a header of common servers.
pub const LONGEST_ID: usize = 4096;

/// An event id taken apart: the text without its counter in up to two pieces, the counter, and what names a stream.
struct Parts<'t> {
    shape: Shape,
    space: (&'t [u8], &'t [u8]),
    counter: Option<u32>,
    stream: Option<&'t [u8]>,
}

/// A canonical decimal that a counter can hold.
fn counter(digits: &[u8]) -> Option<u32> {
    let canonical = digits == b"0" || digits.first().is_some_and(|b| (b'1'..=b'9').contains(b));
    let number: u32 = canonical.then(|| std::str::from_utf8(digits).ok()?.parse().ok())??;
    (number < u32::MAX).then_some(number)
}

fn is_uuid(text: &[u8]) -> bool {
    text.len() == 36
        && text
            .iter()
            .enumerate()
            .all(|(i, b)| if matches!(i, 8 | 13 | 18 | 23) { *b == b'-' } else { b.is_ascii_hexdigit() })
}

/// `<stream>_<13 digits>_<1 to 10 base-36 digits>`: gives the stream.
fn stamped(text: &[u8]) -> Option<&[u8]> {
    let last = memchr::memrchr(b'_', text)?;
    let random = &text[last + 1..];
    let middle = memchr::memrchr(b'_', &text[..last])?;
    let millis = &text[middle + 1..last];
    let fits = (1..=10).contains(&random.len())
        && random.iter().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase())
        && millis.len() == 13
        && millis.iter().all(u8::is_ascii_digit);
    fits.then(|| &text[..middle])
}

/// `base64:base64:<digits>`: gives what stands before the digits, and the session's part.
fn colons(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let last = memchr::memrchr(b':', text)?;
    let first = memchr::memchr(b':', text).filter(|f| *f < last)?;
    let coded = |part: &[u8]| part.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='));
    let fits = coded(&text[..first]) && coded(&text[first + 1..last]) && counter(&text[last + 1..]).is_some();
    fits.then(|| (&text[..=last], &text[..first]))
}

fn take_apart(text: &[u8]) -> Parts<'_> {
    let whole = |shape, stream| Parts { shape, space: (text, &[]), counter: None, stream };
    let digits = text.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let (prefix, suffix) = text.split_at(text.len() - digits);
    let number = counter(suffix);
    if let Some(stream) = stamped(text) {
        return whole(Shape::Stamp, Some(stream));
    }
    if prefix.is_empty() {
        return match number {
            Some(_) => Parts { shape: Shape::Decimal, space: (&[], &[]), counter: number, stream: None },
            None => whole(Shape::Opaque, None),
        };
    }
    if let Some(slash) = memchr::memchr(b'/', text)
        && slash + 1 == prefix.len()
        && number.is_some()
        && let Some(index) = counter(&text[..slash])
    {
        return Parts {
            shape: Shape::Slash,
            space: (&[], &text[slash..]),
            counter: Some(index),
            stream: Some(&text[slash..]),
        };
    }
    if text.len() == 73 && text[36] == b'_' && is_uuid(&text[..36]) && is_uuid(&text[37..]) {
        return whole(Shape::Uuids, Some(&text[..36]));
    }
    if is_uuid(text) || number.is_none() {
        return whole(Shape::Opaque, None);
    }
    if colons(text).is_some() {
        return Parts { shape: Shape::Colon, space: (prefix, &[]), counter: number, stream: Some(prefix) };
    }
    if prefix.last() == Some(&b'_') {
        return Parts { shape: Shape::Go, space: (prefix, &[]), counter: number, stream: Some(prefix) };
    }
    // A counter at the end of a word or behind a separator; the last digits of a hash are none.
    let word = prefix.len() <= 12 && prefix.iter().all(u8::is_ascii_alphabetic);
    if word || prefix.last().is_some_and(|b| !b.is_ascii_alphanumeric()) {
        return Parts { shape: Shape::Suffix, space: (prefix, &[]), counter: number, stream: None };
    }
    whole(Shape::Opaque, None)
}

/// Reduces ids under one key. Keeps the last namespace, since the ids of one body mostly share it.
pub struct Ids<'k> {
    key: &'k Key,
    last: (Vec<u8>, u64),
}

impl<'k> Ids<'k> {
    /// With the run's key.
    pub fn new(key: &'k Key) -> Self {
        Self { key, last: (Vec::new(), 0) }
    }

    fn space(&mut self, parts: &Parts<'_>) -> u64 {
        // Whether a counter was taken off belongs to the name: `a_` with a counter is not the id `a_`.
        let tag = [u8::from(parts.counter.is_some()), b':'];
        let known = self.last.1 != 0
            && self.last.0.len() == 2 + parts.space.0.len() + parts.space.1.len()
            && self.last.0[..2] == tag
            && self.last.0[2..].starts_with(parts.space.0)
            && self.last.0.ends_with(parts.space.1);
        if !known {
            self.last.0.clear();
            self.last.0.reserve(2 + parts.space.0.len() + parts.space.1.len());
            for piece in [&tag, parts.space.0, parts.space.1] {
                self.last.0.extend_from_slice(piece);
            }
            self.last.1 = self.key.hash(b'c', &self.last.0);
        }
        self.last.1
    }

    /// An event id, and the hash of the part that names its stream, where its shape has one.
    pub fn event(&mut self, text: &[u8]) -> (EventId, Option<u64>) {
        let parts = take_apart(text);
        let id = EventId::new(self.space(&parts), parts.counter);
        let stream = parts.stream.map(|s| if parts.counter.is_some() { id.space } else { self.key.hash(b'n', s) });
        (id, stream)
    }

    /// The value of a `Last-Event-ID` header; none where it is empty.
    pub fn cursor(&mut self, text: &str, session: Option<&str>) -> Option<Cursor> {
        if text.is_empty() {
            return None;
        }
        let shape = take_apart(text.as_bytes()).shape;
        let (id, stream) = self.event(text.as_bytes());
        let mut normalised = Vec::new();
        for other in spellings(text) {
            let (other, _) = self.event(&other);
            if other != id && !normalised.contains(&other) {
                normalised.push(other);
            }
        }
        let names_session = colons(text.as_bytes()).and_then(|(_, session)| {
            let name = base64::engine::general_purpose::STANDARD.decode(session).ok()?;
            (!name.is_empty()).then(|| self.key.hash(b's', &name))
        });
        let is_session_id = session == Some(text);
        let text = self.key.show_ids.then(|| Arc::from(text));
        Some(Cursor { id, shape, stream, names_session, is_session_id, normalised, text })
    }

    /// The value of a session header or parameter; none where it is empty.
    pub fn session(&self, text: &str) -> Option<SessionId> {
        if text.is_empty() {
            return None;
        }
        Some(SessionId {
            hash: self.key.hash(b's', text.as_bytes()),
            bad_charset: !text.bytes().all(|b| (0x21..=0x7E).contains(&b)),
            placeholder: is_placeholder(text),
            text: self.key.show_ids.then(|| Arc::from(text)),
        })
    }
}

/// What a mangled header may have said: trimmed, without percent-encoding, or UTF-8 that was taken for Latin-1.
fn spellings(text: &str) -> Vec<Vec<u8>> {
    let mut all = vec![text.trim().as_bytes().to_vec()];
    if text.contains('%') {
        all.push(percent_decoded(text.as_bytes()));
    }
    if !text.is_ascii() && text.chars().all(|c| u32::from(c) < 256) {
        all.push(text.chars().map(|c| u32::from(c) as u8).collect());
    }
    all
}

/// Undoes percent-encoding; what is no escape stays.
pub fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let hex = (byte == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        let code = hex.and_then(|h| u8::from_str_radix(std::str::from_utf8(h).ok()?, 16).ok());
        out.push(code.unwrap_or(byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    out
}

/// A sanitiser wrote it: `REDACTED`, `[redacted]`, `***`, `xxxx`, `<session-id>`.
pub fn is_placeholder(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| !c.is_ascii_alphanumeric()).as_bytes();
    let words = ["redacted", "removed", "masked", "hidden", "sanitized", "sanitised", "filtered", "placeholder"];
    let begins = |at: usize| {
        let word = |w: &&str| bare.get(at..at + w.len()).is_some_and(|b| b.eq_ignore_ascii_case(w.as_bytes()));
        matches!(bare[at] | 0x20, b'r' | b'm' | b'h' | b's' | b'f' | b'p') && words.iter().any(word)
    };
    bare.is_empty()
        || (bare.len() >= 3 && bare.iter().all(|b| b.eq_ignore_ascii_case(&b'x')))
        || (0..bare.len()).any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_known_sdks_are_taken_apart_as_they_build_them() {
        let cases: &[(&str, Shape, Option<u32>, Option<&str>)] = &[
            ("17", Shape::Decimal, Some(17), None),
            ("007", Shape::Opaque, None, None),
            ("4/0", Shape::Slash, Some(4), Some("/0")),
            ("ONXW2ZJTGQ4DKMZSGE2TINBQGE_0", Shape::Go, Some(0), Some("ONXW2ZJTGQ4DKMZSGE2TINBQGE_")),
            ("_7", Shape::Go, Some(7), Some("_")),
            ("czE=:Mg==:3", Shape::Colon, Some(3), Some("czE=:Mg==:")),
            ("_GET_stream_1755543210123_k3j9x0ab", Shape::Stamp, None, Some("_GET_stream")),
            ("9b2d4c1e-0000-4000-8000-000000000012", Shape::Opaque, None, None),
            ("event-12", Shape::Suffix, Some(12), None),
            ("a0", Shape::Suffix, Some(0), None),
            ("3f9a8812", Shape::Opaque, None, None),
        ];
        for (text, shape, counter, stream) in cases {
            let parts = take_apart(text.as_bytes());
            assert_eq!((parts.shape, parts.counter), (*shape, *counter), "{text}");
            assert_eq!(parts.stream.map(|s| String::from_utf8_lossy(s).into_owned()).as_deref(), *stream, "{text}");
        }
    }

    #[test]
    fn two_ids_are_equal_only_if_their_texts_are() {
        let key = Key::new(None, false);
        let mut ids = Ids::new(&key);
        let texts = ["1", "01", "1/1", "1/2", "2/1", "a1", "a_1", "a_", "_1", "a1_1", "x:y:1", "event-1", "event-01"];
        let all: std::collections::HashSet<EventId> = texts.iter().map(|t| ids.event(t.as_bytes()).0).collect();
        assert_eq!(all.len(), texts.len());
        assert_eq!(ids.event(b"a_1"), ids.event(b"a_1"));
    }
}
