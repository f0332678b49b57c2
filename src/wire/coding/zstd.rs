//! Zstandard as a stream, although the decoder beneath holds output back.
//!
//! The decoder gives a window's worth of output only at the end of a frame, which may be hours later than the event
//! that a block carried. How much a block completes is known at once all the same: each frame is decoded under a header
//! of our own, with the smallest window that allows full blocks, behind one block of padding that fills it. So the
//! length of what the decoder holds is always known, and the bytes themselves follow when they may.

use super::Failure;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::Read;

/// Largest block by the format, and the window that our header declares.
const BLOCK: usize = 128 << 10;

/// Our header: magic, a descriptor without options, and a window of [`BLOCK`] bytes.
const HEADER: [u8; 6] = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];

/// An RLE block of [`BLOCK`] zeros.
const PADDING: [u8; 4] = [0x02, 0x00, 0x10, 0x00];

/// A last block that holds nothing.
const NOTHING_MORE: [u8; 3] = [0x01, 0x00, 0x00];

/// Largest window that a frame may ask for; HTTP allows 8 MiB.
const LARGEST_WINDOW: u64 = 32 << 20;

enum State {
    Header,
    Blocks {
        window: usize,
        has_checksum: bool,
    },
    /// Bytes to pass over: a checksum, or a skippable frame.
    Skip(u64),
}

/// Undoes zstd, also of several frames.
pub struct Zstd {
    decoder: FrameDecoder,
    state: State,
    pending: Vec<u8>,
    /// Bytes of padding that the decoder has still to give.
    padding: usize,
    /// Decoded bytes that the decoder holds, padding not counted.
    held: usize,
}

impl Default for Zstd {
    fn default() -> Self {
        let (decoder, state) = (FrameDecoder::new(), State::Header);
        Self { decoder, state, pending: Vec::new(), padding: 0, held: 0 }
    }
}

impl Zstd {
    /// Decoded bytes that were not handed out yet.
    pub fn held_back(&self) -> u64 {
        self.held as u64
    }

    /// Decodes a piece; what may be handed out goes onto the end of `out`, up to `most` bytes there.
    pub fn feed(&mut self, input: &[u8], out: &mut Vec<u8>, most: u64) -> Result<(), Failure> {
        let mut pending = std::mem::take(&mut self.pending);
        pending.extend_from_slice(input);
        let mut rest = &pending[..];
        while !rest.is_empty() {
            let used = self.step(rest, out, most)?;
            if used == 0 {
                break;
            }
            rest = &rest[used..];
        }
        let left = rest.len();
        pending.drain(..pending.len() - left);
        self.pending = pending;
        Ok(())
    }

    /// Hands out what is held back of a frame that will not go on.
    pub fn finish(&mut self, out: &mut Vec<u8>, most: u64) -> Result<(), Failure> {
        if let State::Blocks { .. } = self.state {
            self.decode(&NOTHING_MORE)?;
            self.give(out, usize::MAX, most)?;
            self.state = State::Skip(u64::MAX);
        }
        Ok(())
    }

    /// Takes one header, block or skippable part from the front of `rest`; 0 where it is not whole yet.
    fn step(&mut self, rest: &[u8], out: &mut Vec<u8>, most: u64) -> Result<usize, Failure> {
        match self.state {
            State::Skip(left) => {
                let take = left.min(rest.len() as u64);
                self.state = if take == left { State::Header } else { State::Skip(left - take) };
                Ok(usize::try_from(take).unwrap_or(rest.len()))
            }
            State::Header => {
                let Some((used, state)) = header(rest)? else { return Ok(0) };
                if let State::Blocks { .. } = state {
                    self.decoder.init(&HEADER[..]).map_err(|_| Failure::Damaged)?;
                    self.decode(&PADDING)?;
                    self.padding = BLOCK;
                    self.held = 0;
                }
                self.state = state;
                Ok(used)
            }
            State::Blocks { window, has_checksum } => {
                let Some(&[a, b, c]) = rest.first_chunk() else { return Ok(0) };
                let head = u32::from_le_bytes([a, b, c, 0]);
                let size = usize::try_from(head >> 3).unwrap_or(usize::MAX);
                if size > BLOCK {
                    return Err(Failure::Damaged);
                }
                let is_rle = head >> 1 & 3 == 1;
                let length = 3 + if is_rle { 1 } else { size };
                let Some(block) = rest.get(..length) else { return Ok(0) };
                if out.len() as u64 + self.held as u64 > most {
                    return Err(Failure::TooLarge);
                }
                self.decode(block)?;
                let is_last = head & 1 == 1;
                self.held = if is_last {
                    self.decoder.can_collect().saturating_sub(self.padding)
                } else {
                    (self.decoder.can_collect() + BLOCK).saturating_sub(self.padding)
                };
                if is_last {
                    self.give(out, usize::MAX, most)?;
                    self.state = if has_checksum { State::Skip(4) } else { State::Header };
                } else if self.held > window.saturating_mul(2) {
                    self.give(out, self.held - window, most)?;
                }
                Ok(length)
            }
        }
    }

