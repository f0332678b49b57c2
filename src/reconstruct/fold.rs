//! Two recordings of one traffic, folded into one: two files, or two hops in one file.
//!
//! A recording is what one file saw at one server address. Two recordings are viewpoints of one traffic where most
//! exchanges in the time that they share match one to one and in order, within two seconds of a constant clock shift.
//! Equal exchanges within one recording are polls, and never fold. Where one of the two lacks all request bodies, all of
//! its exchanges must match, at the same moments.

mod compare;
mod pair;

use super::hops::{Differences, Hops};
use crate::model::{Body, Exchange, Vantage};
use compare::{Match, compare, hashed, is_bare, signature};
use foldhash::{HashMap, HashSet};
use pair::{Places, merge};
use std::{collections::BTreeMap, sync::Arc};

/// A signature that more recordings share than this is a poll, and tells nothing.
const MOST_RECORDINGS: usize = 8;

/// One recording: source, and the server's address or, where that is not known, its name.
type Recording = (u32, u64);

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
    // All are compared before any is changed.
    let matches: Vec<(&[usize], Match)> = candidates(exchanges, &recordings)
        .into_iter()
        .filter_map(|(a, b)| {
            let (a, b) = (&recordings[&a], &recordings[&b]);
            let (kept, other) = if is_nearer(exchanges, b, a) { (b, a) } else { (a, b) };
            Some((&other[..], compare(exchanges, kept, other)?))
        })
        .collect();
    if matches.is_empty() {
        return folded;
    }
    let mut places = Places::new(exchanges.len());
    for (other, found) in &matches {
        join(exchanges, other, found, &mut places, &mut folded);
    }
    let mut index = 0;
    exchanges.retain(|_| {
        index += 1;
        !places.is_gone(index - 1)
    });
    folded
}

fn recordings(exchanges: &[Exchange]) -> BTreeMap<Recording, Vec<usize>> {
    // Some recorders leave the address out now and then: those entries belong to the one that goes with their name.
    let mut named: HashMap<(u32, &str), Option<u64>> = HashMap::default();
    let authority = |x: &'_ Exchange| -> usize { super::resolve::authority(&x.endpoint).len() };
    for exchange in exchanges {
        let Some(server) = exchange.at.server else { continue };
        let name = &exchange.endpoint[..authority(exchange)];
        let known = named.entry((exchange.at.source, name)).or_insert(Some(server));
        *known = known.filter(|known| *known == server);
    }
    let mut recordings: BTreeMap<Recording, Vec<usize>> = BTreeMap::new();
    for (index, exchange) in exchanges.iter().enumerate() {
        let (source, name) = (exchange.at.source, &exchange.endpoint[..authority(exchange)]);
        let server = exchange.at.server.or_else(|| *named.get(&(source, name))?);
        recordings.entry((source, server.unwrap_or_else(|| hashed(name)))).or_default().push(index);
    }
    recordings
}

/// Pairs of recordings that share at least one exchange with a message in it or, where one lacks all of them, a session.
fn candidates(exchanges: &[Exchange], recordings: &BTreeMap<Recording, Vec<usize>>) -> Vec<(Recording, Recording)> {
    let mut holders: HashMap<u64, Vec<Recording>> = HashMap::default();
    for (recording, indices) in recordings {
        for &index in indices.iter().filter(|i| !exchanges[**i].messages().is_empty()) {
            let list = holders.entry(signature(&exchanges[index], false)).or_default();
            if list.last() != Some(recording) {
                list.push(*recording);
            }
        }
    }
    let bare: Vec<Recording> = recordings.iter().filter(|(_, r)| is_bare(exchanges, r)).map(|(key, _)| *key).collect();
    let mut pairs = BTreeMap::new();
    for (key, other) in bare.iter().flat_map(|key| recordings.keys().map(move |other| (key, other))) {
        let sessions = |key: &Recording| -> HashSet<u64> {
            recordings[key].iter().filter_map(|i| Some(exchanges[*i].session.as_ref()?.hash)).collect()
        };
        if bare.len() <= MOST_RECORDINGS && key.0 != other.0 && !sessions(key).is_disjoint(&sessions(other)) {
            pairs.insert((*key.min(other), *key.max(other)), ());
        }
    }
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

/// Folds the matched exchanges, and brings the rest of the second recording to the clock and the endpoint of the first.
/// Where the two differ, what the client got counts, and what was on the other side is kept beside it.
fn join(exchanges: &mut [Exchange], other: &[usize], found: &Match, places: &mut Places, folded: &mut Folded) {
    let mut endpoints: HashMap<Arc<str>, Arc<str>> = HashMap::default();
    let mut clock = found.shift;
    for &(first, second) in found.pairs.iter().chain(&found.changed) {
        let kept = places.of(first);
        clock = found.shift + places.moved[first];
        if places.is_gone(second) || kept == second {
            continue;
        }
        let Ok([one, two]) = exchanges.get_disjoint_mut([kept, second]) else { continue };
        endpoints.insert(Arc::clone(&two.endpoint), Arc::clone(&one.endpoint));
        places.shift(second, two, clock);
        places.into[second] = kept;
        // A third record stands for the first: which of it and the second is nearer to the client was not asked.
        let first_is_near = found.first_is_near.filter(|_| kept == first);
        let differs = merge(one, two, first_is_near, &mut folded.hops);
        let (count, differences) = folded.sources.entry(two.at.source).or_default();
        *count += 1;
        differences.add(differs);
    }
    for &index in other {
        if places.is_gone(index) {
            continue;
        }
        let exchange = &mut exchanges[index];
        if let Some(endpoint) = endpoints.get(&exchange.endpoint) {
            exchange.endpoint = Arc::clone(endpoint);
        }
        places.shift(index, exchange, clock);
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

    #[test]
    fn an_entry_without_address_belongs_to_the_only_one_of_its_name() {
        let with = |server: Option<u64>| {
            let mut exchange = exchange(0, 1, 0, 200);
            exchange.at.server = server;
            exchange
        };
        let all = [with(Some(5)), with(None), with(Some(5))];
        assert_eq!(recordings(&all).into_values().collect::<Vec<_>>(), [[0, 1, 2]]);
        // Of two, either could be meant.
        let all = [with(Some(5)), with(None), with(Some(6))];
        assert_eq!(recordings(&all).len(), 3);
    }
}
