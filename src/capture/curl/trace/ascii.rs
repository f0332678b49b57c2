//! The lines of `--trace-ascii`: every byte that is not printable is a dot, and CRLF is the end of a line.
//!
//! Offsets tell where CRLF stood, so that lengths are exact. Which dots were line feeds is a guess: in event streams,
//! those before a field's name, before another one, and behind a complete JSON value.

/// Bytes of records, and whether they are exact.
#[derive(Clone, Debug, Default)]
pub struct Rebuilt {
    /// The bytes, dots standing for what was lost.
    pub bytes: Vec<u8>,
}

impl Rebuilt {
    /// Bytes that lost nothing.
    pub fn exact(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// Appends another record's bytes.
    pub fn extend(&mut self, other: Self) {
        if self.bytes.is_empty() {
            self.bytes = other.bytes;
        } else {
            self.bytes.extend_from_slice(&other.bytes);
        }
    }

    /// The bytes with line feeds put back by the grammar of event streams.
    pub fn event_stream(self) -> Vec<u8> {
        let mut bytes = self.bytes;
        let mut at = 0;
        while at < bytes.len() {
            // A field's value that is JSON is passed over whole.
            if bytes[at..].starts_with(b"data: {") || bytes[at..].starts_with(b"data: [") {
                at += 6 + json_length(&bytes[at + 6..]);
                if bytes.get(at) == Some(&b'.') {
                    bytes[at] = b'\n';
                    at += 1;
                }
                continue;
            }
            if bytes[at] == b'.' && is_line_end(&bytes, at) {
                bytes[at] = b'\n';
            }
            at += 1;
        }
        bytes
    }
}

/// The dot at `at` was a line feed: a field, another line end or the end of the data follows.
fn is_line_end(bytes: &[u8], at: usize) -> bool {
    let rest = &bytes[at + 1..];
    let names: [&[u8]; 5] = [b"data:", b"event:", b"id:", b"retry:", b": "];
    let begins = |text: &[u8]| names.iter().any(|n| text.starts_with(n));
    let after_end = at > 0 && bytes[at - 1] == b'\n';
    let ends = |text: &[u8]| text.is_empty() || text.starts_with(b"\r\n");
    begins(rest) || (after_end && ends(rest)) || rest.strip_prefix(b".").is_some_and(|r| ends(r) || begins(r))
}

/// Length of the JSON object or array that `text` begins with, strings observed; all of it where it does not end.
fn json_length(text: &[u8]) -> usize {
    let (mut open, mut in_string, mut at) = (0_usize, false, 0);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => open += 1,
            b'}' | b']' if !in_string => {
                open = open.saturating_sub(1);
                if open == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// The bytes of the record whose lines begin at `at`, and the offset behind them.
pub fn record(text: &[u8], mut at: usize, size: Option<usize>) -> (Rebuilt, usize) {
    let mut bytes: Vec<u8> = Vec::new();
    let size = size.unwrap_or(usize::MAX);
    while at < text.len() && bytes.len() < size {
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |n| at + n);
        let line = &text[at..end];
        let Some((offset, content)) = content(line) else { break };
        match offset.checked_sub(bytes.len()) {
            Some(0) => {}
            Some(2) => bytes.extend_from_slice(b"\r\n"),
            _ => break,
        }
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        bytes.extend_from_slice(content);
        at = (end + 1).min(text.len());
    }
    // The last line's CRLF shows in the size only.
    if size != usize::MAX && size.saturating_sub(bytes.len()) == 2 {
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.truncate(size);
    (Rebuilt { bytes }, at)
}

fn content(line: &[u8]) -> Option<(usize, &[u8])> {
    let colon = memchr::memchr(b':', &line[..line.len().min(17)])?;
    let digits = &line[..colon];
    let offset = (digits.len() >= 4).then(|| usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok())??;
    Some((offset, line.get(colon + 2..).unwrap_or_default()))
}
