//! An event stream cut behind blank lines while it is read.

use crate::capture::Bytes;
use std::io::{self, Read};

/// Bytes of a part, as far as blank lines allow.
pub const SIZE: usize = 1 << 20;

/// The parts of a stream.
pub struct Parts<'p, 'b> {
    input: io::Take<&'p mut Bytes<'b>>,
    size: usize,
    /// What was read behind the last cut.
    rest: Vec<u8>,
    ended: bool,
    cut: bool,
}

impl<'p, 'b> Parts<'p, 'b> {
    /// The parts of the first `most` bytes of a stream, each of `size` bytes or as many more as an event needs.
    pub fn new(input: &'p mut Bytes<'b>, most: u64, size: usize) -> Self {
        Self { input: input.take(most), size: size.max(1), rest: Vec::new(), ended: false, cut: false }
    }

    /// There was more than may be read. Known once all parts were taken.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// The next parts, `count` at most; none at the end.
    ///
    /// # Errors
    /// Where the stream cannot be read.
    pub fn batch(&mut self, count: usize) -> io::Result<Vec<Vec<u8>>> {
        let mut batch = Vec::new();
        while batch.len() < count
            && let Some(part) = self.next()?
        {
            batch.push(part);
        }
        Ok(batch)
    }

    /// The next part; none at the end.
    ///
    /// # Errors
    /// Where the stream cannot be read.
    pub fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut part = std::mem::take(&mut self.rest);
        while !self.ended {
            // A part that holds no whole event grows by its own length, so that it is not searched over and over.
            let (searched, wanted) = (part.len(), self.size.max(part.len()));
            let read = (&mut self.input).take(wanted as u64).read_to_end(&mut part)?;
            if read < wanted {
                self.end()?;
            } else if let Some(end) = last_blank_line(&part, searched.saturating_sub(2)) {
                self.rest = part.split_off(end);
                break;
            }
        }
        Ok(Some(part).filter(|part| !part.is_empty()))
    }

    fn end(&mut self) -> io::Result<()> {
        self.ended = true;
        let is_at_bound = self.input.limit() == 0;
        let input = self.input.get_mut();
        self.cut = is_at_bound && !input.fill_buf()?.is_empty();
        if self.cut {
            io::copy(input, &mut io::sink())?;
        }
        Ok(())
    }
}

/// How many lines end in a text: with LF, CR, or both.
pub fn lines(text: &[u8]) -> u32 {
    let ends = |at: &usize| text[*at] == b'\n' || text.get(at + 1) != Some(&b'\n');
    memchr::memchr2_iter(b'\n', b'\r', text).filter(ends).count() as u32
}

/// The offset behind the last blank line that ends at or behind `from`.
fn last_blank_line(text: &[u8], from: usize) -> Option<usize> {
    let mut end = text.len();
    while let Some(at) = memchr::memrchr(b'\n', text.get(from..end)?).map(|at| from + at) {
        if matches!(text.get(..at)?, [.., b'\n'] | [.., b'\n', b'\r']) {
            return Some(at + 1);
        }
        end = at;
    }
    None
}
