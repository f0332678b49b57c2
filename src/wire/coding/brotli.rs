//! Brotli as a stream.

use super::Failure;
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

/// Output that is taken at a time.
const STEP: usize = 16 << 10;

/// Undoes brotli.
pub struct Brotli {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    is_over: bool,
}

impl Default for Brotli {
    fn default() -> Self {
        let alloc = StandardAlloc::default;
        Self { state: BrotliState::new_strict(alloc(), alloc(), alloc()), is_over: false }
    }
}

impl Brotli {
    /// Decodes a piece onto the end of `out`, up to `most` bytes there.
    pub fn feed(&mut self, input: &[u8], out: &mut Vec<u8>, most: u64) -> Result<(), Failure> {
        let (mut left, mut used, mut total) = (input.len(), 0, 0);
        let mut room = [0; STEP];
        while !self.is_over {
            let (mut free, mut given) = (room.len(), 0);
            let result = BrotliDecompressStream(
                &mut left,
                &mut used,
                input,
                &mut free,
                &mut given,
                &mut room,
                &mut total,
                &mut self.state,
            );
            let allowed = usize::try_from(most.saturating_sub(out.len() as u64)).unwrap_or(usize::MAX);
            out.extend_from_slice(&room[..given.min(allowed)]);
            if given > allowed {
                return Err(Failure::TooLarge);
            }
            match result {
                BrotliResult::ResultSuccess => self.is_over = true,
                BrotliResult::NeedsMoreInput => break,
                BrotliResult::NeedsMoreOutput => {}
                BrotliResult::ResultFailure => return Err(Failure::Damaged),
            }
        }
        Ok(())
    }
}
