//! HTTP/2 frames (RFC 9113): their headers, and what padding and priority leave of their payloads.

use std::ops::Range;

/// Length of a frame's header.
pub const HEADER: usize = 9;

/// The kinds of frames that matter here.
pub mod kind {
    /// Bytes of a body.
    pub const DATA: u8 = 0;
    /// The beginning of a header block.
    pub const HEADERS: u8 = 1;
    /// One stream is dropped.
    pub const RST_STREAM: u8 = 3;
    /// Parameters of the connection.
    pub const SETTINGS: u8 = 4;
    /// The header block of a request that the server makes up.
    pub const PUSH_PROMISE: u8 = 5;
    /// A sign of life.
    pub const PING: u8 = 6;
    /// The connection takes no more streams.
    pub const GOAWAY: u8 = 7;
    /// More may be sent.
    pub const WINDOW_UPDATE: u8 = 8;
    /// More of a header block.
    pub const CONTINUATION: u8 = 9;
}

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;
const PRIORITY: u8 = 0x20;

/// A frame's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHead {
    /// Length of the payload.
    pub length: usize,
    /// What it is.
    pub kind: u8,
    /// The stream that it belongs to; 0 for the connection.
    pub stream: u32,
    flags: u8,
}

impl FrameHead {
    /// Reads a header.
    pub fn read(bytes: &[u8; HEADER]) -> Self {
        let [a, b, c, kind, flags, s0, s1, s2, s3] = *bytes;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        Self { length, kind, flags, stream: u32::from_be_bytes([s0, s1, s2, s3]) & 0x7fff_ffff }
    }

    /// The sender sends nothing more on the stream.
    pub fn ends_stream(&self) -> bool {
        matches!(self.kind, kind::DATA | kind::HEADERS) && self.flags & END_STREAM != 0
    }

    /// The header block is whole with this frame.
    pub fn ends_headers(&self) -> bool {
        self.flags & END_HEADERS != 0
    }

    /// The payload begins with the length of its padding.
    pub fn is_padded(&self) -> bool {
        matches!(self.kind, kind::DATA | kind::HEADERS | kind::PUSH_PROMISE) && self.flags & PADDED != 0
    }

    /// Where in a payload the part of the header block stands; none where the frame contradicts itself.
    pub fn block(&self, payload: &[u8]) -> Option<Range<usize>> {
        let (mut start, mut end) = (0, payload.len());
        if self.is_padded() {
            start = 1;
            end = end.checked_sub(usize::from(*payload.first()?))?;
        }
        start += match self.kind {
            kind::HEADERS if self.flags & PRIORITY != 0 => 5,
            kind::PUSH_PROMISE => 4,
            _ => 0,
        };
        (start <= end).then_some(start..end)
    }

    /// The header could be one: of a known kind, with a length and a stream that this kind may have.
    fn is_plausible(&self) -> bool {
        let on_stream = self.stream != 0;
        self.length <= 1 << 14
            && match self.kind {
                kind::DATA | kind::HEADERS | kind::CONTINUATION | kind::PUSH_PROMISE => on_stream,
                2 => on_stream && self.length == 5,
                kind::RST_STREAM => on_stream && self.length == 4,
                kind::SETTINGS => !on_stream && self.length.is_multiple_of(6),
                kind::PING => !on_stream && self.length == 8,
                kind::GOAWAY => !on_stream && self.length >= 8,
                kind::WINDOW_UPDATE => self.length == 4,
                _ => false,
            }
    }
}

/// Whether frames begin here: one at least is whole, and none contradicts that.
pub fn like_frames(bytes: &[u8]) -> bool {
    let mut frames = Frames(bytes);
    frames.next().is_some() && frames.all(|(head, _)| head.is_plausible()) && like_head(bytes)
}

fn like_head(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|head| FrameHead::read(head).is_plausible())
}

/// Which side sent these frames, if one of them begins a request or a response whose first field is in the static
/// table: true for the client.
pub fn sender(bytes: &[u8]) -> Option<bool> {
    if !like_frames(bytes) {
        return None;
    }
    let (head, payload) = Frames(bytes).find(|(head, _)| head.kind == kind::HEADERS)?;
    let block = payload.get(head.block(payload)?)?;
    // `:method` is index 2 and 3, `:status` 8 to 14, as whole fields or as names of literals.
    match block.first()? {
        0x82 | 0x83 | 0x42 | 0x43 | 0x02 | 0x03 | 0x12 | 0x13 => Some(true),
        0x88..=0x8e | 0x48..=0x4e | 0x08..=0x0e | 0x18..=0x1e => Some(false),
        _ => None,
    }
}

/// The whole frames at the front of some bytes.
struct Frames<'a>(&'a [u8]);

impl<'a> Iterator for Frames<'a> {
    type Item = (FrameHead, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let head = FrameHead::read(self.0.first_chunk()?);
        let (payload, behind) = self.0.get(HEADER..)?.split_at_checked(head.length)?;
        self.0 = behind;
        Some((head, payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        [&[0, 0, payload.len() as u8, kind, flags, 0, 0, 0, stream][..], payload].concat()
    }

    #[test]
    fn padding_and_priority_are_no_part_of_the_block() {
        let bytes = frame(kind::HEADERS, END_HEADERS | END_STREAM | PADDED | PRIORITY, 3, b"\x02PPPPPblock\0\0");
        let head = FrameHead::read(bytes.first_chunk().expect("nine bytes"));
        assert_eq!((head.length, head.stream, head.ends_stream(), head.ends_headers()), (13, 3, true, true));
        let payload = &bytes[HEADER..];
        assert_eq!(head.block(payload).map(|range| &payload[range]), Some(&b"block"[..]));
        assert_eq!(head.block(b"\x0a12345678"), None);
        assert_eq!(head.block(b""), None);
    }

    #[test]
    fn the_sender_is_told_by_the_first_field_of_its_frames() {
        let ping = frame(kind::PING, 0, 0, &[0; 8]);
        let request = frame(kind::HEADERS, END_HEADERS, 1, &[0x83, 0x86]);
        let response = frame(kind::HEADERS, END_HEADERS, 1, &[0x88]);
        assert_eq!(sender(&[&ping[..], &request].concat()), Some(true));
        assert_eq!(sender(&[&response[..], b"\0\0\xffcut"].concat()), Some(false));
        assert_eq!(sender(&ping), None);
        assert_eq!(sender(&response[..9]), None);
        assert_eq!(sender(b"GET / HTTP/1.1\r\n\r\n"), None);
        assert!(like_frames(&ping) && !like_frames(&ping[1..]) && !like_frames(b""));
    }
}
