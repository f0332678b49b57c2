//! Are two recordings viewpoints of one traffic? Which of their exchanges are the same, and how their clocks differ.

use super::pair::contradict;
use crate::{
    model::{Body, Exchange, Method},
    reconstruct::{hops, introduce::answers, resolve::authority},
};
use foldhash::{HashMap, HashSet};
use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// How far a match may lie from the constant shift between two clocks, in microseconds.
const TOLERANCE: i64 = 2_000_000;

/// How far two recordings may be apart, in microseconds, where one of them lacks the bodies that tell requests apart.
const SAME_MOMENT: i64 = 50_000;

/// How many exchanges must then match, without exception.
const WITHOUT_BODIES: usize = 4;

/// Exchanges of one recording that equal exchanges of another, in pairs.
pub struct Match {
    /// The same exchange in both, with equal answers as far as both have them.
    pub pairs: Vec<(usize, usize)>,
    /// The same request, with another answer.
    pub changed: Vec<(usize, usize)>,
    /// The first recording is the one nearer to the client, where that is known.
    pub first_is_near: Option<bool>,
    /// What the second clock shows more than the first, in microseconds.
    pub shift: i64,
}

/// A recording that holds no request body.
pub fn is_bare(exchanges: &[Exchange], recording: &[usize]) -> bool {
    let mut posts = recording.iter().map(|i| &exchanges[*i]).filter(|x| x.method == Method::Post).peekable();
    posts.peek().is_some() && posts.all(|x| matches!(x.request, Body::NotCaptured(_)))
}

/// What two records of one exchange have in common, whatever either lost; `bare` where one lost all request bodies.
pub fn signature(exchange: &Exchange, bare: bool) -> u64 {
    let messages = exchange.messages().iter().filter(|_| !bare);
    let messages: Vec<_> = messages.map(|m| (&m.id, &m.method, m.payload)).collect();
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

/// As [`signature`], of the request alone: something between may have changed the answer.
fn asked(exchange: &Exchange) -> u64 {
    let messages: Vec<_> = exchange.messages().iter().map(|m| (&m.id, &m.method, m.payload)).collect();
    let session = exchange.session.as_ref().map(|s| s.hash);
    let cursor = exchange.cursor.as_ref().map(|c| c.id);
    hashed((exchange.method, path(&exchange.endpoint), session, cursor, messages))
}

fn path(endpoint: &str) -> &str {
    &endpoint[authority(endpoint).len()..]
}

/// The exchanges that two recordings share; none where they are not of one traffic.
pub fn compare(exchanges: &[Exchange], a: &[usize], b: &[usize]) -> Option<Match> {
    if apart(exchanges, a, b) {
        return None;
    }
    let mut by_signature: HashMap<u64, (Vec<usize>, Vec<usize>)> = HashMap::default();
    let bare = is_bare(exchanges, a) || is_bare(exchanges, b);
    let tolerance = if bare { SAME_MOMENT } else { TOLERANCE };
    for &index in a {
        by_signature.entry(signature(&exchanges[index], bare)).or_default().0.push(index);
    }
    for &index in b {
        by_signature.entry(signature(&exchanges[index], bare)).or_default().1.push(index);
    }
    let time = |index: usize| exchanges[index].sent.map(|t| t.0);
    let unique = by_signature.values().filter(|(a, b)| a.len() == 1 && b.len() == 1);
    let mut shifts: Vec<i64> = unique.filter_map(|(a, b)| Some(time(b[0])? - time(a[0])?)).collect();
    shifts.sort_unstable();
    let shift = *shifts.get(shifts.len() / 2)?;
    let mut pairs = Vec::new();
    for (left, right) in by_signature.values() {
        let mut right = right.iter().copied().peekable();
        for &index in left {
            let Some(start) = time(index) else { continue };
            // Skip what lies too early for this one; take the first that fits.
            while right.next_if(|r| time(*r).is_none_or(|t| t - shift < start - tolerance)).is_some() {}
            let fits = |r: &usize| {
                time(*r).is_some_and(|t| (t - shift - start).abs() <= tolerance)
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
    let is_one = if bare {
        named && pairs.len() >= WITHOUT_BODIES && pairs.len() == shared && shift.abs() <= SAME_MOMENT
    } else {
        telling >= least && pairs.len() * 2 > shared
    };
    if !is_one {
        return None;
    }
    let first_is_near = hops::nearer(exchanges, &pairs);
    let changed = changed(exchanges, a, b, &pairs, shift, first_is_near.is_some());
    Some(Match { pairs, changed, first_is_near, shift })
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
    a0.max(b0).saturating_sub(TOLERANCE) > a1.min(b1).saturating_add(TOLERANCE)
}

/// Of what has no equal: the requests that stand once on each side, whose answers differ, or of which one is not there.
fn changed(
    exchanges: &[Exchange],
    a: &[usize],
    b: &[usize],
    pairs: &[(usize, usize)],
    shift: i64,
    is_known: bool,
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

/// A hash of several things.
pub fn hashed(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
