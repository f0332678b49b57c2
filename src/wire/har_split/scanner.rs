//! A strict JSON scanner that goes once over a text, keeps no tree and recurses nowhere.

use super::{Buffer, Copied, RawString, Scalar};
use std::borrow::Cow;

mod skip;

/// Why a text is no JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The text ended inside a value; what there was of it is valid.
    #[error("the text ends inside a value")]
    End,
    /// A byte that cannot stand where it does.
    #[error("{what} at byte {at}")]
    Invalid {
        /// Its offset in the text.
        at: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

impl Fault {
    pub(super) fn invalid(at: usize, what: &'static str) -> Self {
        Self::Invalid { at, what }
    }
}

/// A place in a JSON text.
///
/// It accepts what JSON is and nothing more, except that strings need not be UTF-8. A value that no one asks for costs
/// one bit of memory a level of nesting.
#[derive(Clone, Copy, Debug)]
pub struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Scanner<'t> {
    /// Stands at an offset of a text.
    pub fn new(text: &'t [u8], at: usize) -> Self {
        Self { text, at }
    }

    /// The offset.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The text.
    pub(super) fn text(&self) -> &'t [u8] {
        self.text
    }

    /// Stands at another offset.
    pub(super) fn go(&mut self, at: usize) {
        self.at = at;
    }

    /// Steps over white space and returns the byte behind it; none at the text's end.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.text.get(self.at)? {
                b' ' => {
                    self.at += 1;
                    self.spaces();
                }
                b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Steps over the indentation of a line.
    #[inline]
    fn spaces(&mut self) {
        const SPACES: u64 = 0x2020_2020_2020_2020;
        while let Some(chunk) = self.text.get(self.at..).and_then(|t| t.first_chunk()) {
            let other = u64::from_le_bytes(*chunk) ^ SPACES;
            if other != 0 {
                self.at += other.trailing_zeros() as usize / 8;
                return;
            }
            self.at += 8;
        }
    }

    /// Steps over white space and over `byte`, if that is what follows.
    #[inline]
    pub fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Steps over white space and over `byte`.
    ///
    /// # Errors
    ///
    /// Something else follows.
    #[inline]
    pub fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), Fault> {
        match self.peek() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(Fault::invalid(self.at, what)),
            None => Err(Fault::End),
        }
    }

    /// Reads a string.
    ///
    /// # Errors
    ///
    /// Something else follows, or the string is malformed.
    #[inline]
    pub fn string(&mut self) -> Result<RawString<'t>, Fault> {
        self.quote()?;
        let (string, end) = RawString::scan(self.text, self.at)?;
        self.at = end;
        Ok(string)
    }

    /// Reads a string and appends its value to `out`, which then holds `limit` bytes at most.
    ///
    /// # Errors
    ///
    /// As [`Scanner::string`].
    pub fn string_into(&mut self, out: &mut Buffer, limit: usize) -> Result<Copied, Fault> {
        self.quote()?;
        let (copied, end) = RawString::scan_into(self.text, self.at, out, limit)?;
        self.at = end;
        Ok(copied)
    }

    #[inline]
    fn quote(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Some(b'"') => Ok(()),
            Some(_) => Err(Fault::invalid(self.at, "no string")),
            None => Err(Fault::End),
        }
    }

    /// Between the members of an object or array: a comma, and another follows, or the end.
    ///
    /// # Errors
    ///
    /// Neither of the two follows.
    #[inline]
    pub fn another(&mut self, closing: u8) -> Result<bool, Fault> {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == closing => {
                self.at += 1;
                Ok(false)
            }
            Some(_) => Err(Fault::invalid(self.at, "neither a comma nor a closing bracket")),
            None => Err(Fault::End),
        }
    }

    /// Reads the key of a member and the colon behind it.
    ///
    /// # Errors
    ///
    /// Something else follows.
    #[inline]
    pub fn key(&mut self) -> Result<RawString<'t>, Fault> {
        match self.peek() {
            Some(b'"') => {}
            Some(_) => return Err(Fault::invalid(self.at, "no key")),
            None => return Err(Fault::End),
        }
        let (key, end) = RawString::scan(self.text, self.at)?;
        self.at = end;
        self.expect(b':', "no colon behind a key")?;
        Ok(key)
    }

    /// Reads an object; `member` is called with the value of each key and must read what follows.
    ///
    /// # Errors
    ///
    /// Something else follows, the object is malformed, or `member` says so.
    #[inline]
    pub fn object(&mut self, mut member: impl FnMut(&mut Self, &[u8]) -> Result<(), Fault>) -> Result<(), Fault> {
        self.members(|scanner, key| match key.bytes() {
            Cow::Borrowed(key) => member(scanner, key),
            Cow::Owned(key) => member(scanner, &key),
        })
    }

    /// As [`Scanner::object`], with the keys as they stand in the text.
    ///
    /// # Errors
    ///
    /// As [`Scanner::object`].
    #[inline]
    pub fn members(
        &mut self,
        mut member: impl FnMut(&mut Self, RawString<'t>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.expect(b'{', "no object")?;
        if self.accept(b'}') {
            return Ok(());
        }
        loop {
            let key = self.key()?;
            member(self, key)?;
            if !self.another(b'}')? {
                return Ok(());
            }
        }
    }

    /// Reads an array; `element` is called for each element and must read it.
    ///
    /// # Errors
    ///
    /// Something else follows, the array is malformed, or `element` says so.
    #[inline]
    pub fn array(&mut self, mut element: impl FnMut(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        self.expect(b'[', "no array")?;
        if self.accept(b']') {
            return Ok(());
        }
        loop {
            element(self)?;
            if !self.another(b']')? {
                return Ok(());
            }
        }
    }

    /// Reads any value; of an object or array, only where it stands.
    ///
    /// # Errors
    ///
    /// The value is malformed.
    #[inline]
    pub fn scalar(&mut self) -> Result<Scalar<'t>, Fault> {
        let byte = self.peek().ok_or(Fault::End)?;
        let start = self.at;
        Ok(match byte {
            b'"' => Scalar::Text(self.string()?),
            b'n' => {
                self.literal(b"null")?;
                Scalar::Null
            }
            _ => {
                self.skip()?;
                let span = self.text.get(start..self.at).unwrap_or_default();
                match byte {
                    b't' | b'f' => Scalar::Bool(byte == b't'),
                    b'{' | b'[' => Scalar::Nested(span),
                    _ => Scalar::Number(span),
                }
            }
        })
    }
}
