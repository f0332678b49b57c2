//! A file line by line, in bounded memory.

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
        Ok(Some(Line { text: &self.line, number: self.number, offset, ended, is_too_long }))
    }
}
