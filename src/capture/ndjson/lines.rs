//! A file line by line, in bounded memory; a value that is printed over several lines counts as one.

use crate::capture::Bytes;
use std::io::{self, BufRead, Read};

/// One line.
pub struct Line<'l> {
    /// Its bytes, its end included.
    pub text: &'l [u8],
    /// Its number, from 1.
    pub number: u64,
    /// Offset of its first byte in the file.
    pub offset: u64,
    /// It has an end: a last line without one may be cut.
    pub ended: bool,
    /// It is longer than the bound; the text is its beginning.
    pub is_too_long: bool,
}

/// Brackets that are open, strings observed.
#[derive(Default)]
struct Open {
    depth: u64,
    in_string: bool,
    escaped: bool,
}

impl Open {
    fn pass(&mut self, text: &[u8]) {
        for byte in text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }
}

/// The lines of a file.
pub struct Lines<'i, 'b> {
    input: &'i mut Bytes<'b>,
    most: u64,
    line: Vec<u8>,
    number: u64,
    offset: u64,
}

impl<'i, 'b> Lines<'i, 'b> {
    /// The lines of `input`, none kept beyond `most` bytes.
    pub fn new(input: &'i mut Bytes<'b>, most: u64) -> Self {
        Self { input, most, line: Vec::new(), number: 0, offset: 0 }
    }

    /// The next line; none at the end of the file.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let offset = self.offset;
        let read = (&mut *self.input).take(self.most).read_until(b'\n', &mut self.line)? as u64;
        if read == 0 {
            return Ok(None);
        }
        self.offset += read;
        self.number += 1;
        let number = self.number;
        let mut ended = self.line.last() == Some(&b'\n');
        let is_too_long = !ended && read == self.most;
        while is_too_long && !ended {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', buffer);
            let length = end.map_or(buffer.len(), |at| at + 1);
            ended = end.is_some();
            self.input.consume(length);
            self.offset += length as u64;
        }
        if !is_too_long && ended {
            ended = self.join()?;
        }
        Ok(Some(Line { text: &self.line, number, offset, ended, is_too_long }))
    }

    /// Adds the lines that go on with the value that this one begins: they are indented, or begin with its closing
    /// bracket. Says whether the last one has an end.
    fn join(&mut self) -> io::Result<bool> {
        if !matches!(self.line.trim_ascii_start().first(), Some(b'{' | b'[')) {
            return Ok(true);
        }
        let (mut open, mut from) = (Open::default(), 0);
        loop {
            open.pass(&self.line[from..]);
            from = self.line.len();
            let left = self.most.saturating_sub(from as u64);
            let next = self.input.fill_buf()?.first().copied();
            if open.depth == 0 || left == 0 || !matches!(next, Some(b' ' | b'\t' | b'}' | b']')) {
                return Ok(true);
            }
            let read = (&mut *self.input).take(left).read_until(b'\n', &mut self.line)? as u64;
            self.offset += read;
            self.number += 1;
            if self.line.last() != Some(&b'\n') {
                return Ok(false);
            }
        }
    }
}
