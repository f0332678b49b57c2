//! Text that must stay on one line: backslash escapes of heads, and of body lines that begin with `\e `.

use std::fmt::Write as _;

/// A head's text on one line, with nothing at its edges that an editor might strip.
pub fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let last = text.chars().count().saturating_sub(1);
    for (i, c) in text.chars().enumerate() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\r' => out.push_str("\\r"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            ' ' if i == 0 || i == last => out.push_str("\\s"),
            c if crate::redact::escape::is_unsafe(c) || (c != ' ' && c.is_whitespace()) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// The text behind [`text()`].
///
/// # Errors
/// Names an escape that does not exist.
pub fn untext(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('\\') => out.push('\\'),
            Some('r') => out.push('\r'),
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('s') => out.push(' '),
            Some('u') => {
                let (code, behind) = rest
                    .as_str()
                    .strip_prefix('{')
                    .and_then(|r| r.split_once('}'))
                    .ok_or("\\u is written as \\u{HEX}")?;
                let code = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
                out.push(code.ok_or("\\u{HEX} names no character")?);
                rest = behind.chars();
            }
            other => {
                let other = other.map(String::from).unwrap_or_default();
                return Err(format!("no escape is written \\{other} (a backslash itself is \\\\)"));
            }
        }
    }
    Ok(out)
}

/// Bytes of a body as one line that does not end in a line feed of its own.
pub fn bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => out.push_str("\\\\"),
                '\r' => out.push_str("\\r"),
                '\n' => out.push_str("\\n"),
                c if crate::redact::escape::is_unsafe(c) => {
                    let mut utf8 = [0; 4];
                    for byte in c.encode_utf8(&mut utf8).bytes() {
                        let _ = write!(out, "\\x{byte:02x}");
                    }
                }
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    if out.ends_with(' ') {
        out.pop();
        out.push_str("\\x20");
    }
    out
}

/// The bytes behind [`bytes()`].
///
/// # Errors
/// Names an escape that does not exist.
pub fn unbytes(text: &[u8]) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let (&escape, behind) = rest.split_first().ok_or("a backslash ends the line (a backslash itself is \\\\)")?;
        rest = behind;
        out.push(match escape {
            b'\\' => b'\\',
            b'r' => b'\r',
            b'n' => b'\n',
            b't' => b'\t',
            b'x' => {
                let digits = rest.get(..2).and_then(|d| std::str::from_utf8(d).ok());
                let value = digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
                rest = rest.get(2..).unwrap_or_default();
                value.and_then(|d| u8::from_str_radix(d, 16).ok()).ok_or("\\x is followed by two hex digits")?
            }
            other => return Err(format!("no escape is written \\{} (a backslash itself is \\\\)", other as char)),
        });
    }
    Ok(out)
}
