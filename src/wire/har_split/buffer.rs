//! A buffer that JSON strings are unescaped into, in whole words, over and over.

use super::{
    Fault,
    marks::{SPAN, mask, plain_end},
    string::{SHORT, escape},
};
use std::ops::Deref;

/// How many bytes are copied at once, wanted or not.
const STRIDE: usize = 32;

/// What one round of [`Buffer::unescape`] may write or read beyond what it needs.
const SLACK: usize = SPAN + STRIDE;

/// Bytes that were written so far, in an allocation that is never given back or cleared.
#[derive(Debug, Default)]
pub struct Buffer {
    /// Its bytes beyond `length` mean nothing.
    bytes: Vec<u8>,
    length: usize,
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl Buffer {
    /// An empty buffer that takes a string of so many bytes without growing.
    pub(super) fn with_room(length: usize) -> Self {
        Self { bytes: vec![0; length + SPAN + SLACK], length: 0 }
    }

    /// What was written.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.truncate(self.length);
        self.bytes
    }

    /// Forgets what was written.
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Keeps the first `length` bytes only.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Writes bytes.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.reserve(bytes.len());
        let end = self.length + bytes.len();
        if let Some(room) = self.bytes.get_mut(self.length..end) {
            room.copy_from_slice(bytes);
            self.length = end;
        }
    }

    /// Makes room for so many bytes more.
    #[inline]
    fn reserve(&mut self, more: usize) {
        if self.bytes.len() - self.length < more {
            self.bytes.resize((self.length + more).max(2 * self.bytes.len()).max(4096), 0);
        }
    }

    /// Writes the value of a string whose text, without the opening quote, begins at `at`, and returns where it ended:
    /// at its closing quote, or at the text's end. At most `limit` bytes and a little more are written.
    ///
    /// # Errors
    ///
    /// An escape is malformed or a control character stands in the string.
    pub(super) fn unescape(&mut self, text: &[u8], mut at: usize, limit: usize) -> Result<usize, Fault> {
        while self.length < limit {
            let Some(window) = text.get(at..).and_then(<[u8]>::first_chunk) else {
                return self.unescape_slowly(text, at);
            };
            self.reserve(SPAN + SLACK);
            let Some(room) = self.bytes.get_mut(self.length..).and_then(<[u8]>::first_chunk_mut) else { break };
            let round = round(window, room);
            self.length += round.written;
            at += round.read;
            if !round.stopped {
                continue;
            }
            match text.get(at) {
                None | Some(b'"') => return Ok(at),
                Some(b'\\') => {
                    let (length, meaning) = escape(text, at)?;
                    self.extend(meaning.encode_utf8(&mut [0; 4]).as_bytes());
                    at += length;
                }
                Some(_) => return Err(Fault::invalid(at, "a control character inside a string")),
            }
        }
        Ok(at)
    }

    /// As [`Buffer::unescape`], byte by byte, near the text's end.
    fn unescape_slowly(&mut self, text: &[u8], mut at: usize) -> Result<usize, Fault> {
        loop {
            let end = plain_end(text, at);
            self.extend(text.get(at..end).unwrap_or_default());
            match text.get(end) {
                None | Some(b'"') => return Ok(end),
                Some(b'\\') => {
                    let (length, meaning) = escape(text, end)?;
                    self.extend(meaning.encode_utf8(&mut [0; 4]).as_bytes());
                    at = end + length;
                }
                Some(_) => return Err(Fault::invalid(end, "a control character inside a string")),
            }
        }
    }
}

/// What one round has done.
struct Round {
    read: usize,
    written: usize,
    /// It stopped before something that is neither plain text nor a short escape.
    stopped: bool,
}

/// Unescapes the first [`SPAN`] bytes of a window, as far as they are plain text and short escapes.
#[inline]
fn round(window: &[u8; SLACK], room: &mut [u8; SPAN + SLACK]) -> Round {
    let mut marks = window.first_chunk().map_or(0, mask);
    // Where text that is not copied yet begins, and where it goes.
    let (mut from, mut to) = (0, 0);
    while marks != 0 {
        let mark = marks.trailing_zeros() as usize;
        copy(window, from, mark, room, to);
        to += mark - from;
        let short = SHORT[window[mark + 1] as usize];
        if window[mark] != b'\\' || short == 0 {
            return Round { read: mark, written: to, stopped: true };
        }
        room[to] = short;
        to += 1;
        from = mark + 2;
        // The letter is spoken for, even where it looks like a mark itself.
        marks &= (marks - 1) & !(2 << mark);
    }
    copy(window, from, SPAN, room, to);
    Round { read: from.max(SPAN), written: to + SPAN.saturating_sub(from), stopped: false }
}

/// Copies `window[from..end]` to `room[to..]`, and more behind it that is to be overwritten.
#[inline]
fn copy(window: &[u8; SLACK], mut from: usize, end: usize, room: &mut [u8; SPAN + SLACK], mut to: usize) {
    while from < end {
        let (Some(source), Some(target)) = (
            window.get(from..).and_then(<[u8]>::first_chunk::<STRIDE>),
            room.get_mut(to..).and_then(<[u8]>::first_chunk_mut::<STRIDE>),
        ) else {
            return;
        };
        *target = *source;
        (from, to) = (from + STRIDE, to + STRIDE);
    }
}
