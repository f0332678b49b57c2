//! Where a JSON string ends, and what it says: scanned and unescaped eight bytes at a time.

use super::Fault;
use std::borrow::Cow;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Marks (by their high bits) bytes of `word` that a plain string cannot hold: quotes, backslashes, control characters.
/// Bits above the lowest one may be wrong; the lowest one is exact.
#[inline]
fn interruptions(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    let zero = |w: u64| w.wrapping_sub(ONES) & !w;
    (zero(quote) | zero(slash) | (word.wrapping_sub(ONES * 0x20) & !word)) & HIGH
}

/// Eight bytes of a text, the first one lowest.
#[inline]
fn word(text: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*text.get(at..)?.first_chunk()?))
}

/// The first byte at or behind `at` that ends or interrupts a string; the text's length where there is none.
#[inline]
pub(super) fn plain_end(text: &[u8], mut at: usize) -> usize {
    while let Some(word) = word(text, at) {
        let found = interruptions(word);
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20)).map_or(text.len(), |n| at + n)
}

/// What stands for itself, or for a control character, behind a backslash; 0 for all else.
const SHORT: [u8; 256] = {
    let mut table = [0; 256];
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'/' as usize] = b'/';
    table[b'b' as usize] = 8;
    table[b'f' as usize] = 12;
    table[b'n' as usize] = b'\n';
    table[b'r' as usize] = b'\r';
    table[b't' as usize] = b'\t';
    table
};

/// Reads one escape sequence whose backslash stands at `at`: its length and what it means.
///
/// A lone surrogate means U+FFFD.
#[inline]
fn escape(text: &[u8], at: usize) -> Result<(usize, Meaning), Fault> {
    let letter = *text.get(at + 1).ok_or(Fault::End)?;
    let short = SHORT[letter as usize];
    if short != 0 {
        return Ok((2, Meaning::Byte(short)));
    }
    if letter != b'u' {
        return Err(Fault::invalid(at + 1, "no such escape"));
    }
    let first = unit(text, at + 2)?;
    if !(0xD800..0xE000).contains(&first) {
        return Ok((6, Meaning::Char(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))));
    }
    if first < 0xDC00 && text.get(at + 6..at + 8) == Some(b"\\u") {
        // A broken second half is found again, and reported, when its own backslash is read.
        if let Ok(second @ 0xDC00..0xE000) = unit(text, at + 8) {
            let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            return Ok((12, Meaning::Char(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))));
        }
    }
    Ok((6, Meaning::Char(char::REPLACEMENT_CHARACTER)))
}

/// What an escape sequence means.
#[derive(Clone, Copy)]
enum Meaning {
    Byte(u8),
    Char(char),
}

/// Four hex digits.
fn unit(text: &[u8], at: usize) -> Result<u32, Fault> {
    let mut value = 0;
    for i in at..at + 4 {
        let digit = char::from(*text.get(i).ok_or(Fault::End)?).to_digit(16);
        value = value << 4 | digit.ok_or(Fault::invalid(i, "no hex digit"))?;
    }
    Ok(value)
}

/// A JSON string as it stands in the text, without its quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RawString<'t> {
    inner: &'t [u8],
    escaped: bool,
}

impl<'t> RawString<'t> {
    /// Text that holds no escapes, such as the digits of a number that stands in a string's place.
    pub fn plain(inner: &'t [u8]) -> Self {
        Self { inner, escaped: false }
    }

    /// Reads the string whose opening quote stands at `at`; returns the offset behind its closing quote, too.
    ///
    /// # Errors
    ///
    /// The text ends inside it, it holds a raw control character, or an escape that JSON does not know.
    #[inline]
    pub(super) fn scan(text: &'t [u8], at: usize) -> Result<(Self, usize), Fault> {
        let start = at + 1;
        let mut escaped = false;
        let mut end = plain_end(text, start);
        loop {
            match text.get(end) {
                Some(b'"') => {
                    let inner = text.get(start..end).unwrap_or_default();
                    return Ok((Self { inner, escaped }, end + 1));
                }
                Some(b'\\') => {
                    escaped = true;
                    // Only the shape matters here: the second half of a surrogate pair is an escape like any other.
                    match text.get(end + 1) {
                        Some(b'u') => {
                            unit(text, end + 2)?;
                            end += 6;
                        }
                        Some(&letter) if SHORT[letter as usize] != 0 => end += 2,
                        Some(_) => return Err(Fault::invalid(end + 1, "no such escape")),
                        None => return Err(Fault::End),
                    }
                    if text.get(end).is_some_and(|b| *b == b'\\') {
                        continue;
                    }
                    end = plain_end(text, end);
                }
                Some(_) => return Err(Fault::invalid(end, "a control character inside a string")),
                None => return Err(Fault::End),
            }
        }
    }

