//! Where entries begin, found without reading from the start.
//!
//! `"startedDateTime"` with unescaped quotes can only be a string of its own, for inside a string its first quote would
//! have to be escaped; with a colon behind it, it is a key. From a key it is short to the end of the object that
//! holds it. Whether that object is an entry nobody knows here: whoever reads up to a boundary must verify it.

use super::marks::plain_end;
use memchr::memmem;

const KEY: &[u8] = br#""startedDateTime""#;

/// How many keys are tried from the end of a text backwards.
const TRIES: usize = 24;

/// The last place in the text where, by all appearance, an entry begins behind a complete one.
pub fn last_boundary(text: &[u8]) -> Option<usize> {
    let finder = memmem::FinderRev::new(KEY);
    let mut end = text.len();
    for _ in 0..TRIES {
        let key = finder.rfind(text.get(..end)?)?;
        if is_key(text, key)
            && let Some(behind) = object_end(text, key)
            && let Some(next) = after_comma(text, behind)
        {
            return Some(next);
        }
        end = key;
    }
    None
}

/// The string at `at` is a key: a comma or an opening brace precedes it, a colon follows.
fn is_key(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_ascii_end();
    matches!(before.last(), Some(b'{' | b',')) && text.get(skip_white(text, at + KEY.len())) == Some(&b':')
}

/// The beginning of the object that follows a comma.
pub(super) fn after_comma(text: &[u8], at: usize) -> Option<usize> {
    let comma = skip_white(text, at);
    let next = skip_white(text, comma + 1);
    (text.get(comma) == Some(&b',') && text.get(next) == Some(&b'{')).then_some(next)
}

pub(super) fn skip_white(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().position(|b| !matches!(b, b' ' | b'\n' | b'\r' | b'\t')).map_or(text.len(), |n| at + n)
}

/// The offset behind the object inside which `at` stands, outside of any string. Brackets are only counted.
pub(super) fn object_end(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 1_usize;
    loop {
        match *text.get(at)? {
            b'"' => {
                at = plain_end(text, at + 1);
                loop {
                    match *text.get(at)? {
                        b'"' => break,
                        b'\\' => at += 2,
                        _ => at += 1,
                    }
                    at = plain_end(text, at);
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}
