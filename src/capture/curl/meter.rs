//! The progress meter that curl draws into the same text: it is taken out before anything else is read.

use std::borrow::Cow;

/// A line without meters.
pub struct Line<'t> {
    /// What remains.
    pub text: Cow<'t, [u8]>,
    /// The line's end belongs to the text, not to a meter.
    pub ends: bool,
}

/// Takes the meters out of one line (without its LF). None for a line that is nothing else.
pub fn strip(line: &[u8]) -> Option<Line<'_>> {
    if line.starts_with(b"  % Total    % Received")
        || line.trim_ascii() == b"Dload  Upload   Total   Spent    Left  Speed"
    {
        return None;
    }
    let Some(first) = memchr::memchr_iter(b'\r', line).find(|at| meter(&line[*at..]).is_some()) else {
        return Some(Line { text: Cow::Borrowed(line), ends: true });
    };
    let mut text = line[..first].to_vec();
    let mut rest = &line[first..];
    let mut ends = false;
    while !rest.is_empty() {
        if let Some(length) = meter(rest) {
            rest = &rest[length..];
            ends = false;
        } else {
            let next = memchr::memchr(b'\r', &rest[1..]).map_or(rest.len(), |at| at + 1);
            text.extend_from_slice(&rest[..next]);
            rest = &rest[next..];
            ends = true;
        }
    }
    (ends || !text.is_empty()).then_some(Line { text: Cow::Owned(text), ends })
}

/// Length of the meter that `text` begins with: CR and twelve columns, the last one five wide.
fn meter(text: &[u8]) -> Option<usize> {
    let mut at = text.starts_with(b"\r").then_some(1)?;
    let word = |at: &mut usize| {
        let spaces = text.get(*at..)?.iter().take_while(|b| **b == b' ').count();
        let rest = &text[*at + spaces..];
        let length = rest.iter().take_while(|b| !matches!(b, b' ' | b'\r')).take(12).count();
        *at += spaces + length;
        rest.get(..length)
    };
    for column in 0..8 {
        let word = word(&mut at)?;
        let sized = column == 1 || column == 3 || column >= 5;
        let digits = match word.last()? {
            b'k' | b'M' | b'G' | b'T' | b'P' if sized => &word[..word.len() - 1],
            _ => word,
        };
        if digits.is_empty() || !digits.iter().all(|b| b.is_ascii_digit() || *b == b'.') {
            return None;
        }
    }
    for _ in 0..3 {
        let word = word(&mut at)?;
        if word.len() < 3 || !word.iter().all(|b| b.is_ascii_digit() || matches!(b, b':' | b'-' | b'd' | b'h' | b'm')) {
            return None;
        }
    }
    let last = text.get(at..at + 6)?;
    let speed = last.trim_ascii_start();
    let valid = !speed.is_empty()
        && last[0] == b' '
        && speed.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'k' | b'M' | b'G' | b'T' | b'P'));
    valid.then_some(at + 6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &str) -> Option<(String, bool)> {
        strip(line.as_bytes()).map(|l| (String::from_utf8(l.text.into_owned()).expect("text"), l.ends))
    }

    #[test]
    fn meters_are_taken_out_wherever_they_stand_in_a_line() {
        let meter = "\r100   216    0    49  100   167    243    829 --:--:-- --:--:-- --:--:--  1069";
        let k = "\r100  3323    0  3258  100    65   510k  10425  0:00:01  0:00:02 --:--:--  540k";
        assert_eq!(text(&format!("{meter}event: message\r")), Some(("event: message\r".into(), true)));
        assert_eq!(text(&format!("{meter}{k}7 is text")), Some(("7 is text".into(), true)));
        assert_eq!(text(&format!("{{}}{meter}")), Some(("{}".into(), false)));
        assert_eq!(text(&format!("{meter}{k}")), None);
        assert_eq!(text("  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current"), None);
    }

    #[test]
    fn text_that_only_resembles_a_meter_stays() {
        for line in ["data: 1\r", "\r1 2 3 4", "\r100 216 0 49 100 167 243 829 ab cd ef 1069", "\r"] {
            assert_eq!(text(line), Some((line.into(), true)));
        }
    }
}
