//! Text in UTF-16 with a byte-order mark, as `>` writes it in some shells on Windows: made UTF-8.

use std::io::{self, Read};

/// UTF-8 from UTF-16; what is no character becomes U+FFFD.
pub struct Utf16<R> {
    source: R,
    big: bool,
    begun: bool,
    /// A first surrogate that waits for its second.
    waiting: Option<u16>,
    /// Bytes that no buffer had room for.
    left: Vec<u8>,
}

impl<R: Read> Utf16<R> {
    /// A transcoder of `source`, which begins with the mark.
    pub fn new(source: R) -> Self {
        Self { source, big: false, begun: false, waiting: None, left: Vec::new() }
    }

    fn push(&mut self, unit: u16) {
        let mut encoded = [0; 4];
        let units = self.waiting.take().into_iter().chain([unit]);
        for character in char::decode_utf16(units) {
            match character {
                Ok(c) => self.left.extend_from_slice(c.encode_utf8(&mut encoded).as_bytes()),
                Err(e) if (0xd800..0xdc00).contains(&e.unpaired_surrogate()) && e.unpaired_surrogate() == unit => {
                    self.waiting = Some(unit);
                }
                Err(_) => self.left.extend_from_slice("\u{fffd}".as_bytes()),
            }
        }
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.left.is_empty() {
            let mut packed = Vec::new();
            (&mut self.source).take(8 << 10).read_to_end(&mut packed)?;
            if packed.is_empty() {
                if self.waiting.take().is_none() {
                    return Ok(0);
                }
                self.left.extend_from_slice("\u{fffd}".as_bytes());
                break;
            }
            let mut units = packed.as_slice();
            if !self.begun {
                self.begun = true;
                self.big = units.starts_with(&[0xfe, 0xff]);
                units = units.get(2..).unwrap_or_default();
            }
            for pair in units.chunks(2) {
                let pair = [pair[0], pair.get(1).copied().unwrap_or_default()];
                self.push(if self.big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) });
            }
        }
        let length = (&self.left[..]).read(buffer)?;
        self.left.drain(..length);
        Ok(length)
    }
}