    fn decode(&mut self, block: &[u8]) -> Result<(), Failure> {
        let strategy = BlockDecodingStrategy::UptoBlocks(1);
        self.decoder.decode_blocks(block, strategy).map(drop).map_err(|_| Failure::Damaged)
    }

    /// Moves up to `wanted` decoded bytes from the decoder to `out`.
    fn give(&mut self, out: &mut Vec<u8>, wanted: usize, most: u64) -> Result<(), Failure> {
        let mut room = [0; 16 << 10];
        let mut left = wanted.saturating_add(self.padding);
        while left > 0 {
            let take = left.min(room.len());
            let given = self.decoder.read(&mut room[..take]).map_err(|_| Failure::Damaged)?;
            if given == 0 {
                break;
            }
            left -= given;
            let pad = given.min(self.padding);
            self.padding -= pad;
            let bytes = &room[pad..given];
            self.held = self.held.saturating_sub(bytes.len());
            let allowed = usize::try_from(most.saturating_sub(out.len() as u64)).unwrap_or(usize::MAX);
            out.extend_from_slice(&bytes[..bytes.len().min(allowed)]);
            if bytes.len() > allowed {
                return Err(Failure::TooLarge);
            }
        }
        Ok(())
    }
}

/// Reads a frame's header: its length, and what follows it. None where it is not whole.
fn header(bytes: &[u8]) -> Result<Option<(usize, State)>, Failure> {
    let Some(magic) = bytes.first_chunk().copied().map(u32::from_le_bytes) else { return Ok(None) };
    if magic & 0xffff_fff0 == 0x184d_2a50 {
        let Some(size) = bytes.get(4..).and_then(|b| b.first_chunk().copied()) else { return Ok(None) };
        return Ok(Some((8, State::Skip(u32::from_le_bytes(size).into()))));
    }
    if magic != 0xfd2f_b528 {
        return Err(Failure::Damaged);
    }
    let Some(&descriptor) = bytes.get(4) else { return Ok(None) };
    let is_single = descriptor & 0x20 != 0;
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content = match descriptor >> 6 {
        0 => usize::from(is_single),
        size => 1 << size,
    };
    let length = 5 + usize::from(!is_single) + dictionary + content;
    let Some(fields) = bytes.get(5..length) else { return Ok(None) };
    let (dictionary_id, size) = fields[usize::from(!is_single)..].split_at(dictionary);
    if dictionary_id.iter().any(|b| *b != 0) {
        return Err(Failure::Unknown);
    }
    let window = if is_single {
        let size = size.iter().rev().fold(0, |sum: u64, b| sum << 8 | u64::from(*b));
        if content == 2 { size + 256 } else { size }
    } else {
        let base = 1_u64 << (10 + (fields[0] >> 3));
        base + base / 8 * u64::from(fields[0] & 7)
    };
    // A single segment may be as large as its content; it needs no more than the content.
    let window = if is_single { window.min(LARGEST_WINDOW) } else { window };
    if window > LARGEST_WINDOW {
        return Err(Failure::TooLarge);
    }
    let window = usize::try_from(window).unwrap_or(BLOCK).max(BLOCK);
    Ok(Some((length, State::Blocks { window, has_checksum: descriptor & 4 != 0 })))
}
