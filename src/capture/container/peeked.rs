//! A stream whose first bytes can be looked at before it is read.

use std::io::{self, BufRead, Read};

/// A stream and its first bytes.
pub struct Peeked<R> {
    prefix: Vec<u8>,
    at: usize,
    inner: R,
}

impl<R: Read> Peeked<R> {
    /// Reads up to `length` bytes ahead.
    ///
    /// # Errors
    /// The stream cannot be read.
    pub fn new(mut inner: R, length: usize) -> io::Result<Self> {
        let mut prefix = Vec::new();
        (&mut inner).take(length as u64).read_to_end(&mut prefix)?;
        Ok(Self { prefix, at: 0, inner })
    }

    /// The first bytes, read or not.
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }
}

impl<R: BufRead> Read for Peeked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.prefix.len() {
            return self.inner.read(buffer);
        }
        let length = (&self.prefix[self.at..]).read(buffer)?;
        self.at += length;
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Peeked<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.prefix.len() {
            return self.inner.fill_buf();
        }
        Ok(&self.prefix[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        if self.at == self.prefix.len() {
            self.inner.consume(amount);
        } else {
            self.at = (self.at + amount).min(self.prefix.len());
        }
    }
}
