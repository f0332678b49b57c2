//! Pseudonyms in text: cut to the shortest prefix that is still unique in the report, eight digits at least.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    ops::Bound::{Excluded, Unbounded},
};

const DIGITS: usize = 16;
const SHORTEST: usize = 8;

/// The pseudonyms of one report, and how short each may be written.
#[derive(Debug, Default)]
pub struct Shortener(BTreeSet<String>);

impl Shortener {
    /// Takes in every pseudonym that stands in a text.
    pub fn learn(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = find(rest) {
            self.0.insert(rest[at..at + 2 + DIGITS].to_owned());
            rest = &rest[at + 2 + DIGITS..];
        }
    }

    /// The text with its pseudonyms shortened.
    pub fn shorten<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if find(text).is_none() {
            return Cow::Borrowed(text);
        }
        let (mut out, mut rest) = (String::with_capacity(text.len()), text);
        while let Some(at) = find(rest) {
            let end = at + 2 + DIGITS;
            out.push_str(&rest[..at + 2 + self.length(&rest[at..end])]);
            rest = &rest[end..];
        }
        out.push_str(rest);
        Cow::Owned(out)
    }

    /// How many digits of a pseudonym tell it from every other.
    fn length(&self, name: &str) -> usize {
        let before = self.0.range::<str, _>((Unbounded, Excluded(name))).next_back();
        let after = self.0.range::<str, _>((Excluded(name), Unbounded)).next();
        let shared = |other: &String| name.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let longest = before.into_iter().chain(after).map(shared).max().unwrap_or(0);
        // Two bytes are the letter and its underscore; one digit more than what is shared tells them apart.
        (longest.saturating_sub(2) + 1).clamp(SHORTEST, DIGITS)
    }
}

/// Where the first pseudonym stands: a letter of its kind, `_` and 16 hex digits, on their own.
fn find(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let word = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    memchr::memchr_iter(b'_', bytes).filter_map(|mark| mark.checked_sub(1)).find(|at| {
        matches!(bytes[*at], b's' | b'c' | b'a' | b'p' | b'k')
            && !(*at > 0 && word(at - 1))
            && bytes.get(at + 2..at + 2 + DIGITS).is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit))
            && !word(at + 2 + DIGITS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pseudonym_is_as_short_as_its_neighbours_allow() {
        let mut short = Shortener::default();
        let text = "s_3f9a1c2e5b7d9f01 s_3f9a1c2e5b7d0000 c_00000000000000aa:3 s_0000000000000000";
        short.learn(text);
        assert_eq!(short.shorten(text), "s_3f9a1c2e5b7d9 s_3f9a1c2e5b7d0 c_00000000:3 s_00000000");
    }

    #[test]
    fn words_that_only_look_like_pseudonyms_are_left_alone() {
        let mut short = Shortener::default();
        let text = "class_0123456789abcdef s_0123456789abcdef0 s_xyz é_ s_";
        short.learn(text);
        assert_eq!(short.shorten(text), text);
    }
}
