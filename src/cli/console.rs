//! Messages on stderr. They may name files, so they are escaped like everything else.

use crate::redact::escape;
use std::io::Write as _;

/// Something went wrong.
pub fn error(text: &str) {
    // Nobody is left to hear of a stderr that cannot be written.
    let mut stderr = std::io::stderr().lock();
    for (i, line) in text.lines().enumerate() {
        let start = if i == 0 { "error: " } else { "" };
        let _ = writeln!(stderr, "{start}{}", escape::terminal(line));
    }
}

/// Something that is no error: asked for with `-v`, or a likely slip of the user's.
pub fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", escape::terminal(text));
}

/// Text of the program's own, as it stands.
pub fn show(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
