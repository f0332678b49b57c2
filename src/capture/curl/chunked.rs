//! The chunk framing of HTTP inside a body that a trace printed as it came.

use crate::capture::encoded::Marks;

/// The body begins with a chunk's size line.
pub fn begins(body: &[u8]) -> bool {
    size(body).is_some()
}

/// The size that a chunk's first line says, and that line's length.
fn size(text: &[u8]) -> Option<(usize, usize)> {
    let digits = text.iter().take_while(|b| b.is_ascii_hexdigit()).take(16).count();
    let end = text.get(digits..)?.iter().take(1024).position(|b| *b == b'\n')? + digits;
    let extension = text.get(digits..end)?.strip_suffix(b"\r")?;
    if !(extension.is_empty() || extension.starts_with(b";")) {
        return None;
    }
    let number = std::str::from_utf8(&text[..digits]).ok()?;
    Some((usize::from_str_radix(number, 16).ok()?, end + 1))
}

/// The payload, the marks moved to its offsets, and whether the last chunk was there.
pub fn undone(framed: &[u8], marks: &Marks) -> (Vec<u8>, Marks, bool) {
    let mut body = Vec::with_capacity(framed.len());
    let mut moved = Marks::with_capacity(marks.len());
    let mut marks = marks.iter().peekable();
    // Marks up to the framed offset `to` lie `behind` bytes before their place in the payload, but not past its end.
    let mut pass = |to: usize, payload_start: usize, framed_start: usize, length: usize| {
        while let Some((at, time)) = marks.next_if(|(at, _)| *at <= to as u64) {
            let inside = usize::try_from(*at).unwrap_or(usize::MAX).saturating_sub(framed_start).min(length);
            moved.push(((payload_start + inside) as u64, *time));
        }
    };
    let (mut at, mut finished) = (0, false);
    while let Some((size, line)) = framed.get(at..).and_then(size) {
        let start = at + line;
        let end = start.saturating_add(size).min(framed.len());
        let payload = &framed[start..end];
        body.extend_from_slice(payload);
        // The line end behind a chunk belongs to it.
        let next = end.saturating_add(2).min(framed.len());
        pass(next, body.len() - payload.len(), start, payload.len());
        at = next;
        if size == 0 {
            finished = true;
            break;
        }
    }
    pass(usize::MAX, body.len(), 0, 0);
    (body, moved, finished)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;

    #[test]
    fn payload_and_marks_lose_the_framing() {
        let framed = b"3\r\nabc\r\n5;x=y\r\ndefgh\r\n0\r\n\r\n";
        let marks = vec![(8, Time(1)), (17, Time(2)), (22, Time(3)), (27, Time(4))];
        let (body, moved, finished) = undone(framed, &marks);
        assert_eq!(body, b"abcdefgh");
        assert_eq!(moved, [(3, Time(1)), (5, Time(2)), (8, Time(3)), (8, Time(4))]);
        assert!(finished);
    }

    #[test]
    fn a_cut_body_is_kept_and_not_finished() {
        let (body, _, finished) = undone(b"5\r\nab", &Marks::new());
        assert_eq!((body.as_slice(), finished), (&b"ab"[..], false));
        let (body, _, finished) = undone(b"ffffffffffffffff\r\nab", &Marks::new());
        assert_eq!((body.as_slice(), finished), (&b"ab"[..], false));
    }

    #[test]
    fn a_body_without_framing_does_not_begin_with_a_size() {
        assert!(begins(b"ac\r\nevent: x"));
        for body in [&b"event: x\r\n"[..], b"\r\n", b"data:\n", b"12\nx"] {
            assert!(!begins(body), "{body:?}");
        }
    }
}
