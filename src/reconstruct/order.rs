//! One order for all exchanges of a run: by start, and where the capture has no time, by place in the file.

use crate::model::{Exchange, Time};

/// Sorts by start; an exchange without time keeps its place behind its predecessor in the same file.
pub fn sort(exchanges: &mut Vec<Exchange>) {
    let mut last: Option<(u32, Time)> = None;
    let mut keyed: Vec<(Time, u32, u32, Exchange)> = Vec::with_capacity(exchanges.len());
    for exchange in exchanges.drain(..) {
        let at = &exchange.at;
        let before = last.filter(|(source, _)| *source == at.source).map(|(_, time)| time);
        let time = exchange.sent.or(before).unwrap_or(Time(i64::MIN));
        last = Some((at.source, time));
        keyed.push((time, at.source, at.entry, exchange));
    }
    keyed.sort_by_key(|(time, source, entry, _)| (*time, *source, *entry));
    exchanges.extend(keyed.into_iter().map(|(.., exchange)| exchange));
}
