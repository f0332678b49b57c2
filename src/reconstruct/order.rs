//! One order for all exchanges of a run: by start, and where the capture has no time, by place in the file.

use crate::model::{Exchange, Time};

/// Sorts by start; an exchange without time keeps its place behind its predecessor in the same file.
pub fn sort(exchanges: &mut [Exchange]) {
    let mut last: Option<(u32, Time)> = None;
    let mut keys: Vec<(Time, u32, u32, u32)> = Vec::with_capacity(exchanges.len());
    for (index, exchange) in exchanges.iter().enumerate() {
        let at = &exchange.at;
        let before = last.filter(|(source, _)| *source == at.source).map(|(_, time)| time);
        let time = exchange.sent.or(before).unwrap_or(Time(i64::MIN));
        last = Some((at.source, time));
        keys.push((time, at.source, at.entry, index as u32));
    }
    if keys.is_sorted() {
        return;
    }
    keys.sort_unstable();
    // Exchanges move along the cycles of the permutation, so that there is never a second copy of them all.
    let mut to: Vec<u32> = vec![0; keys.len()];
    for (place, (.., index)) in keys.iter().enumerate() {
        to[*index as usize] = place as u32;
    }
    for start in 0..to.len() {
        while to[start] as usize != start {
            let target = to[start] as usize;
            exchanges.swap(start, target);
            to.swap(start, target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Address;

    #[test]
    fn exchanges_are_ordered_by_start_and_those_without_time_stay_behind_their_predecessor() {
        let row = |source: u32, entry: u32, sent: Option<i64>| {
            let text = r#"{"at":{"source":0,"entry":0},"endpoint":"e","method":"GET","request":"empty","response":"empty","end":"clean"}"#;
            let mut exchange: Exchange = serde_json::from_str(text).unwrap();
            exchange.at = Address { source, entry, ..Address::default() };
            exchange.sent = sent.map(Time);
            exchange
        };
        let mut all =
            vec![row(0, 0, Some(30)), row(0, 1, None), row(0, 2, Some(10)), row(1, 0, Some(20)), row(1, 1, Some(5))];
        sort(&mut all);
        let order: Vec<_> = all.iter().map(|x| (x.at.source, x.at.entry)).collect();
        assert_eq!(order, [(1, 1), (0, 2), (1, 0), (0, 0), (0, 1)]);
    }
}
