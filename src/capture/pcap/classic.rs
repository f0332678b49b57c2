//! The pcap format: micro- and nanoseconds, both byte orders, and Kuznetzov's modified one.

use super::{
    record::{LARGEST, Next, Record, Stop},
    window::Window,
};
use crate::capture::ReadError;

/// Length of the file's header.
const HEADER: usize = 24;

/// A pcap file, read record by record.
pub struct Classic<'i, 'b> {
    window: Window<'i, 'b>,
    number: fn([u8; 4]) -> u32,
    /// Fractions of a second in one microsecond.
    per_micro: u32,
    record_header: usize,
    link: u32,
    frame: u32,
    consumed: usize,
}

impl<'i, 'b> Classic<'i, 'b> {
    /// Reads the file's header.
    pub fn open(magic: [u8; 4], mut window: Window<'i, 'b>) -> Result<Self, ReadError> {
        type Number = fn([u8; 4]) -> u32;
        let (number, per_micro, record_header): (Number, u32, usize) = match magic {
            [0xd4, 0xc3, 0xb2, 0xa1] => (u32::from_le_bytes, 1, 16),
            [0xa1, 0xb2, 0xc3, 0xd4] => (u32::from_be_bytes, 1, 16),
            [0x4d, 0x3c, 0xb2, 0xa1] => (u32::from_le_bytes, 1000, 16),
            [0xa1, 0xb2, 0x3c, 0x4d] => (u32::from_be_bytes, 1000, 16),
            [0x34, 0xcd, 0xb2, 0xa1] => (u32::from_le_bytes, 1, 24),
            [0xa1, 0xb2, 0xcd, 0x34] => (u32::from_be_bytes, 1, 24),
            _ => return Err(ReadError::NotACapture("no packet capture: unknown magic number".into())),
        };
        window.fill(HEADER)?;
        let Some(&[a, b, c, d]) = window.bytes().get(20..HEADER).and_then(|b| b.first_chunk()) else {
            return Err(ReadError::Damaged("a pcap file that ends within its header".into()));
        };
        // The upper bits tell of a frame check sequence.
        let link = number([a, b, c, d]) & 0x03ff_ffff;
        Ok(Self { window, number, per_micro, record_header, link, frame: 0, consumed: HEADER })
    }

    /// The next packet.
    pub fn next(&mut self) -> Result<Next<'_>, ReadError> {
        self.window.consume(std::mem::take(&mut self.consumed));
        let is_whole = self.window.fill(self.record_header)?;
        if !is_whole {
            return Ok(if self.window.bytes().is_empty() { Next::End } else { self.stop("a record header is cut") });
        }
        let mut fields = self.window.bytes().chunks_exact(4).map(|b| (self.number)([b[0], b[1], b[2], b[3]]));
        let mut field = || fields.next().unwrap_or(0);
        let (seconds, fraction, captured, original) = (field(), field(), field() as usize, field() as usize);
        if captured > LARGEST {
            return Ok(self.stop("a record claims an impossible length"));
        }
        let length = self.record_header + captured;
        if !self.window.fill(length)? {
            return Ok(self.stop("the last packet is cut"));
        }
        self.consumed = length;
        self.frame = self.frame.saturating_add(1);
        Ok(Next::Packet(Record {
            frame: self.frame,
            micros: Some(i64::from(seconds) * 1_000_000 + i64::from(fraction / self.per_micro)),
            link: self.link,
            bytes: &self.window.bytes()[self.record_header..length],
            uncaptured: original.saturating_sub(captured),
        }))
    }

    fn stop(&self, why: &'static str) -> Next<'static> {
        Next::Stop(Stop { offset: self.window.position, frame: self.frame, why })
    }
}
