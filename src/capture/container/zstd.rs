//! Zstandard: frames one after the other, skippable ones among them.

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, Read};

/// Largest window that a frame may ask for: that of `zstd --ultra --long=27`.
const LARGEST_WINDOW: u64 = 128 << 20;
/// Decoded at a time.
const PIECE: usize = 64 << 10;

/// The content of all frames of a stream.
pub struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: Read> Frames<R> {
    /// A decoder for the frames of `source`.
    pub fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(LARGEST_WINDOW);
        Self { source, decoder, in_frame: false }
    }

    /// Begins the next frame; false at the end of the stream.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            let mut magic = [0; 4];
            let mut got = 0;
            while got < magic.len() {
                match self.source.read(&mut magic[got..])? {
                    0 if got == 0 => return Ok(false),
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    n => got += n,
                }
            }
            if matches!(magic, [0x50..=0x5f, 0x2a, 0x4d, 0x18]) {
                let mut size = [0; 4];
                self.source.read_exact(&mut size)?;
                let size = u64::from(u32::from_le_bytes(size));
                io::copy(&mut (&mut self.source).take(size), &mut io::sink())?;
                continue;
            }
            self.decoder.reset((&magic[..]).chain(&mut self.source)).map_err(io::Error::other)?;
            self.in_frame = true;
            return Ok(true);
        }
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.in_frame {
                if self.decoder.can_collect() > 0 {
                    return self.decoder.read(buffer);
                }
                if !self.decoder.is_finished() {
                    let strategy = BlockDecodingStrategy::UptoBytes(PIECE);
                    self.decoder.decode_blocks(&mut self.source, strategy).map_err(io::Error::other)?;
                    continue;
                }
                self.in_frame = false;
            }
            if !self.begin()? {
                return Ok(0);
            }
        }
    }
}
