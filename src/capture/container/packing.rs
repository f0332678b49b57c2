//! Which container is it? By its first bytes.

use std::fmt;

/// A way in which bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// gzip, one member or several.
    Gzip,
    /// zlib, as in mitmproxy's `.zhar`.
    Zlib,
    /// Zstandard, one frame or several.
    Zstd,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
    /// A zip archive.
    Zip,
    /// A tar archive.
    Tar,
    /// Text in UTF-16, as shells on Windows redirect it.
    Utf16,
}

impl Packing {
    /// The container that begins with `prefix` (512 bytes show a tar archive); none where it is none.
    pub fn of(prefix: &[u8]) -> Option<Self> {
        match prefix {
            [0x1f, 0x8b, 0x08, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            // A skippable frame may come first.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, ..] => Some(Self::Bzip2),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(Self::Zip),
            [0x78, 0x01 | 0x5e | 0x9c | 0xda, third, ..] if !third.is_ascii_graphic() || prefix[1] > 0x7f => {
                Some(Self::Zlib)
            }
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(Self::Utf16),
            _ if is_tar(prefix) => Some(Self::Tar),
            _ => None,
        }
    }

    /// One stream of bytes, made smaller.
    pub fn is_compression(self) -> bool {
        matches!(self, Self::Gzip | Self::Zlib | Self::Zstd | Self::Bzip2 | Self::Xz)
    }
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zip => "a zip archive",
            Self::Tar => "a tar archive",
            Self::Utf16 => "UTF-16",
        })
    }
}

/// A header block whose checksum is right.
fn is_tar(prefix: &[u8]) -> bool {
    let Some(header) = prefix.get(..512) else { return false };
    let field = String::from_utf8_lossy(&header[148..156]);
    let Ok(said) = u32::from_str_radix(field.trim_matches(['\0', ' ']), 8) else { return false };
    let sum: u32 =
        header.iter().enumerate().map(|(i, b)| if (148..156).contains(&i) { 32 } else { u32::from(*b) }).sum();
    said == sum && header[0] != 0
}
