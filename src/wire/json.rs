//! JSON without trees: a pull scanner that validates, hands out members, and digests values in one pass.
//!
//! The digest of a value does not depend on member order, white space, number spelling (`1.0` is `1`) or escapes.
//! Nesting is followed to [`DEPTH`]; deeper values are passed over by their brackets and digested as bytes.

mod number;
mod text;

pub use number::canonical;
pub use text::Text;

use siphasher::sip128::{Hasher128, SipHasher13};
use std::hash::Hasher;

/// How deep values are followed.
pub const DEPTH: u32 = 128;

/// Where and why a text is no JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Offset of the byte that cannot stand there; the length of the text where it ends too early.
    pub at: usize,
}

/// What a value is, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{`
    Object,
    /// `[`
    Array,
    /// `"`
    String,
    /// A digit or `-`
    Number,
    /// `true`, `false`
    Bool,
    /// `null`
    Null,
}

/// A scanner over one JSON text.
#[derive(Clone, Debug)]
pub struct Json<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
    key: [u64; 2],
    digesting: bool,
}

impl<'a> Json<'a> {
    /// A scanner at the start of `bytes`, with the key of its digests.
    pub fn new(bytes: &'a [u8], key: &[u8; 16]) -> Self {
        let half = |i: usize| u64::from_le_bytes(std::array::from_fn(|j| key[i + j]));
        Self { bytes, at: 0, depth: 0, key: [half(0), half(8)], digesting: true }
    }

    /// The keyed digest of bytes as they are.
    pub fn digest_bytes(bytes: &'a [u8], key: &[u8; 16]) -> u128 {
        Self::new(bytes, key).hash(b'b', bytes)
    }

    /// The keyed digest of bytes as they are, behind others whose digest is given.
    pub fn digest_behind(bytes: &'a [u8], before: u128, key: &[u8; 16]) -> u64 {
        let json = Self::new(bytes, key);
        let keys = (json.key[0] ^ before as u64 ^ u64::from(b'b'), json.key[1] ^ (before >> 64) as u64);
        let mut hasher = siphasher::sip::SipHasher13::new_with_keys(keys.0, keys.1);
        hasher.write(bytes);
        hasher.finish()
    }

    /// Offset of the next byte.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// The text between two offsets.
    pub fn slice(&self, from: usize, to: usize) -> &'a [u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// From here on values are validated but not digested, until switched on again. Gives the former state.
    pub fn set_digesting(&mut self, on: bool) -> bool {
        std::mem::replace(&mut self.digesting, on)
    }

