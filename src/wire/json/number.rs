//! JSON numbers: where one ends, and one spelling for each value.

use super::{Json, Malformed};
use std::borrow::Cow;

impl<'a> Json<'a> {
    /// Takes a number as it stands.
    ///
    /// # Errors
    /// Where it breaks the grammar (leading zeros, a point without digits …).
    pub fn number(&mut self) -> Result<&'a [u8], Malformed> {
        self.space();
        let start = self.at;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        match self.byte() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.malformed(),
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            self.some_digits()?;
        }
        Ok(self.slice(start, self.at))
    }

    fn digits(&mut self) {
        while self.byte().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Result<(), Malformed> {
        if !self.byte().is_some_and(|b| b.is_ascii_digit()) {
            return self.malformed();
        }
        self.digits();
        Ok(())
    }
}

/// One spelling for each value: `1.0`, `10e-1` and `1` are `1`; a fraction or a huge exponent becomes `<digits>e<exponent>`.
/// Digits are never lost, whatever the size.
pub fn canonical(number: &[u8]) -> Cow<'_, [u8]> {
    if !number.iter().any(|b| matches!(b, b'.' | b'e' | b'E')) {
        return if number == b"-0" { Cow::Borrowed(b"0") } else { Cow::Borrowed(number) };
    }
    let (sign, number) = number.strip_prefix(b"-").map_or((false, number), |n| (true, n));
    let split = number.iter().position(|b| matches!(b, b'e' | b'E'));
    let (mantissa, exponent) = split.map_or((number, &[][..]), |at| (&number[..at], &number[at + 1..]));
    let exponent = std::str::from_utf8(exponent).unwrap_or_default();
    let limit = if exponent.starts_with('-') { i64::MIN / 4 } else { i64::MAX / 4 };
    let exponent: i64 = if exponent.is_empty() { 0 } else { exponent.parse().unwrap_or(limit) };
    let point = mantissa.iter().position(|b| *b == b'.');
    let fraction = point.map_or(0, |at| mantissa.len() - at - 1);
    let mut digits: Vec<u8> = mantissa.iter().copied().filter(|b| *b != b'.').skip_while(|b| *b == b'0').collect();
    let mut exponent = exponent.clamp(i64::MIN / 4, i64::MAX / 4) - fraction as i64;
    while digits.last() == Some(&b'0') {
        digits.pop();
        exponent += 1;
    }
    if digits.is_empty() {
        return Cow::Borrowed(b"0");
    }
    if (1..=40).contains(&exponent) {
        digits.extend(std::iter::repeat_n(b'0', exponent as usize));
        exponent = 0;
    }
    if exponent != 0 {
        digits.extend_from_slice(format!("e{exponent}").as_bytes());
    }
    if sign {
        digits.insert(0, b'-');
    }
    Cow::Owned(digits)
}
