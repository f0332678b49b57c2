//! Compressed streams: one decoder a kind, all within the same bounds.

use super::{
    Packing, Source,
    bounded::{Bounded, Counted, Trouble},
    utf16::Utf16,
    zstd::Frames,
};
use crate::capture::Limits;
use std::io::Read;

/// Memory that the dictionary of an xz stream may take, in KiB.
const XZ_MEMORY: u32 = 256 << 10;

/// The unpacked bytes of a compressed stream.
pub fn unpacked<'s>(packing: Packing, source: Source<'s>, limits: &Limits, trouble: &Trouble) -> Bounded<'s> {
    let (source, taken) = Counted::new(source);
    let decoder: Box<dyn Read + Send + 's> = match packing {
        Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(source)),
        Packing::Zlib => Box::new(flate2::bufread::ZlibDecoder::new(source)),
        Packing::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(source)),
        Packing::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(source, true, XZ_MEMORY)),
        Packing::Zstd => Box::new(Frames::new(source)),
        Packing::Utf16 => Box::new(Utf16::new(source)),
        // Archives are no streams; they are opened elsewhere.
        Packing::Zip | Packing::Tar => Box::new(source),
    };
    Bounded::new(decoder, taken, limits, format!("the {packing} stream"), trouble)
}
