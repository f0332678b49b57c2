//! Blocks of a file, each cut where an entry or a line seems to begin.

use crate::{capture::Bytes, wire::har_split::last_boundary};
use std::io;

/// Where blocks end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Where an entry begins.
    Entries,
    /// Behind a line break.
    Lines,
}

/// Bytes of a buffer before anything is known of the file.
const FIRST: usize = 16 << 10;

/// A piece of the file.
pub(super) struct Block {
    bytes: Vec<u8>,
    length: usize,
    /// Offset in the file.
    pub offset: u64,
    /// It seems to begin with an entry, or with a line.
    pub aligned: bool,
    /// Nothing follows.
    pub last: bool,
}

impl Block {
    pub fn text(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// Cuts a file into blocks while it is read.
pub(super) struct Feed<'f, 'b> {
    input: &'f mut Bytes<'b>,
    cut: Cut,
    /// Bytes of a block.
    size: usize,
    /// What was read behind the last cut.
    rest: Vec<u8>,
    offset: u64,
    aligned: bool,
    ended: bool,
    failure: Option<io::Error>,
    spare: Vec<Vec<u8>>,
}

impl<'f, 'b> Feed<'f, 'b> {
    pub fn new(input: &'f mut Bytes<'b>, cut: Cut, size: usize) -> Self {
        let aligned = cut == Cut::Lines;
        Self {
            input,
            cut,
            size: size.max(1),
            rest: Vec::new(),
            offset: 0,
            aligned,
            ended: false,
            failure: None,
            spare: Vec::new(),
        }
    }

    /// The next blocks, `count` at most; none at the end of the file.
    pub fn batch(&mut self, count: usize) -> Vec<Block> {
        (0..count).map_while(|_| self.next()).collect()
    }

    /// Takes back the buffers of blocks that were read.
    pub fn recycle(&mut self, batch: Vec<Block>) {
        self.spare.extend(batch.into_iter().map(|block| block.bytes));
    }

    /// The error that ended the file, if it was one.
    pub fn failure(self) -> Option<io::Error> {
        self.failure
    }

    fn next(&mut self) -> Option<Block> {
        if self.ended {
            return None;
        }
        let mut bytes = self.spare.pop().unwrap_or_default();
        let mut length = self.rest.len();
        let whole = bytes.len().max(self.size).max(length + self.size.div_ceil(2));
        // Buffers stay as long as they ever were, so that none is filled with zeros twice; the first one grows with
        // what there is, since many files are small.
        let first = if self.offset == 0 { FIRST.min(whole) } else { whole };
        bytes.resize(bytes.len().max(length).max(first), 0);
        bytes[..length].copy_from_slice(&self.rest);
        while length < whole && !self.ended {
            if length == bytes.len() {
                bytes.resize((2 * length).clamp(1, whole), 0);
            }
            match self.input.read(&mut bytes[length..]) {
                Ok(0) => self.ended = true,
                Ok(read) => length += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failure = Some(error);
                    self.ended = true;
                }
            }
        }
        let (offset, aligned) = (self.offset, self.aligned);
        self.rest.clear();
        let cut = match self.cut {
            _ if self.ended => None,
            Cut::Entries => last_boundary(&bytes[..length]),
            Cut::Lines => memchr::memrchr(b'\n', &bytes[..length]).map(|at| at + 1),
        };
        if let Some(cut) = cut.filter(|cut| *cut > 0) {
            self.rest.extend_from_slice(&bytes[cut..length]);
            length = cut;
        }
        self.aligned = cut.is_some();
        self.offset += length as u64;
        Some(Block { bytes, length, offset, aligned, last: self.ended })
    }
}
