//! A window over a stream of bytes: as much of it in memory as one record needs.

use crate::capture::Bytes;
use std::io;

/// Bytes that are asked for at a time.
const STEP: usize = 256 << 10;

/// The bytes ahead, and where in the file they stand.
pub struct Window<'i, 'b> {
    input: &'i mut Bytes<'b>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset in the file of the next byte.
    pub position: u64,
}

impl<'i, 'b> Window<'i, 'b> {
    /// A window at the input's present place.
    pub fn new(input: &'i mut Bytes<'b>) -> Self {
        Self { input, buffer: Vec::new(), start: 0, end: 0, position: 0 }
    }

    /// The bytes ahead that are in memory.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Reads until `wanted` bytes are in memory; false where the input ends before.
    pub fn fill(&mut self, wanted: usize) -> io::Result<bool> {
        while self.end - self.start < wanted {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            }
            // Grown by what was really there, never by what a length field promises.
            if self.buffer.len() - self.end < STEP {
                let size = (self.buffer.len() + STEP).max(self.end * 2);
                self.buffer.resize(size, 0);
            }
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(read) => self.end += read,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(true)
    }

    /// Passes over bytes in memory.
    pub fn consume(&mut self, length: usize) {
        let length = length.min(self.end - self.start);
        self.start += length;
        self.position += length as u64;
    }

    /// Passes over bytes without keeping them; false where the input ends before.
    pub fn skip(&mut self, length: u64) -> io::Result<bool> {
        let here = length.min((self.end - self.start) as u64);
        self.consume(usize::try_from(here).unwrap_or(0));
        let mut left = length - here;
        while left > 0 {
            let ahead = match self.input.fill_buf() {
                Ok([]) => return Ok(false),
                Ok(ahead) => ahead.len(),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            let step = usize::try_from(left).unwrap_or(usize::MAX).min(ahead);
            self.input.consume(step);
            self.position += step as u64;
            left -= step as u64;
        }
        Ok(true)
    }
}
