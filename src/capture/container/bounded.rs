//! A decoder that stops at the bounds and at damage, as if its stream ended there, and notes why.

use crate::capture::{FileFacts, Limits};
use std::{
    io::{self, BufRead, Read},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

/// Ratios are not looked at below so many unpacked bytes.
const RATIO_FROM: u64 = 1 << 20;

/// Caveats that arise beneath a reader, to be added to its account afterwards.
#[derive(Clone, Debug, Default)]
pub struct Trouble(Arc<Mutex<Vec<(&'static str, String)>>>);

impl Trouble {
    /// Notes a caveat.
    pub fn note(&self, caveat: &'static str, message: String) {
        if let Ok(mut notes) = self.0.lock()
            && notes.len() < 64
        {
            notes.push((caveat, message));
        }
    }

    /// Moves what was noted to the account of a file.
    pub fn account(&self, facts: &mut FileFacts) {
        for (caveat, message) in self.0.lock().map(|mut notes| std::mem::take(&mut *notes)).unwrap_or_default() {
            facts.caveat(caveat, message);
        }
    }

    /// Moves what was noted to another account.
    pub fn pass_on(&self, to: &Self) {
        for (caveat, message) in self.0.lock().map(|mut notes| std::mem::take(&mut *notes)).unwrap_or_default() {
            to.note(caveat, message);
        }
    }

    /// The first note, without taking it.
    pub fn first(&self) -> Option<String> {
        self.0.lock().ok()?.first().map(|(_, message)| message.clone())
    }
}

/// Counts the packed bytes that a decoder takes.
pub struct Counted<R> {
    inner: R,
    taken: Arc<AtomicU64>,
}

impl<R> Counted<R> {
    /// The stream, and its count.
    pub fn new(inner: R) -> (Self, Arc<AtomicU64>) {
        let taken = Arc::new(AtomicU64::new(0));
        (Self { inner, taken: Arc::clone(&taken) }, taken)
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.taken.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.taken.fetch_add(amount as u64, Ordering::Relaxed);
        self.inner.consume(amount);
    }
}

/// Unpacked bytes within bounds.
pub struct Bounded<'r> {
    decoder: Box<dyn Read + Send + 'r>,
    buffer: Box<[u8]>,
    filled: usize,
    at: usize,
    given: u64,
    /// Packed bytes taken so far; or known beforehand.
    packed: Arc<AtomicU64>,
    limits: Limits,
    what: String,
    trouble: Trouble,
    ended: bool,
}

impl<'r> Bounded<'r> {
    /// Reads `decoder`, which unpacks what `what` names from as many bytes as `packed` says.
    pub fn new(
        decoder: Box<dyn Read + Send + 'r>,
        packed: Arc<AtomicU64>,
        limits: &Limits,
        what: String,
        trouble: &Trouble,
    ) -> Self {
        let (buffer, limits, trouble) = (vec![0; 64 << 10].into_boxed_slice(), *limits, trouble.clone());
        Self { decoder, buffer, filled: 0, at: 0, given: 0, packed, limits, what, trouble, ended: false }
    }

    fn refill(&mut self) {
        (self.filled, self.at) = (0, 0);
        let read = loop {
            match self.decoder.read(&mut self.buffer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let length = match read {
            Ok(0) => {
                self.ended = true;
                return;
            }
            Ok(length) => length,
            Err(e) => {
                self.ended = true;
                let message = format!("{} is damaged or cut behind {} unpacked bytes: {e}", self.what, self.given);
                self.trouble.note("input-truncated", message);
                return;
            }
        };
        self.filled = length.min(self.buffer.len());
        self.given = self.given.saturating_add(length as u64);
        let by_ratio = self.packed.load(Ordering::Relaxed).max(1).saturating_mul(self.limits.ratio).max(RATIO_FROM);
        let limit = if self.given > self.limits.unpacked {
            "unpacked"
        } else if self.given > by_ratio {
            "ratio"
        } else {
            return;
        };
        (self.ended, self.filled) = (true, 0);
        self.trouble
            .note("limit-reached", format!("{} grows beyond the limit `{limit}`; what follows was dropped", self.what));
    }
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Bounded<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.filled && !self.ended {
            self.refill();
        }
        Ok(&self.buffer[self.at..self.filled])
    }

    fn consume(&mut self, amount: usize) {
        self.at = (self.at + amount).min(self.filled);
    }
}
