//! Fragmented IP packets put together again: first copy wins, memory is bounded.

use super::{Fragment, Packet};
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    net::IpAddr,
};

/// Most packets that may be incomplete at a time; the oldest is dropped for a new one.
const MOST: usize = 1024;

/// Largest IP payload in bytes.
const LARGEST: usize = 65_535;

/// Most fragments of one packet; more would be far below any network's packet size.
const MOST_PARTS: usize = 256;

type Name = (IpAddr, IpAddr, u8, u32);

/// A packet put together from fragments.
#[derive(Debug, PartialEq, Eq)]
pub struct Whole {
    /// Its payload, up to the first byte that was not captured.
    pub payload: Vec<u8>,
    /// Bytes behind it that were not captured.
    pub missing: usize,
}

/// Packets of which some fragments have been seen.
#[derive(Default)]
pub struct Fragments {
    packets: HashMap<Name, Parts>,
    order: VecDeque<Name>,
}

#[derive(Default)]
struct Parts {
    parts: BTreeMap<usize, (Vec<u8>, usize)>,
    total: Option<usize>,
}

impl Fragments {
    /// Adds a fragment; the whole packet once nothing lacks.
    pub fn add(&mut self, packet: &Packet<'_>, at: Fragment) -> Option<Whole> {
        let end = at.offset + packet.payload.len() + packet.missing;
        if end > LARGEST {
            return None;
        }
        let name = (packet.source, packet.destination, packet.protocol, at.id);
        if !self.packets.contains_key(&name) {
            if self.order.len() >= MOST
                && let Some(oldest) = self.order.pop_front()
            {
                self.packets.remove(&oldest);
            }
            self.order.push_back(name);
        }
        let parts = self.packets.entry(name).or_default();
        if parts.parts.len() >= MOST_PARTS {
            return None;
        }
        parts.parts.entry(at.offset).or_insert_with(|| (packet.payload.to_vec(), packet.missing));
        if !at.more {
            parts.total.get_or_insert(end);
        }
        let whole = parts.join()?;
        self.packets.remove(&name);
        self.order.retain(|other| *other != name);
        Some(whole)
    }
}

impl Parts {
    fn join(&self) -> Option<Whole> {
        let total = self.total?;
        let (mut reached, mut payload, mut is_cut) = (0, Vec::new(), false);
        for (&offset, (bytes, missing)) in &self.parts {
            if offset > reached {
                return None;
            }
            let fresh = bytes.get(reached - offset..).unwrap_or_default();
            if !is_cut {
                payload.extend_from_slice(fresh);
            }
            is_cut |= *missing > 0;
            reached = reached.max(offset + bytes.len() + missing);
        }
        (reached >= total).then(|| {
            payload.truncate(total);
            let missing = total - payload.len();
            Whole { payload, missing }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(pool: &mut Fragments, offset: usize, bytes: &[u8], missing: usize, more: bool) -> Option<Whole> {
        let fragment = Fragment { id: 7, offset, more };
        let packet = Packet {
            source: IpAddr::from([192, 0, 2, 1]),
            destination: IpAddr::from([192, 0, 2, 2]),
            protocol: 6,
            payload: bytes,
            missing,
            fragment: Some(fragment),
            hops: 64,
        };
        pool.add(&packet, fragment)
    }

    #[test]
    fn fragments_join_in_any_order_and_the_first_copy_wins() {
        let mut pool = Fragments::default();
        assert_eq!(add(&mut pool, 16, b"tail", 0, false), None);
        assert_eq!(add(&mut pool, 0, b"firstfir", 0, true), None);
        assert_eq!(add(&mut pool, 0, b"OTHEROTH", 0, true), None);
        let whole = add(&mut pool, 8, b"secondse", 0, true);
        assert_eq!(whole, Some(Whole { payload: b"firstfirsecondsetail".to_vec(), missing: 0 }));
        assert!(pool.packets.is_empty() && pool.order.is_empty());
    }

    #[test]
    fn nothing_is_joined_over_a_cut_fragment() {
        let mut pool = Fragments::default();
        assert_eq!(add(&mut pool, 0, b"fir", 5, true), None);
        let whole = add(&mut pool, 8, b"last", 0, false);
        assert_eq!(whole, Some(Whole { payload: b"fir".to_vec(), missing: 9 }));
    }

    #[test]
    fn a_fragment_beyond_the_largest_packet_is_refused() {
        assert_eq!(add(&mut Fragments::default(), 65_528, b"too far away", 0, false), None);
    }
}
