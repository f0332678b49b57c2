//! JSON strings: where one ends, and what it says without its escapes.

use super::{Json, Malformed};
use std::borrow::Cow;

/// A string as it stands between its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    /// The bytes between the quotes.
    pub raw: &'a [u8],
    /// It has escapes.
    pub escaped: bool,
}

impl<'a> Text<'a> {
    /// What it says, as bytes (UTF-8 where the text was).
    pub fn bytes(&self) -> Cow<'a, [u8]> {
        if self.escaped { Cow::Owned(unescape(self.raw)) } else { Cow::Borrowed(self.raw) }
    }

    /// What it says; bytes that are no UTF-8 are replaced.
    pub fn to_str(&self) -> Cow<'a, str> {
        match self.bytes() {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// It says exactly this.
    pub fn is(&self, text: &str) -> bool {
        if self.escaped { *self.bytes() == *text.as_bytes() } else { self.raw == text.as_bytes() }
    }
}

/// Undoes the escapes of a string that the scanner has validated. Lone surrogates become U+FFFD.
fn unescape(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(slash) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..slash]);
        let letter = rest.get(slash + 1).copied().unwrap_or(b'\\');
        rest = rest.get(slash + 2..).unwrap_or_default();
        out.push(match letter {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            b'u' => {
                let (letter, used) = unicode(rest);
                rest = rest.get(used..).unwrap_or_default();
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            other => other,
        });
    }
    out.extend_from_slice(rest);
    out
}

/// The character of a `\u` escape whose digits begin `rest`, and how many bytes it took.
fn unicode(rest: &[u8]) -> (char, usize) {
    let unit = |from: usize| {
        let digits = rest.get(from..from + 4)?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let first = unit(0).unwrap_or(0xFFFD);
    if (0xD800..0xDC00).contains(&first)
        && rest.get(4..6) == Some(b"\\u")
        && let Some(second) = unit(6).filter(|u| (0xDC00..0xE000).contains(u))
    {
        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        return (char::from_u32(code).unwrap_or('\u{FFFD}'), 10);
    }
    (char::from_u32(first).unwrap_or('\u{FFFD}'), 4.min(rest.len()))
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// A bit is set in each byte of the result whose byte of `word` is zero (perhaps also in bytes above such a one).
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// How many bytes at the start are neither quote, backslash nor control character: eight at a time.
fn plain(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..at + 8) {
        let word = u64::from_le_bytes(std::array::from_fn(|i| chunk[i]));
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let stop = zeros(word ^ (ONES * b'"' as u64)) | zeros(word ^ (ONES * b'\\' as u64)) | control;
        if stop != 0 {
            return at + (stop.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = &bytes[at..];
    at + rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len())
}

impl<'a> Json<'a> {
    /// Takes a string.
    ///
    /// # Errors
    /// Where it is not one, has a raw control character or a wrong escape, or does not end.
    pub fn text(&mut self) -> Result<Text<'a>, Malformed> {
        self.expect(b'"')?;
        let start = self.at;
        let mut escaped = false;
        loop {
            self.at += plain(&self.bytes[self.at..]);
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Text { raw: self.slice(start, self.at - 1), escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                _ => return self.malformed(),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Malformed> {
        self.at += 1;
        match self.byte() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.byte().is_some_and(|b| b.is_ascii_hexdigit()) {
                        return self.malformed();
                    }
                    self.at += 1;
                }
            }
            _ => return self.malformed(),
        }
        Ok(())
    }
}
