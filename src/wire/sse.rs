//! Event streams by the WHATWG standard (HTML §9.2.6): bytes to blocks with their ranges, and the undispatched tail.
//!
//! A block is what stands between two blank lines. Whether it is dispatched as an event is said by its `data`: a block
//! without any `data` line dispatches nothing, yet its `id` moves the cursor.

use memchr::memchr2;
use std::borrow::Cow;

/// One block of an event stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block<'a> {
    /// Offset of its first byte.
    pub start: usize,
    /// Offset just behind its blank line (or the end of the body, for a tail).
    pub end: usize,
    /// Number of its first line, from 1.
    pub line: u32,
    /// The last `event` field; none or empty means `message`.
    pub event: Option<&'a [u8]>,
    /// All `data` fields joined by LF; none where there was no such field.
    pub data: Option<Cow<'a, [u8]>>,
    /// The last usable `id` field; an empty one resets the cursor.
    pub id: Option<&'a [u8]>,
    /// An `id` field held U+0000 and was ignored.
    pub id_with_nul: bool,
    /// The last valid `retry` field, in milliseconds.
    pub retry: Option<u64>,
    /// It holds comments and nothing else.
    pub comments_only: bool,
}

/// The blocks of a body, in order; then [`Blocks::tail`].
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
    tail: Option<Block<'a>>,
}

impl<'a> Blocks<'a> {
    /// Starts at the first byte of a decoded body; one leading byte-order mark is passed over.
    pub fn new(bytes: &'a [u8]) -> Self {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { bytes, at, line: 1, tail: None }
    }

    /// Starts behind a blank line inside of a body; lines are counted from there.
    pub fn behind(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, line: 1, tail: None }
    }

    /// Number of the line that is read next.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// What follows the last blank line, once all blocks were taken: the standard discards it, its id included.
    pub fn tail(&self) -> Option<&Block<'a>> {
        self.tail.as_ref()
    }

    /// The next line without its end, and whether it had one. None at the end of the body.
    fn next_line(&mut self) -> Option<(&'a [u8], bool)> {
        let rest = self.bytes.get(self.at..).filter(|r| !r.is_empty())?;
        let Some(length) = memchr2(b'\n', b'\r', rest) else {
            self.at = self.bytes.len();
            return Some((rest, false));
        };
        let crlf = rest[length] == b'\r' && rest.get(length + 1) == Some(&b'\n');
        self.at += length + if crlf { 2 } else { 1 };
        self.line = self.line.saturating_add(1);
        Some((&rest[..length], true))
    }
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Block<'a>;

    fn next(&mut self) -> Option<Block<'a>> {
        let mut block = Block { start: self.at, line: self.line, comments_only: true, ..Block::default() };
        let mut is_blank = true;
        while let Some((line, ended)) = self.next_line() {
            if line.is_empty() && ended {
                if !is_blank {
                    block.end = self.at;
                    return Some(block);
                }
                (block.start, block.line) = (self.at, self.line);
                continue;
            }
            is_blank = false;
            if !ended {
                // A last line without its end may itself be incomplete: a field is read from it all the same, since
                // the whole block is the undispatched tail.
                block.take(line);
                break;
            }
            block.take(line);
        }
        if !is_blank {
            block.end = self.bytes.len();
            self.tail = Some(block);
        }
        None
    }
}

impl<'a> Block<'a> {
    fn take(&mut self, line: &'a [u8]) {
        let (name, value) = match memchr::memchr(b':', line) {
            Some(0) => return,
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &line[line.len()..]),
        };
        self.comments_only = false;
        match name {
            b"data" => match &mut self.data {
                None => self.data = Some(Cow::Borrowed(value)),
                Some(data) => {
                    let data = data.to_mut();
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
            },
            b"event" => self.event = Some(value),
            b"id" if value.contains(&0) => self.id_with_nul = true,
            b"id" => self.id = Some(value),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                // Only the digits matter; a value beyond 64 bits is as good as for ever.
                let text = std::str::from_utf8(value).unwrap_or_default();
                self.retry = Some(text.parse().unwrap_or(u64::MAX));
            }
            _ => {}
        }
    }
}
