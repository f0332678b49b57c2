//! Messages on stderr. They may name files, so they are escaped like everything else.

use crate::redact::escape;
use std::io::Write as _;

/// Something went wrong.
pub fn error(text: &str) {
    say("error", text);
}

/// Something is worth knowing.
pub fn warning(text: &str) {
    say("warning", text);
}

fn say(level: &str, text: &str) {
    // Nobody is left to hear of a stderr that cannot be written.
    let mut stderr = std::io::stderr().lock();
    for (i, line) in text.lines().enumerate() {
        let start = if i == 0 { format!("{level}: ") } else { String::new() };
        let _ = writeln!(stderr, "{start}{}", escape::terminal(line));
    }
}
