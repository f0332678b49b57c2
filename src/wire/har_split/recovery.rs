//! Where the next entry begins behind a damaged one.

use super::{
    Fault, Scanner,
    boundary::{after_comma, object_end, skip_white},
};
use std::ops::Range;

/// Where reading can go on after damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Behind the damaged entry; a comma or the end of the array follows.
    Behind(usize),
    /// At the beginning of another entry.
    Entry(usize),
}

/// Finds the way on from an entry that begins at `start` and is damaged at `fault`; none where the text shows no way.
///
/// Where its brackets are sound the entry ends where they say so, unless another entry begins before that: then a
/// quote or a bracket is what was damaged. `budget` is reduced by the bytes that were looked at; at zero nothing is
/// looked for.
pub fn recover(text: &[u8], start: usize, fault: usize, budget: &mut usize) -> Option<Next> {
    let window = text.get(..text.len().min(start.saturating_add(*budget)))?;
    let end = object_end(window, start.saturating_add(1)).filter(|end| {
        let next = skip_white(window, *end);
        after_comma(window, *end).is_some() || window.get(next) == Some(&b']')
    });
    *budget = budget.saturating_sub(end.unwrap_or(window.len()).saturating_sub(start));
    match (next_entry(window, start.saturating_add(1)..end.unwrap_or(window.len()), fault, budget), end) {
        (Some(entry), _) => Some(Next::Entry(entry)),
        (None, end) => end.map(Next::Behind),
    }
}

/// The first sound object in a range that follows a comma, has a member `request` and reaches behind the fault: the
/// fault may have shown only inside of it, as where a closing quote is missing before.
fn next_entry(text: &[u8], range: Range<usize>, fault: usize, budget: &mut usize) -> Option<usize> {
    let from = range.start;
    memchr::memchr_iter(b'{', text.get(range)?).map(|found| from + found).find(|brace| {
        let follows = text.get(..*brace).unwrap_or_default().trim_ascii_end().ends_with(b",");
        follows
            && text.get(skip_white(text, brace + 1)) == Some(&b'"')
            && *budget > 0
            && entry_end(text, *brace, budget) > Some(fault)
    })
}

/// Where the object at `start` ends, or the text inside of it, if it is sound and has a member `request`.
fn entry_end(text: &[u8], start: usize, budget: &mut usize) -> Option<usize> {
    let mut scanner = Scanner::new(text, start);
    let mut request = false;
    let read = scanner.object(|scanner, key| {
        request |= key == b"request";
        scanner.skip()
    });
    *budget = budget.saturating_sub(scanner.at().saturating_sub(start));
    match read {
        Ok(()) if request => Some(scanner.at()),
        Err(Fault::End) if request => Some(text.len()),
        _ => None,
    }
}
