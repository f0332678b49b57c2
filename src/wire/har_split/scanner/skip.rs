//! How a value is passed over that no one asks for: in full strictness, and at one bit a level.

use super::{Fault, RawString, Scanner};

impl Scanner<'_> {
    /// Reads any value and keeps nothing of it.
    ///
    /// # Errors
    ///
    /// The value is malformed.
    pub fn skip(&mut self) -> Result<(), Fault> {
        let mut open = Levels::default();
        loop {
            let byte = self.peek().ok_or(Fault::End)?;
            match byte {
                b'"' => self.at = RawString::scan(self.text, self.at)?.1,
                b'{' => {
                    self.at += 1;
                    if !self.accept(b'}') {
                        self.key()?;
                        open.push(true);
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    if !self.accept(b']') {
                        open.push(false);
                        continue;
                    }
                }
                b't' => self.literal(b"true")?,
                b'f' => self.literal(b"false")?,
                b'n' => self.literal(b"null")?,
                b'-' | b'0'..=b'9' => self.number()?,
                _ => return Err(Fault::invalid(self.at, "no value")),
            }
            // A value has ended, and perhaps what holds it, and what holds that.
            loop {
                let Some(in_object) = open.innermost() else { return Ok(()) };
                match self.peek().ok_or(Fault::End)? {
                    b',' => {
                        self.at += 1;
                        if in_object {
                            self.key()?;
                        }
                        break;
                    }
                    b'}' if in_object => open.pop(),
                    b']' if !in_object => open.pop(),
                    _ => return Err(Fault::invalid(self.at, "neither a comma nor a closing bracket")),
                }
                self.at += 1;
            }
        }
    }

    pub(super) fn literal(&mut self, word: &'static [u8]) -> Result<(), Fault> {
        for (i, byte) in word.iter().enumerate() {
            match self.text.get(self.at + i) {
                Some(found) if found == byte => {}
                Some(_) => return Err(Fault::invalid(self.at + i, "no value")),
                None => return Err(Fault::End),
            }
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        if self.text.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        if self.text.get(self.at) == Some(&b'0') {
            self.at += 1;
            if self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
                return Err(Fault::invalid(self.at, "a digit behind a leading zero"));
            }
        } else {
            self.digits()?;
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.text.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.text.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// At least one digit.
    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        match self.text.get(self.at) {
            _ if self.at > start => Ok(()),
            Some(_) => Err(Fault::invalid(self.at, "no digit")),
            None => Err(Fault::End),
        }
    }
}

/// The objects (`true`) and arrays that are open: one bit each, the innermost lowest.
#[derive(Default)]
struct Levels {
    word: u64,
    depth: usize,
    full: Vec<u64>,
}

impl Levels {
    fn innermost(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.word & 1 == 1)
    }

    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.full.push(self.word);
        }
        self.word = self.word << 1 | u64::from(object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.word >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.word = self.full.pop().unwrap_or_default();
        }
    }
}
