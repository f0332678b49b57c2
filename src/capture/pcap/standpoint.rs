//! Where were the packets captured? At the client, at the server, or between: what proves it, for each server apart.
//!
//! Three kinds of trace speak: a hop limit that no router has lowered yet, a checksum that the sending host had left to
//! its hardware, and which side's answers in the handshake took the way over the network. Where two of them contradict
//! each other, or none speaks, the place stays unknown; receipt is then judged by acknowledgements alone.

use super::{
    connection::Endpoint,
    traces::{Sender, Traces},
};
use crate::model::Vantage;
use std::{collections::BTreeMap, net::SocketAddr};

/// A checksum that is unfinished by chance is one of 65,536.
const UNFINISHED: u32 = 2;

/// A way over the network that is shorter, in microseconds, tells nothing.
const SHORTEST_WAY: i64 = 1_000;

/// How many times longer than the other answer the one over the network must take.
const RATIO: i64 = 10;

/// What all connections to one server betray.
#[derive(Default)]
struct Tally {
    is_local: bool,
    /// Of the client, of the server.
    senders: [Sender; 2],
    /// Handshakes in which the server's answer, or else the client's, took the way; with the longest times of each kind.
    ways: [u32; 2],
    shown: (i64, i64),
    /// Handshakes that tell nothing.
    mute: u32,
}

/// The traces of a file, by server.
#[derive(Default)]
pub struct Standpoint {
    servers: BTreeMap<Endpoint, Tally>,
}

/// What was found out.
pub struct Found {
    /// The vantage of the file as a whole.
    pub vantage: Vantage,
    /// The vantage of each server's connections, by address and port.
    pub servers: Vec<(String, Vantage)>,
    /// What shows it, in words.
    pub shown_by: Vec<String>,
}

impl Standpoint {
    /// Takes what a connection that carried HTTP betrays; `client` is the direction of its requests.
    pub fn add(&mut self, ends: [Endpoint; 2], client: usize, traces: &Traces) {
        let (from, to) = (ends[client], ends[1 - client]);
        let tally = self.servers.entry(to).or_default();
        tally.is_local = from.0 == to.0 || from.0.is_loopback() && to.0.is_loopback();
        for (sum, direction) in tally.senders.iter_mut().zip([client, 1 - client]) {
            let sender = traces.sender(direction);
            sum.packets += sender.packets;
            sum.fresh += sender.fresh;
            sum.unfinished += sender.unfinished;
            sum.hops = sender.hops;
        }
        let Some((server, client)) = traces.handshake() else { return };
        let is_far = |way: i64, other: i64| other >= 0 && way >= SHORTEST_WAY && way / RATIO >= other;
        match (is_far(server, client), is_far(client, server)) {
            (true, _) => tally.ways[0] += 1,
            (_, true) => tally.ways[1] += 1,
            _ => tally.mute += 1,
        }
        tally.shown = tally.shown.max((server, client));
    }

    /// What all of it proves.
    pub fn find(&self) -> Found {
        let mut servers = Vec::new();
        let mut shown_by: Vec<String> = Vec::new();
        for (server, tally) in &self.servers {
            let (vantage, why) = tally.judge();
            servers.push((SocketAddr::from(*server).to_string(), vantage));
            for reason in why {
                if !shown_by.contains(&reason) {
                    shown_by.push(reason);
                }
            }
        }
        let has = |vantage| servers.iter().any(|(_, v)| *v == vantage);
        let first = servers.first().map_or(Vantage::Unknown, |(_, v)| *v);
        let vantage = match servers.iter().all(|(_, v)| *v == first) {
            true => first,
            false if has(Vantage::Client) && has(Vantage::Server) => {
                shown_by.push("it is the server of one hop and the client of another".to_owned());
                Vantage::Proxy
            }
            false => Vantage::Unknown,
        };
        Found { vantage, servers, shown_by }
    }
}

impl Tally {
    /// Where this server's connections were captured, and why that is believed.
    fn judge(&self) -> (Vantage, Vec<String>) {
        if self.is_local {
            return (Vantage::Unknown, vec!["client and server are on one host, which sees both ends".to_owned()]);
        }
        let hops = self.by_hops();
        // Where routers lie on both sides, a handshake only tells which of the two ends is nearer.
        let is_between = hops.as_ref().is_some_and(|(vantage, _)| *vantage == Vantage::Proxy);
        let shaken = self.by_handshakes().filter(|_| !is_between);
        let votes: Vec<(Vantage, String)> = [hops, self.by_checksums(), shaken].into_iter().flatten().collect();
        let Some((first, _)) = votes.first() else {
            return (Vantage::Unknown, vec!["hop limits, checksums and handshakes tell nothing".to_owned()]);
        };
        let agree = votes.iter().all(|(vantage, _)| vantage == first);
        let vantage = if agree { *first } else { Vantage::Unknown };
        let mut why: Vec<String> = votes.into_iter().map(|(_, why)| why).collect();
        if !agree {
            why.push("which contradict each other".to_owned());
        }
        (vantage, why)
    }

    fn by_hops(&self) -> Option<(Vantage, String)> {
        let [client, server] = &self.senders;
        if client.packets == 0 || server.packets == 0 {
            return None;
        }
        // Fresh, or else under way; none where a side's packets differ.
        let is_fresh = |s: &Sender| match s.fresh {
            0 => Some(false),
            n if n == s.packets => Some(true),
            _ => None,
        };
        let vantage = match (is_fresh(client)?, is_fresh(server)?) {
            (true, false) => Vantage::Client,
            (false, true) => Vantage::Server,
            (false, false) => Vantage::Proxy,
            (true, true) => return None,
        };
        Some((vantage, format!("hop limits are {} from the client and {} from the server", client.hops, server.hops)))
    }

    fn by_checksums(&self) -> Option<(Vantage, String)> {
        let [client, server] = self.senders.map(|s| s.unfinished);
        let (vantage, side) = match (client >= UNFINISHED, server >= UNFINISHED) {
            (true, false) if server == 0 => (Vantage::Client, "client"),
            (false, true) if client == 0 => (Vantage::Server, "server"),
            _ => return None,
        };
        Some((vantage, format!("the {side}'s checksums were still to be computed by its hardware")))
    }

    fn by_handshakes(&self) -> Option<(Vantage, String)> {
        let vantage = match (self.ways, self.mute) {
            ([0, 0], _) | (_, 1..) => return None,
            ([_, 0], _) => Vantage::Client,
            ([0, _], _) => Vantage::Server,
            _ => return None,
        };
        let (server, client) = self.shown;
        let ms = |micros: i64| format!("{}.{:03} ms", micros / 1000, micros % 1000);
        Some((
            vantage,
            format!("in handshakes the server answers after {}, the client after {}", ms(server), ms(client)),
        ))
    }
}
