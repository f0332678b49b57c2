//! Where a JSON string ends, and what it says: borrowed as it stands, or copied into a buffer on the way.

use super::{
    Buffer, Fault,
    marks::{SPAN, mask, plain_end},
};
use std::borrow::Cow;

/// What stands for itself, or for a control character, behind a backslash; 0 for all else.
pub(super) const SHORT: [u8; 256] = {
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
pub(super) fn escape(text: &[u8], at: usize) -> Result<(usize, char), Fault> {
    let letter = *text.get(at + 1).ok_or(Fault::End)?;
    let short = SHORT[letter as usize];
    if short != 0 {
        return Ok((2, short.into()));
    }
    if letter != b'u' {
        return Err(Fault::invalid(at + 1, "no such escape"));
    }
    let first = unit(text, at + 2)?;
    if (0xD800..0xDC00).contains(&first) && text.get(at + 6..at + 8) == Some(b"\\u") {
        // A broken second half is found again, and reported, when its own backslash is read.
        if let Ok(second @ 0xDC00..0xE000) = unit(text, at + 8) {
            let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            return Ok((12, char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)));
        }
    }
    Ok((6, char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER)))
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

/// Looks through a string from `at` on, inside of it, and returns where it ends: at its closing quote, at a control
/// character, or with the text.
fn string_end(text: &[u8], mut at: usize) -> Result<usize, Fault> {
    loop {
        let mut behind = at + SPAN;
        let mut marks = match text.get(at..).and_then(<[u8]>::first_chunk::<SPAN>) {
            Some(span) => mask(span),
            None => {
                let end = plain_end(text, at);
                if text.get(end) != Some(&b'\\') {
                    return Ok(end);
                }
                (at, behind) = (end, end + 1);
                1
            }
        };
        while marks != 0 {
            let mark = at + marks.trailing_zeros() as usize;
            if text.get(mark) != Some(&b'\\') {
                return Ok(mark);
            }
            let letter = *text.get(mark + 1).ok_or(Fault::End)?;
            if letter == b'u' {
                unit(text, mark + 2)?;
            } else if SHORT[letter as usize] == 0 {
                return Err(Fault::invalid(mark + 1, "no such escape"));
            }
            behind = behind.max(mark + 2);
            marks &= (marks - 1) & !(2 << (mark - at));
        }
        at = behind;
    }
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
        // Most strings are short and plain.
        let mut end = plain_end(text, start);
        let escaped = text.get(end) == Some(&b'\\');
        if escaped {
            end = string_end(text, end)?;
        }
        match text.get(end) {
            Some(b'"') => Ok((Self { inner: text.get(start..end).unwrap_or_default(), escaped }, end + 1)),
            Some(_) => Err(Fault::invalid(end, "a control character inside a string")),
            None => Err(Fault::End),
        }
    }

    /// As [`RawString::scan`], but the string's value is written to `out` on the way, to `limit` bytes at most.
    pub(super) fn scan_into(
        text: &'t [u8],
        at: usize,
        out: &mut Buffer,
        limit: usize,
    ) -> Result<(Copied, usize), Fault> {
        let mut end = out.unescape(text, at + 1, limit)?;
        let mut cut = out.len() > limit;
        if cut || text.get(end) != Some(&b'"') {
            // The limit was reached: what remains is only looked through.
            let (rest, behind) = Self::scan_rest(text, end)?;
            cut |= !rest.is_empty();
            end = behind - 1;
        }
        out.truncate(limit);
        Ok((Copied { cut }, end + 1))
    }

    /// As [`RawString::scan`], from the middle of a string.
    fn scan_rest(text: &'t [u8], at: usize) -> Result<(&'t [u8], usize), Fault> {
        let end = string_end(text, at)?;
        match text.get(end) {
            Some(b'"') => Ok((text.get(at..end).unwrap_or_default(), end + 1)),
            Some(_) => Err(Fault::invalid(end, "a control character inside a string")),
            None => Err(Fault::End),
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

    /// Writes the string's value to `out`, which then holds `limit` bytes at most.
    pub fn unescape_into(&self, out: &mut Buffer, limit: usize) -> Copied {
        // A scanned string has no fault.
        let end = out.unescape(self.inner, 0, limit).unwrap_or(self.inner.len());
        let cut = out.len() > limit || end < self.inner.len();
        out.truncate(limit);
        Copied { cut }
    }

    /// The string's value as bytes.
    #[inline]
    pub fn bytes(&self) -> Cow<'t, [u8]> {
        if self.escaped { self.unescaped() } else { Cow::Borrowed(self.inner) }
    }

    #[cold]
    fn unescaped(&self) -> Cow<'t, [u8]> {
        let mut out = Buffer::with_room(self.inner.len());
        self.unescape_into(&mut out, usize::MAX);
        Cow::Owned(out.into_bytes())
    }

    /// The string's value as text; what is no UTF-8 becomes U+FFFD.
    pub fn text(&self) -> Cow<'t, str> {
        match self.bytes() {
            Cow::Borrowed(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => String::from_utf8_lossy(bytes),
            },
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
