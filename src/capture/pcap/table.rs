//! All connections of a file, told apart by addresses, ports and generation.

use super::{
    connection::{Connection, Endpoint},
    run::Run,
};
use crate::wire::{
    ip::{Fragments, Packet},
    tcp::{Held, Segment, Stamp},
};
use std::{
    collections::HashMap,
    hash::{Hash, Hasher},
    net::IpAddr,
};

const TCP: u8 = 6;
const UDP: u8 = 17;

/// Most connections that are remembered, live ones and others.
const MOST_REMEMBERED: usize = 1 << 19;

/// Most connections that are live at a time.
const MOST_LIVE: usize = 1 << 16;

/// The two ends of a connection, in ascending order.
#[derive(PartialEq, Eq)]
struct Ends([Endpoint; 2]);

impl Hash for Ends {
    /// In as few writes as possible: this is done for every packet.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self([(a, a_port), (b, b_port)]) = self;
        match (a, b) {
            (IpAddr::V4(a), IpAddr::V4(b)) => state.write_u64(u64::from(a.to_bits()) << 32 | u64::from(b.to_bits())),
            _ => {
                let bits = |ip: &IpAddr| match ip {
                    IpAddr::V4(ip) => u128::from(ip.to_bits()),
                    IpAddr::V6(ip) => ip.to_bits(),
                };
                state.write_u128(bits(a));
                state.write_u128(bits(b));
            }
        }
        state.write_u32(u32::from(*a_port) << 16 | u32::from(*b_port));
    }
}

/// The connections of a file.
pub struct Table {
    connections: HashMap<Ends, Connection>,
    fragments: Fragments,
    held: Held,
    count: u32,
    live: usize,
}

impl Table {
    /// No connections; `most` bytes may wait out of order over all of them.
    pub fn new(most: u64) -> Self {
        Self {
            connections: HashMap::new(),
            fragments: Fragments::default(),
            held: Held { bytes: 0, most, exceeded: 0 },
            count: 0,
            live: 0,
        }
    }

    /// Takes an IP packet, whole or a fragment.
    pub fn packet(&mut self, packet: &Packet<'_>, stamp: Stamp, run: &mut Run<'_>) {
        match packet.fragment {
            None => self.payload(packet, packet.payload, packet.missing, stamp, run),
            Some(at) => {
                if let Some(whole) = self.fragments.add(packet, at) {
                    self.payload(packet, &whole.payload, whole.missing, stamp, run);
                }
            }
        }
    }

    /// The file is over.
    pub fn finish(mut self, run: &mut Run<'_>) {
        let mut rest: Vec<Connection> = self.connections.into_values().filter(|c| !c.is_spent()).collect();
        rest.sort_unstable_by_key(|c| c.number);
        for mut connection in rest {
            connection.end(&mut self.held, run);
        }
        run.opaque.report(&mut run.account);
        if self.held.exceeded > 0 {
            let message = "packets that came out of order exceeded --limit reassembly; what they waited for is a hole";
            run.account.caveats("limit-reached", self.held.exceeded, message);
        }
    }

    fn payload(&mut self, packet: &Packet<'_>, payload: &[u8], missing: usize, stamp: Stamp, run: &mut Run<'_>) {
        match packet.protocol {
            TCP => {
                if let Some(segment) = Segment::read(payload, missing) {
                    self.segment(packet, &segment, stamp, run);
                }
            }
            UDP => run.opaque.udp(packet.source, packet.destination, payload),
            _ => {}
        }
    }

    fn segment(&mut self, packet: &Packet<'_>, segment: &Segment<'_>, stamp: Stamp, run: &mut Run<'_>) {
        let (from, to) = ((packet.source, segment.source), (packet.destination, segment.destination));
        let stamp = Stamp { ack: segment.ack, ..stamp };
        let (ends, direction) = if from <= to { ([from, to], 0) } else { ([to, from], 1) };
        let Self { connections, held, count, live, .. } = self;
        let mut is_new = false;
        let connection = connections.entry(Ends(ends)).or_insert_with(|| {
            is_new = true;
            Connection::new(ends, *count, 0)
        });
        if !is_new && connection.is_followed_by(direction, segment) {
            let was_live = !connection.is_spent();
            connection.end(held, run);
            *live = live.saturating_sub(was_live.into());
            *connection = Connection::new(ends, *count, connection.generation.saturating_add(1));
            is_new = true;
        }
        if is_new {
            *count = count.saturating_add(1);
            *live += 1;
        }
        let was_live = !connection.is_spent();
        connection.trace(direction, packet, segment, stamp);
        connection.take(direction, segment, stamp, held, run);
        *live = live.saturating_sub((was_live && connection.is_spent()).into());
        if is_new {
            self.forget(run);
        }
    }

    /// Keeps the number of connections within its bounds.
    fn forget(&mut self, run: &mut Run<'_>) {
        if self.live > MOST_LIVE {
            let idle = self.connections.values().filter(|c| c.is_idle()).count();
            // Connections that never said anything go first: a scan must not end the streams that are read.
            let is_old = |c: &Connection| if idle > MOST_LIVE / 2 { c.is_idle() } else { !c.is_spent() };
            let mut last: Vec<u32> = self.connections.values().filter(|c| is_old(c)).map(|c| c.last_frame).collect();
            last.sort_unstable();
            let before = last.get(last.len() / 2).copied().unwrap_or(u32::MAX);
            let mut old: Vec<&mut Connection> =
                self.connections.values_mut().filter(|c| is_old(c) && c.last_frame < before).collect();
            old.sort_unstable_by_key(|c| c.number);
            self.live = self.live.saturating_sub(old.len());
            let message = format!("more than {MOST_LIVE} connections are open at a time; the oldest are given up");
            run.account.caveats("limit-reached", old.len() as u64, message);
            for connection in old {
                connection.end(&mut self.held, run);
            }
        }
        if self.connections.len() > MOST_REMEMBERED {
            self.connections.retain(|_, c| !c.is_spent());
        }
    }
}