    fn malformed<T>(&self) -> Result<T, Malformed> {
        Err(Malformed { at: self.at.min(self.bytes.len()) })
    }

    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        self.space();
        if self.byte() != Some(byte) {
            return self.malformed();
        }
        self.at += 1;
        Ok(())
    }

    /// What the next value is.
    ///
    /// # Errors
    /// Where no value can begin.
    pub fn kind(&mut self) -> Result<Kind, Malformed> {
        self.space();
        Ok(match self.byte() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => return self.malformed(),
        })
    }

    /// Only white space is left.
    ///
    /// # Errors
    /// Where something else follows.
    pub fn end(&mut self) -> Result<(), Malformed> {
        self.space();
        if self.at == self.bytes.len() { Ok(()) } else { self.malformed() }
    }

    /// A keyed digest of bytes, apart by purpose.
    fn hash(&self, purpose: u8, bytes: &[u8]) -> u128 {
        if !self.digesting {
            return 0;
        }
        let mut hasher = SipHasher13::new_with_keys(self.key[0] ^ u64::from(purpose), self.key[1]);
        hasher.write(bytes);
        hasher.finish128().as_u128()
    }

    /// Walks an object: `each` gets every member's name and must consume its value and give the value's digest.
    ///
    /// # Errors
    /// Where the text is malformed, or `each` fails.
    pub fn object<F>(&mut self, mut each: F) -> Result<u128, Malformed>
    where
        F: FnMut(&mut Self, &Text<'a>) -> Result<u128, Malformed>,
    {
        self.expect(b'{')?;
        self.depth += 1;
        self.space();
        let sum = if self.byte() == Some(b'}') {
            self.at += 1;
            self.depth -= 1;
            0
        } else {
            let first = self.member(&mut each)?;
            first.wrapping_add(self.members(&mut each)?)
        };
        Ok(self.hash(b'{', &sum.to_le_bytes()))
    }

    /// Stands inside of so many objects, behind a value in the innermost, at an offset where that is so.
    pub fn go(&mut self, at: usize, depth: u32) {
        (self.at, self.depth) = (at, depth);
    }

    /// As [`Json::object`], from behind a value inside of the object; the sum is that of the members that follow.
    ///
    /// # Errors
    /// Where the text is malformed, or `each` fails.
    pub fn members<F>(&mut self, mut each: F) -> Result<u128, Malformed>
    where
        F: FnMut(&mut Self, &Text<'a>) -> Result<u128, Malformed>,
    {
        let mut sum = 0_u128;
        loop {
            self.space();
            match self.byte() {
                Some(b',') => {
                    self.at += 1;
                    sum = sum.wrapping_add(self.member(&mut each)?);
                }
                Some(b'}') => {
                    self.at += 1;
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(sum);
                }
                _ => return self.malformed(),
            }
        }
    }

    fn member<F>(&mut self, each: &mut F) -> Result<u128, Malformed>
    where
        F: FnMut(&mut Self, &Text<'a>) -> Result<u128, Malformed>,
    {
        let name = self.text()?;
        self.expect(b':')?;
        let value = each(self, &name)?;
        Ok(self.bind(&name, value))
    }

    /// What a member adds to an order-independent sum over the members of an object.
    pub fn bind(&self, name: &Text<'_>, value: u128) -> u128 {
        if !self.digesting {
            return 0;
        }
        // The value's digest is part of the key, so that one pass over the name binds the two.
        let mut hasher = SipHasher13::new_with_keys(self.key[0] ^ (value as u64), self.key[1] ^ ((value >> 64) as u64));
        hasher.write(&name.bytes());
        hasher.finish128().as_u128()
    }

    /// Walks an array: `each` must consume every element and give its digest.
    ///
    /// # Errors
    /// Where the text is malformed, or `each` fails.
    pub fn array<F>(&mut self, mut each: F) -> Result<u128, Malformed>
    where
        F: FnMut(&mut Self) -> Result<u128, Malformed>,
    {
        self.expect(b'[')?;
        self.depth += 1;
        let mut hasher = SipHasher13::new_with_keys(self.key[0] ^ u64::from(b'['), self.key[1]);
        self.space();
        if self.byte() == Some(b']') {
            self.at += 1;
        } else {
            loop {
                let element = each(self)?;
                if self.digesting {
                    hasher.write(&element.to_le_bytes());
                }
                self.space();
                match self.byte() {
                    Some(b',') => self.at += 1,
                    Some(b']') => {
                        self.at += 1;
                        break;
                    }
                    _ => return self.malformed(),
                }
            }
        }
        self.depth -= 1;
        Ok(if self.digesting { hasher.finish128().as_u128() } else { 0 })
    }

    /// Passes over one value of any kind and gives its digest.
    ///
    /// # Errors
    /// Where the text is malformed.
    pub fn value(&mut self) -> Result<u128, Malformed> {
        match self.kind()? {
            Kind::Object | Kind::Array if self.depth >= DEPTH => self.pass_over(),
            Kind::Object => self.object(|json, _| json.value()),
            Kind::Array => self.array(Self::value),
            Kind::String => {
                let text = self.text()?;
                Ok(if self.digesting { self.hash(b'"', &text.bytes()) } else { 0 })
            }
            Kind::Number => {
                let number = self.number()?;
                Ok(if self.digesting { self.hash(b'0', &canonical(number)) } else { 0 })
            }
            Kind::Bool | Kind::Null => {
                let word: &[u8] = match self.byte() {
                    Some(b't') => b"true",
                    Some(b'f') => b"false",
                    _ => b"null",
                };
                if !self.bytes[self.at..].starts_with(word) {
                    return self.malformed();
                }
                self.at += word.len();
                Ok(self.hash(b'w', word))
            }
        }
    }

    /// Passes over an object or array that is nested too deep to follow, by its brackets.
    fn pass_over(&mut self) -> Result<u128, Malformed> {
        let start = self.at;
        let mut open = 0_usize;
        loop {
            match self.byte() {
                Some(b'"') => {
                    self.text()?;
                    continue;
                }
                Some(b'{' | b'[') => open += 1,
                Some(b'}' | b']') => open -= 1,
                Some(_) => {}
                None => return self.malformed(),
            }
            self.at += 1;
            if open == 0 {
                return Ok(self.hash(b'd', self.slice(start, self.at)));
            }
        }
    }
}
