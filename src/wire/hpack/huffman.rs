//! The Huffman code of HPACK (RFC 7541, appendix B), which is canonical: the lengths of its words are all of it.

use std::sync::LazyLock;

/// The length in bits of each byte's word, and last that of the end of string.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28,
    28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15,
    6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20,
    20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23,
    24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22,
    22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27,
    24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26,
    26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

const LONGEST: usize = 30;

/// Symbols in the order of their words, and for each length the first word and how many there are.
struct Code {
    symbols: Vec<u16>,
    first: [u32; LONGEST + 1],
    count: [u32; LONGEST + 1],
    index: [usize; LONGEST + 1],
}

static CODE: LazyLock<Code> = LazyLock::new(|| {
    let mut symbols: Vec<u16> = (0..=256).collect();
    symbols.sort_by_key(|s| LENGTHS[usize::from(*s)]);
    let (mut first, mut count, mut index) = ([0; LONGEST + 1], [0; LONGEST + 1], [0; LONGEST + 1]);
    for length in LENGTHS {
        count[usize::from(length)] += 1;
    }
    for length in 1..=LONGEST {
        first[length] = (first[length - 1] + count[length - 1]) << 1;
        index[length] = index[length - 1] + count[length - 1] as usize;
    }
    Code { symbols, first, count, index }
});

/// Decodes a string; none where it holds the end of string or a word that is cut by more than padding.
pub fn decode(bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let code = &*CODE;
    let (mut word, mut length) = (0_u32, 0);
    for byte in bytes {
        for bit in (0..8).rev() {
            word = word << 1 | u32::from(byte >> bit & 1);
            length += 1;
            let beyond = word.wrapping_sub(code.first[length]);
            if beyond < code.count[length] {
                let symbol = *code.symbols.get(code.index[length] + beyond as usize)?;
                out.push(u8::try_from(symbol).ok()?);
                (word, length) = (0, 0);
            } else if length == LONGEST {
                return None;
            }
        }
    }
    let is_padding = length < 8 && word == (1 << length) - 1;
    is_padding.then_some(())
}
