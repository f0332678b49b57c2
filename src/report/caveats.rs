//! Caveats for people: what the capture does not show.

use super::{Look, plural};
use crate::audit::report::Caveat;
use std::fmt::Write as _;

/// One line a kind of caveat, with its first place; everything there is, one line a file. Nothing where there is none.
pub(super) fn render(caveats: &[Caveat], look: &Look) -> String {
    if caveats.is_empty() || look.quiet {
        return String::new();
    }
    let mut out = "what the capture does not show:\n".to_owned();
    let mut line = |name: &str, count: u64, place: &str, message: &str| {
        let _ = writeln!(out, "  {name} ({count}x{place}): {message}");
    };
    // Caveats are in the order of their names.
    for kind in caveats.chunk_by(|a, b| a.caveat == b.caveat) {
        match kind {
            [first, more @ ..] if !look.verbose && !more.is_empty() => {
                let count = kind.iter().map(|c| c.count).sum();
                let place = format!(" in {}, first in {}", plural(kind.len() as u64, "file"), name(first));
                line(&first.caveat, count, &place, &first.message);
            }
            _ => {
                for caveat in kind {
                    let place = caveat.file.as_ref().map(|_| format!(" in {}", name(caveat))).unwrap_or_default();
                    line(&caveat.caveat, caveat.count, &place, &caveat.message);
                }
            }
        }
    }
    out
}

fn name(caveat: &Caveat) -> &str {
    caveat.file.as_deref().unwrap_or("no file")
}
