//! Two recordings of one traffic, folded into one: two files, or two hops in one file.
//!
//! A recording is what one file saw at one server address. Two recordings are viewpoints of one traffic where most
//! exchanges in the time that they share match one to one and in order, within two seconds of a constant clock shift.
//! Equal exchanges within one recording are polls, and never fold.

mod pair;

use super::{
    hops::{self, Differences, Hops},
    introduce::answers,
};
use crate::model::{Body, Exchange, Vantage};
use foldhash::{HashMap, HashSet};
use pair::{contradict, merge, shift};
use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
};

/// How far a match may lie from the constant shift between two clocks, in microseconds.
const TOLERANCE: i64 = 2_000_000;

/// A signature that more recordings share than this is a poll, and tells nothing.
const MOST_RECORDINGS: usize = 8;

/// One recording: source, and the server's address or, where that is not known, its name.
type Recording = (u32, u64);

/// Exchanges of one recording that equal exchanges of another, in pairs.
struct Match {
    pairs: Vec<(usize, usize)>,
    /// The same request, with another answer.
    changed: Vec<(usize, usize)>,
    /// What the second clock shows more than the first, in microseconds.
    shift: i64,
}

/// What was folded.
#[derive(Default)]
pub struct Folded {
    /// By source: how many of its exchanges were folded away, and in what they differed.
    pub sources: BTreeMap<u32, (u64, Differences)>,
    /// The other sides of what something between changed.
    pub hops: Hops,
}

/// Folds what was recorded twice.
pub fn fold(exchanges: &mut Vec<Exchange>) -> Folded {
    let mut folded = Folded::default();
    let recordings = recordings(exchanges);
    if recordings.len() < 2 {
        return folded;
    }
    let mut gone = vec![false; exchanges.len()];
    for (a, b) in candidates(exchanges, &recordings) {
        let (kept, other) = if is_nearer(exchanges, &recordings[&b], &recordings[&a]) { (b, a) } else { (a, b) };
        let live =
            |list: &[usize], gone: &[bool]| -> Vec<usize> { list.iter().copied().filter(|i| !gone[*i]).collect() };
        let (kept, other) = (live(&recordings[&kept], &gone), live(&recordings[&other], &gone));
        let Some(found) = compare(exchanges, &kept, &other) else { continue };
        join(exchanges, &other, &found, &mut gone, &mut folded);
    }
    let mut index = 0;
    exchanges.retain(|_| {
        index += 1;
        !gone[index - 1]
    });
    folded
}

