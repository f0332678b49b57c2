//! gzip, zlib and raw deflate as a stream.

use super::Failure;
use flate2::{Decompress, FlushDecompress, Status};

/// Room that is made for output at a time.
const STEP: usize = 16 << 10;

enum State {
    /// `deflate` is zlib by the standard and raw in some servers: two bytes tell.
    Undecided(Option<u8>),
    Running(Decompress),
    /// Between the members of a gzip file.
    Between,
    /// What follows the end is ignored, as clients do.
    Over,
}

/// Undoes gzip or deflate.
pub struct Deflate {
    state: State,
    is_gzip: bool,
}

impl Deflate {
    /// For gzip, also of several members.
    pub fn gzip() -> Self {
        Self { state: State::Between, is_gzip: true }
    }

    /// For deflate of either kind.
    pub fn zlib_or_raw() -> Self {
        Self { state: State::Undecided(None), is_gzip: false }
    }

    /// Decodes a piece onto the end of `out`, up to `most` bytes there.
    pub fn feed(&mut self, mut input: &[u8], out: &mut Vec<u8>, most: u64) -> Result<(), Failure> {
        while let Some(&first) = input.first() {
            match &mut self.state {
                State::Undecided(None) => {
                    self.state = State::Undecided(Some(first));
                    input = &input[1..];
                }
                State::Undecided(Some(before)) => {
                    let head = [*before, first];
                    let is_zlib = head[0] & 0x8f == 0x08 && u16::from_be_bytes(head) % 31 == 0;
                    let mut running = Decompress::new(is_zlib);
                    inflate(&mut running, &head, out, most)?;
                    self.state = State::Running(running);
                    input = &input[1..];
                }
                State::Between if first == 0x1f => self.state = State::Running(Decompress::new_gzip(15)),
                State::Between if out.is_empty() => return Err(Failure::Damaged),
                State::Between => self.state = State::Over,
                State::Running(running) => {
                    let (used, is_over) = inflate(running, input, out, most)?;
                    input = &input[used..];
                    if is_over {
                        self.state = if self.is_gzip { State::Between } else { State::Over };
                    }
                }
                State::Over => break,
            }
        }
        Ok(())
    }
}

/// Inflates until the input is used up or the stream is over: how much was used, and whether it is over.
fn inflate(running: &mut Decompress, input: &[u8], out: &mut Vec<u8>, most: u64) -> Result<(usize, bool), Failure> {
    let mut used = 0;
    loop {
        out.reserve(STEP.min(input.len().saturating_mul(4).max(256)));
        let (taken, given) = (running.total_in(), out.len());
        let status = running.decompress_vec(&input[used..], out, FlushDecompress::Sync);
        used += usize::try_from(running.total_in() - taken).unwrap_or(0);
        if out.len() as u64 > most {
            out.truncate(usize::try_from(most).unwrap_or(usize::MAX));
            return Err(Failure::TooLarge);
        }
        match status {
            Ok(Status::StreamEnd) => return Ok((used, true)),
            // Output room that is left means that the decoder has nothing more to say.
            Ok(_) if out.len() < out.capacity() && used >= input.len() => return Ok((used, false)),
            Ok(_) if out.len() == given && used >= input.len() => return Ok((used, false)),
            Ok(Status::BufError) if running.total_in() == taken && out.len() == given => return Err(Failure::Damaged),
            Ok(_) => {}
            Err(_) => return Err(Failure::Damaged),
        }
    }
}
