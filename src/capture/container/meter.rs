//! How much of a run's input is consumed: every byte of a file counts once, however often it is read.

use std::{
    io::{self, BufRead, Read},
    sync::atomic::{AtomicU64, Ordering},
};

/// Counts the bytes of one file to the account of all.
pub struct Meter<'m> {
    all: &'m AtomicU64,
    own: AtomicU64,
}

impl<'m> Meter<'m> {
    /// A meter of a file of which nothing is consumed yet; `all` is the account of the run, in bytes.
    pub fn new(all: &'m AtomicU64) -> Self {
        Self { all, own: AtomicU64::new(0) }
    }

    /// So many bytes more are consumed.
    fn add(&self, bytes: u64) {
        self.own.fetch_add(bytes, Ordering::Relaxed);
        self.all.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The file is consumed up to here; what counted before does not count again.
    pub(super) fn reach(&self, position: u64) {
        self.add(position.saturating_sub(self.own.load(Ordering::Relaxed)));
    }

    /// A stream whose bytes count as they are read.
    pub fn metered<R>(&self, inner: R) -> Metered<'_, R> {
        Metered { inner, meter: self }
    }
}

/// A stream whose bytes count as they are read.
pub struct Metered<'m, R> {
    inner: R,
    meter: &'m Meter<'m>,
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.meter.add(length as u64);
        Ok(length)
    }
}

/// A part of an archive that is read out of order: its packed bytes count in the measure in which it is unpacked.
pub(super) struct Share<'m, R> {
    pub(super) inner: R,
    /// None where the archive itself came as a stream, whose bytes counted already.
    pub(super) meter: Option<&'m Meter<'m>>,
    /// Bytes of the archive before it, and its own.
    pub(super) before: u64,
    pub(super) packed: u64,
    /// Its unpacked bytes, as far as the archive tells the truth, and how many of them were read.
    pub(super) unpacked: u64,
    pub(super) given: u64,
}

impl<R: BufRead> Share<'_, R> {
    fn count(&mut self, amount: usize) {
        self.given = self.given.saturating_add(amount as u64);
        let Some(meter) = self.meter else { return };
        let share = u128::from(self.packed) * u128::from(self.given) / u128::from(self.unpacked.max(1));
        meter.reach(self.before.saturating_add(u64::try_from(share).unwrap_or(u64::MAX).min(self.packed)));
    }
}

impl<R: BufRead> Read for Share<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.count(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Share<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
        self.count(amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_counts_once_however_often_it_is_read() {
        let all = AtomicU64::new(7);
        let meter = Meter::new(&all);
        io::copy(&mut meter.metered(&[0; 30][..]), &mut io::sink()).expect("read");
        meter.reach(20);
        assert_eq!(all.load(Ordering::Relaxed), 37);
        meter.reach(90);
        meter.reach(90);
        assert_eq!(all.load(Ordering::Relaxed), 97);
    }

    #[test]
    fn a_part_of_an_archive_counts_with_its_packed_bytes_whatever_it_says_of_itself() {
        for (unpacked, half, whole) in [(100, 45, 50), (0, 50, 50), (1000, 40, 41)] {
            let all = AtomicU64::new(0);
            let meter = Meter::new(&all);
            let inner = &[0; 100][..];
            let mut share = Share { inner, meter: Some(&meter), before: 40, packed: 10, unpacked, given: 0 };
            share.read_exact(&mut [0; 50]).expect("read");
            assert_eq!(all.load(Ordering::Relaxed), half, "{unpacked}");
            io::copy(&mut share, &mut io::sink()).expect("read");
            assert_eq!(all.load(Ordering::Relaxed), whole, "{unpacked}");
        }
    }
}