fn hashed(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn recordings(exchanges: &[Exchange]) -> BTreeMap<Recording, Vec<usize>> {
    let mut recordings: BTreeMap<Recording, Vec<usize>> = BTreeMap::new();
    for (index, exchange) in exchanges.iter().enumerate() {
        let hop = exchange.at.server.unwrap_or_else(|| hashed(super::resolve::authority(&exchange.endpoint)));
        recordings.entry((exchange.at.source, hop)).or_default().push(index);
    }
    recordings
}

/// As [`signature`], of the request alone: something between may have changed the answer.
fn asked(exchange: &Exchange) -> u64 {
    let messages: Vec<_> = exchange.messages().iter().map(|m| (&m.id, &m.method, m.payload)).collect();
    let session = exchange.session.as_ref().map(|s| s.hash);
    let cursor = exchange.cursor.as_ref().map(|c| c.id);
    hashed((exchange.method, path(&exchange.endpoint), session, cursor, messages))
}

fn path(endpoint: &str) -> &str {
    &endpoint[super::resolve::authority(endpoint).len()..]
}

/// What two records of one exchange have in common, whatever either lost.
fn signature(exchange: &Exchange) -> u64 {
    let messages: Vec<_> = exchange.messages().iter().map(|m| (&m.id, &m.method, m.payload)).collect();
    hashed((
        exchange.method,
        path(&exchange.endpoint),
        exchange.session.as_ref().map(|s| s.hash),
        exchange.issued.as_ref().map(|s| s.hash),
        exchange.cursor.as_ref().map(|c| c.id),
        exchange.status,
        messages,
    ))
}

/// Pairs of recordings that share at least one exchange with a message in it.
fn candidates(exchanges: &[Exchange], recordings: &BTreeMap<Recording, Vec<usize>>) -> Vec<(Recording, Recording)> {
    let mut holders: HashMap<u64, Vec<Recording>> = HashMap::default();
    for (recording, indices) in recordings {
        for &index in indices.iter().filter(|i| !exchanges[**i].messages().is_empty()) {
            let list = holders.entry(signature(&exchanges[index])).or_default();
            if list.last() != Some(recording) {
                list.push(*recording);
            }
        }
    }
    let mut pairs = BTreeMap::new();
    for list in holders.into_values().filter(|l| (2..=MOST_RECORDINGS).contains(&l.len())) {
        for (i, a) in list.iter().enumerate() {
            for b in &list[i + 1..] {
                pairs.insert((*a, *b), ());
            }
        }
    }
    pairs.into_keys().collect()
}

/// The first recording is nearer to the client than the second.
fn is_nearer(exchanges: &[Exchange], a: &[usize], b: &[usize]) -> bool {
    // Within one file the vantage says where the recorder stands on each hop, and not where the hop lies.
    let one_file = exchanges[a[0]].at.source == exchanges[b[0]].at.source;
    let rank = |list: &[usize]| match exchanges[list[0]].vantage {
        _ if one_file => 0,
        Vantage::Client => 0,
        Vantage::Proxy => 1,
        Vantage::Unknown => 2,
        Vantage::Server => 3,
    };
    let lost = |list: &[usize]| list.iter().filter(|i| matches!(exchanges[**i].response, Body::NotCaptured(_))).count();
    let start = |list: &[usize]| list.iter().filter_map(|i| exchanges[*i].sent).min();
    (lost(a), rank(a), start(a)) < (lost(b), rank(b), start(b))
}

fn compare(exchanges: &[Exchange], a: &[usize], b: &[usize]) -> Option<Match> {
    let mut by_signature: HashMap<u64, (Vec<usize>, Vec<usize>)> = HashMap::default();
    for &index in a {
        by_signature.entry(signature(&exchanges[index])).or_default().0.push(index);
    }
    for &index in b {
        by_signature.entry(signature(&exchanges[index])).or_default().1.push(index);
    }
    let time = |index: usize| exchanges[index].sent.map(|t| t.0);
    let unique = by_signature.values().filter(|(a, b)| a.len() == 1 && b.len() == 1);
    let mut shifts: Vec<i64> = unique.filter_map(|(a, b)| Some(time(b[0])? - time(a[0])?)).collect();
    shifts.sort_unstable();
    let shift = *shifts.get(shifts.len() / 2)?;
    if apart(exchanges, a, b) {
        return None;
    }
    let mut pairs = Vec::new();
    for (left, right) in by_signature.values() {
        let mut right = right.iter().copied().peekable();
        for &index in left {
            let Some(start) = time(index) else { continue };
            // Skip what lies too early for this one; take the first that fits.
            while right.next_if(|r| time(*r).is_none_or(|t| t - shift < start - TOLERANCE)).is_some() {}
            let fits = |r: &usize| {
                time(*r).is_some_and(|t| (t - shift - start).abs() <= TOLERANCE)
                    && agree(&exchanges[index], &exchanges[*r])
            };
            if let Some(other) = right.next_if(fits) {
                pairs.push((index, other));
            }
        }
    }
    pairs.sort_unstable();
    let named = pairs.iter().any(|(i, _)| exchanges[*i].session.is_some() || exchanges[*i].issued.is_some());
    // Only requests with ids tell one exchange from another: polls and notifications look alike.
    let telling = pairs.iter().filter(|(i, _)| exchanges[*i].messages().iter().any(|m| m.id.is_some())).count();
    let least = if named { 2 } else { 3 };
    let shared = overlap(exchanges, a, b, shift);
    if telling < least || pairs.len() * 2 <= shared {
        return None;
    }
    let changed = changed(exchanges, a, b, &pairs, shift);
    Some(Match { pairs, changed, shift })
}

/// Of what has no equal: the requests that stand once on each side, whose answers differ, or of which one is not there.
fn changed(
    exchanges: &[Exchange],
    a: &[usize],
    b: &[usize],
    pairs: &[(usize, usize)],
    shift: i64,
) -> Vec<(usize, usize)> {
    let matched: HashSet<usize> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let mut sides: BTreeMap<u64, [Vec<usize>; 2]> = BTreeMap::new();
    for (side, list) in [a, b].into_iter().enumerate() {
        for &index in list.iter().filter(|i| !matched.contains(i)) {
            let exchange = &exchanges[index];
            if exchange.session.is_some()
                && (exchange.cursor.is_some() || exchange.messages().iter().any(|m| m.id.is_some()))
            {
                sides.entry(asked(exchange)).or_default()[side].push(index);
            }
        }
    }
    let is_known = hops::nearer(exchanges, pairs).is_some();
    let time = |index: usize| exchanges[index].sent.map(|t| t.0);
    let alone = sides.into_values().filter_map(|[a, b]| match (&a[..], &b[..]) {
        ([a], [b]) => Some((*a, *b)),
        _ => None,
    });
    let near =
        |(a, b): &(usize, usize)| time(*a).zip(time(*b)).is_some_and(|(a, b)| (b - shift - a).abs() <= TOLERANCE);
    // Answers that differ can only be told where it is known which of them the client got.
    let told = |(a, b): &(usize, usize)| is_known || !contradict(&exchanges[*a], &exchanges[*b]);
    alone.filter(near).filter(told).collect()
}

/// Two records do not contradict each other: where both have answers, these are equal.
fn agree(a: &Exchange, b: &Exchange) -> bool {
    if !a.response.is_whole() || !b.response.is_whole() {
        return true;
    }
    let digests = |x: &Exchange| -> Vec<_> { answers(x).map(|m| (m.id.clone(), m.payload)).collect() };
    digests(a) == digests(b)
}

/// How many exchanges the smaller of two recordings has in the time that they share.
fn overlap(exchanges: &[Exchange], a: &[usize], b: &[usize], shift: i64) -> usize {
    let span = |list: &[usize], shift: i64| {
        let times = list.iter().filter_map(|i| exchanges[*i].sent).map(|t| t.0 - shift);
        times.fold((i64::MAX, i64::MIN), |(low, high), t| (low.min(t), high.max(t)))
    };
    let ((a0, a1), (b0, b1)) = (span(a, 0), span(b, shift));
    let (low, high) = (a0.max(b0) - TOLERANCE, a1.min(b1) + TOLERANCE);
    let within = |list: &[usize], shift: i64| {
        list.iter().filter(|i| exchanges[**i].sent.is_some_and(|t| (low..=high).contains(&(t.0 - shift)))).count()
    };
    within(a, 0).min(within(b, shift))
}

/// By their own clocks the two were not recorded at the same time: a run that was repeated is no second viewpoint.
fn apart(exchanges: &[Exchange], a: &[usize], b: &[usize]) -> bool {
    let span = |list: &[usize]| {
        let of = |i: &usize| {
            let sent = exchanges[*i].sent?.0;
            Some((sent, exchanges[*i].ended.map_or(sent, |ended| ended.0)))
        };
        let times = list.iter().filter_map(of);
        times.fold((i64::MAX, i64::MIN), |(low, high), (from, to)| (low.min(from), high.max(to)))
    };
    let ((a0, a1), (b0, b1)) = (span(a), span(b));
    a0.max(b0) - TOLERANCE > a1.min(b1) + TOLERANCE
}

/// Folds the matched exchanges, and brings the rest of the second recording to the clock and the endpoint of the first.
/// Where the two differ, what the client got counts, and what was on the other side is kept beside it.
fn join(exchanges: &mut [Exchange], other: &[usize], found: &Match, gone: &mut [bool], folded: &mut Folded) {
    let mut endpoints: HashMap<Arc<str>, Arc<str>> = HashMap::default();
    let first_is_near = hops::nearer(exchanges, &found.pairs);
    for &(kept, second) in found.pairs.iter().chain(&found.changed) {
        let Ok([one, two]) = exchanges.get_disjoint_mut([kept, second]) else { continue };
        gone[second] = true;
        endpoints.insert(Arc::clone(&two.endpoint), Arc::clone(&one.endpoint));
        shift(two, -found.shift);
        let found = merge(one, two, first_is_near, &mut folded.hops);
        let (count, differences) = folded.sources.entry(two.at.source).or_default();
        *count += 1;
        differences.add(found);
    }
    for &index in other.iter().filter(|i| !gone[**i]) {
        let exchange = &mut exchanges[index];
        if let Some(endpoint) = endpoints.get(&exchange.endpoint) {
            exchange.endpoint = Arc::clone(endpoint);
        }
        shift(exchange, -found.shift);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Address, Content, End, HeaderFacts, Method, Time};

    fn exchange(source: u32, server: u64, sent: i64, status: u16) -> Exchange {
        Exchange {
            at: Address { source, server: Some(server), ..Address::default() },
            vantage: Vantage::Unknown,
            sent: Some(Time(sent)),
            head: None,
            ended: None,
            endpoint: format!("http://h{server}/mcp").into(),
            method: Method::Get,
            status: Some(status),
            session: None,
            issued: None,
            legacy_session: None,
            announces: None,
            cursor: None,
            headers: HeaderFacts::default(),
            request: Body::Empty,
            response: Body::<Content>::Empty,
            end: End::Clean,
            batch: false,
            foreign_body: false,
            coarse_times: false,
        }
    }

    #[test]
    fn equal_polls_of_one_recording_never_fold() {
        let mut all: Vec<_> = (0..10).map(|i| exchange(0, 1, i * 1000, 200)).collect();
        assert!(fold(&mut all).sources.is_empty());
        assert_eq!(all.len(), 10);
    }
}
