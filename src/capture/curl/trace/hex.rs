//! The lines of `--trace`: an offset, sixteen bytes in hex, and the same as text. Exact.

use super::ascii::Rebuilt;

/// The bytes of the record whose lines begin at `at`, and the offset behind them.
pub fn record(text: &[u8], mut at: usize, size: Option<usize>) -> (Rebuilt, usize) {
    let mut bytes = Vec::new();
    while at < text.len() && size.is_none_or(|s| bytes.len() < s) {
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |n| at + n);
        let Some(columns) = columns(&text[at..end], bytes.len()) else { break };
        let before = bytes.len();
        for column in columns.chunks(3).take(16) {
            let Some(byte) = column.get(..2).and_then(byte) else { break };
            bytes.push(byte);
        }
        if bytes.len() == before {
            break;
        }
        at = (end + 1).min(text.len());
    }
    bytes.truncate(size.unwrap_or(usize::MAX));
    (Rebuilt::exact(bytes), at)
}

/// What follows the offset, where the line has the expected one.
fn columns(line: &[u8], expected: usize) -> Option<&[u8]> {
    let colon = memchr::memchr(b':', &line[..line.len().min(17)])?;
    let offset = usize::from_str_radix(std::str::from_utf8(&line[..colon]).ok()?, 16).ok()?;
    (offset == expected).then(|| line.get(colon + 2..))?
}

fn byte(digits: &[u8]) -> Option<u8> {
    let digit = |b: u8| char::from(b).to_digit(16);
    u8::try_from(digit(digits[0])? * 16 + digit(digits[1])?).ok()
}
