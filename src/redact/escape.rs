//! What must not reach a terminal or a document as it stands: control characters, escapes, direction marks.

use std::borrow::Cow;

/// Characters that change what a reader sees: controls, line separators, bidirectional, invisible and private marks.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Nothing but visible ASCII, blanks and line feeds: most documents, and quickly told.
fn is_plain(text: &str) -> bool {
    // In pieces, so that the compiler can compare many bytes at once.
    text.as_bytes().chunks(1024).all(|piece| piece.iter().fold(true, |all, b| all & matches!(b, b'\n' | 0x20..=0x7e)))
}

/// One line for a terminal or a table cell: every unsafe character as `\n`, `\t` or `\u{…}`.
///
/// A backslash stays as it is; the result is for reading, not for reading back.
pub fn terminal(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_unsafe(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// JSON that is also safe to look at: unsafe characters, which can stand in strings only, as `\uXXXX`.
///
/// Line feeds are left alone, since they end the lines of the document itself.
pub fn json(document: String) -> String {
    let acts = |c: char| c != '\n' && is_unsafe(c);
    if is_plain(&document) || !document.contains(acts) {
        return document;
    }
    let mut out = String::with_capacity(document.len() + 64);
    let mut units = [0; 2];
    for c in document.chars() {
        if acts(c) {
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_and_direction_marks_become_visible() {
        assert_eq!(terminal("a\u{1b}[31mred\u{202e}x\r\n\u{9b}0m"), "a\\u{1b}[31mred\\u{202e}x\\r\\n\\u{9b}0m");
        assert_eq!(terminal("plain é 漢 \\"), "plain é 漢 \\");
    }

    #[test]
    fn json_stays_the_same_value_when_it_is_made_safe() {
        let value = serde_json::json!({"k": "a\u{9b}\u{202e}\u{e0041}\n\u{7f}é"});
        let safe = json(serde_json::to_string_pretty(&value).unwrap());
        assert!(!safe.contains(|c| c != '\n' && is_unsafe(c)));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }
}
