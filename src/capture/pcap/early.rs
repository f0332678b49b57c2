//! The first bytes of a connection: which protocol is spoken, and who is the client.

use crate::wire::{
    http1::{Likeness, PREFACE, like_request, like_response},
    http2::sender,
    tcp::{Delivery, Part, Stamp},
};

/// Bytes that are kept until it is clear what they are.
const MOST_KEPT: usize = 64 << 10;

/// Bytes of a connection without beginning that are passed over in search of a message.
const LONGEST_SEARCH: u64 = 16 << 20;

/// What tells that bytes without head were of an event stream or of JSON-RPC.
const SIGNS: [&[u8]; 3] = [b"\ndata:", b"\nid:", b"\"jsonrpc\""];

/// What a connection turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Not yet clear.
    Unclear,
    /// HTTP/1; the direction of the requests.
    Http1(usize),
    /// HTTP/2 without TLS; the direction of the requests.
    Http2(usize),
    /// TLS.
    Tls,
    /// Nothing that is read here.
    Other,
}

/// A stretch that was kept.
pub struct Kept {
    /// The direction.
    pub direction: usize,
    /// Where it stands in the stream.
    pub offset: i64,
    /// Its bytes.
    pub bytes: Box<[u8]>,
    /// The packet that carried it.
    pub own: Stamp,
    /// The packet after which it could be read.
    pub ready: Stamp,
}

/// A connection of which it is not clear yet what it carries.
#[derive(Default)]
pub struct Early {
    /// What was kept, in order.
    pub kept: Vec<Kept>,
    kept_bytes: usize,
    passed: u64,
    /// What was passed over looks like the events or messages of an exchange whose head is not in the capture.
    pub missed: bool,
    /// Something at the beginning was lost.
    pub is_torn: bool,
}

impl Early {
    /// Looks at the next stretch. `opener` is the direction that opened the connection, where the capture holds that.
    pub fn look(&mut self, direction: usize, delivery: &Delivery<'_>, opener: Option<usize>) -> Verdict {
        let bytes = match delivery.part {
            Part::Hole(_) | Part::Cut(_) => {
                self.is_torn = true;
                return Verdict::Unclear;
            }
            Part::Bytes(bytes) => bytes,
        };
        let verdict = if opener.is_some() && !self.is_torn {
            self.begins(direction, bytes, opener == Some(direction))
        } else {
            appears(direction, bytes)
        };
        if verdict == Verdict::Other || (verdict == Verdict::Unclear && (self.is_torn || opener.is_none())) {
            self.passed = self.passed.saturating_add(bytes.len() as u64);
            self.missed |= SIGNS.iter().any(|sign| memchr::memmem::find(bytes, sign).is_some());
            return if verdict == Verdict::Other || self.passed > LONGEST_SEARCH { Verdict::Other } else { verdict };
        }
        if verdict == Verdict::Unclear {
            self.kept_bytes += bytes.len() + size_of::<Kept>();
            let Delivery { offset, own, ready, .. } = *delivery;
            self.kept.push(Kept { direction, offset, bytes: bytes.into(), own, ready });
            if self.kept_bytes > MOST_KEPT {
                return Verdict::Other;
            }
        }
        verdict
    }

    /// The verdict where the stream is known from its first byte.
    fn begins(&self, direction: usize, bytes: &[u8], is_opener: bool) -> Verdict {
        let joined;
        let bytes = if self.kept.iter().any(|k| k.direction == direction) {
            let before = self.kept.iter().filter(|k| k.direction == direction).map(|k| &k.bytes[..]);
            joined = before.chain([bytes]).collect::<Vec<_>>().concat();
            &joined[..]
        } else {
            bytes
        };
        let client = if is_opener { direction } else { 1 - direction };
        if is_tls(bytes, true) {
            return Verdict::Tls;
        }
        if is_opener && (bytes.starts_with(PREFACE) || PREFACE.starts_with(bytes)) {
            return if bytes.len() < PREFACE.len() { Verdict::Unclear } else { Verdict::Http2(client) };
        }
        match if is_opener { like_request(bytes) } else { like_response(bytes) } {
            Likeness::Yes => Verdict::Http1(client),
            Likeness::TooShort => Verdict::Unclear,
            // A server of HTTP/2 may be faster than the client's preface: its first frame is SETTINGS.
            Likeness::No if !is_opener && is_settings(bytes) => Verdict::Unclear,
            Likeness::No => Verdict::Other,
        }
    }
}

/// The verdict where the stream may have begun long before.
fn appears(direction: usize, bytes: &[u8]) -> Verdict {
    if like_request(bytes) == Likeness::Yes {
        Verdict::Http1(direction)
    } else if like_response(bytes) == Likeness::Yes {
        Verdict::Http1(1 - direction)
    } else if bytes.starts_with(PREFACE) {
        Verdict::Http2(direction)
    } else if is_tls(bytes, false) {
        Verdict::Tls
    } else {
        match sender(bytes) {
            Some(is_client) => Verdict::Http2(if is_client { direction } else { 1 - direction }),
            None => Verdict::Unclear,
        }
    }
}

/// A TLS record; at the beginning of a connection, one of the handshake.
fn is_tls(bytes: &[u8], is_first: bool) -> bool {
    match *bytes {
        [kind, 3, 0..=4, high, _, ..] => {
            let known = if is_first { kind == 0x16 } else { (0x14..=0x17).contains(&kind) };
            known && high <= 0x48
        }
        _ => false,
    }
}

/// An HTTP/2 SETTINGS frame on stream 0.
fn is_settings(bytes: &[u8]) -> bool {
    matches!(bytes, [0, 0, length, 4, 0 | 1, 0, 0, 0, 0, ..] if length % 6 == 0)
}
