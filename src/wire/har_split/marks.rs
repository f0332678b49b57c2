//! Where a JSON string is interrupted: by its closing quote, a backslash, or a character that must not stand in it.
//!
//! Eight bytes are looked at in one word where strings are short, 64 in one mask where they are long.

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

/// How many bytes [`mask`] looks at.
pub(super) const SPAN: usize = 64;

/// One bit for each byte that interrupts a string, the first one lowest.
#[inline]
pub(super) fn mask(bytes: &[u8; SPAN]) -> u64 {
    // Written so that the compiler makes vector comparisons of the first loop.
    let mut marks = [0_u8; SPAN];
    for (mark, byte) in marks.iter_mut().zip(bytes) {
        *mark = u8::from(*byte == b'"') | u8::from(*byte == b'\\') | u8::from(*byte < 0x20);
    }
    let (words, _) = marks.as_chunks::<8>();
    let mut mask = 0;
    for (i, word) in words.iter().enumerate() {
        // Brings the lowest bits of eight bytes together in the topmost byte.
        let bits = u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * i);
    }
    mask
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