    /// As [`RawString::scan`], but the string's value is written to `out` on the way, to `limit` bytes at most.
    pub(super) fn scan_into(
        text: &'t [u8],
        at: usize,
        out: &mut Vec<u8>,
        limit: usize,
    ) -> Result<(Copied, usize), Fault> {
        let mut copy = Copy { out, limit, cut: false };
        let mut at = at + 1;
        loop {
            at = copy.plain(text, at);
            match text.get(at) {
                Some(b'"') => return Ok((Copied { cut: copy.cut }, at + 1)),
                Some(b'\\') => {
                    let (length, meaning) = escape(text, at)?;
                    copy.push(meaning);
                    at += length;
                }
                Some(_) => return Err(Fault::invalid(at, "a control character inside a string")),
                None => return Err(Fault::End),
            }
        }
    }

    /// The text between the quotes, escapes and all.
    pub fn as_written(&self) -> &'t [u8] {
        self.inner
    }

    /// The string's value is `other`, in any case of ASCII letters.
    #[inline]
    pub fn is(&self, other: &str) -> bool {
        match self.escaped {
            false => self.inner.eq_ignore_ascii_case(other.as_bytes()),
            true => self.bytes().eq_ignore_ascii_case(other.as_bytes()),
        }
    }

    /// Nothing stands between the quotes.
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// Appends the string's value to `out`, `limit` bytes of it at most.
    pub fn unescape_into(&self, out: &mut Vec<u8>, limit: usize) -> Copied {
        let mut copy = Copy { out, limit, cut: false };
        let mut at = 0;
        while at < self.inner.len() {
            at = copy.plain(self.inner, at);
            if at >= self.inner.len() {
                break;
            }
            match escape(self.inner, at) {
                Ok((length, meaning)) => {
                    copy.push(meaning);
                    at += length;
                }
                // Not reached for a scanned string; any other byte stands for itself.
                Err(_) => {
                    copy.push(Meaning::Byte(self.inner[at]));
                    at += 1;
                }
            }
        }
        Copied { cut: copy.cut }
    }

    /// The string's value as bytes.
    pub fn bytes(&self) -> Cow<'t, [u8]> {
        if !self.escaped {
            return Cow::Borrowed(self.inner);
        }
        let mut out = Vec::with_capacity(self.inner.len());
        self.unescape_into(&mut out, usize::MAX);
        Cow::Owned(out)
    }

    /// The string's value as text; what is no UTF-8 becomes U+FFFD.
    pub fn text(&self) -> Cow<'t, str> {
        match self.bytes() {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(wrong) => String::from_utf8_lossy(wrong.as_bytes()).into_owned(),
            }),
        }
    }
}

/// The account of a string that was copied out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// The limit was reached and the rest left out.
    pub cut: bool,
}

/// A string's value on its way into a buffer that must not outgrow a limit.
struct Copy<'o> {
    out: &'o mut Vec<u8>,
    limit: usize,
    cut: bool,
}

impl Copy<'_> {
    /// Copies plain text up to the next interruption and returns where that stands.
    #[inline]
    fn plain(&mut self, text: &[u8], at: usize) -> usize {
        let end = plain_end(text, at);
        self.bytes(text.get(at..end).unwrap_or_default());
        end
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        let room = self.limit.saturating_sub(self.out.len());
        if bytes.len() > room {
            self.cut = true;
        }
        self.out.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    #[inline]
    fn push(&mut self, meaning: Meaning) {
        match meaning {
            Meaning::Byte(byte) => self.bytes(&[byte]),
            Meaning::Char(char) => self.bytes(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}
