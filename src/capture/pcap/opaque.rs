//! Traffic that cannot be read: counted by port, and said.

use crate::capture::FileFacts;
use std::{
    collections::{BTreeMap, HashSet},
    net::IpAddr,
};

/// Most QUIC flows that are told apart.
const MOST_FLOWS: usize = 1 << 16;

/// Most ports that a message names.
const PORTS_NAMED: usize = 8;

/// What was seen and not read.
#[derive(Default)]
pub struct Opaque {
    tls: BTreeMap<u16, u64>,
    quic: BTreeMap<u16, u64>,
    flows: HashSet<[(IpAddr, u16); 2]>,
}

impl Opaque {
    /// A TLS connection to this port.
    pub fn tls(&mut self, port: u16) {
        *self.tls.entry(port).or_default() += 1;
    }

    /// A UDP datagram, which may be the first of a QUIC connection.
    pub fn udp(&mut self, source: IpAddr, destination: IpAddr, datagram: &[u8]) {
        let [s0, s1, d0, d1, _, _, _, _, first, v0, v1, v2, v3, ..] = *datagram else { return };
        let version = u32::from_be_bytes([v0, v1, v2, v3]);
        let is_known = matches!(version, 1 | 0x6b33_43cf | 0xff00_001d..=0xff00_0022);
        if first & 0xc0 != 0xc0 || !is_known || self.flows.len() >= MOST_FLOWS {
            return;
        }
        let (from, to) = ((source, u16::from_be_bytes([s0, s1])), (destination, u16::from_be_bytes([d0, d1])));
        let ends = if from < to { [from, to] } else { [to, from] };
        if self.flows.insert(ends) {
            *self.quic.entry(to.1).or_default() += 1;
        }
    }

    /// Says what was seen.
    pub fn report(&self, account: &mut FileFacts) {
        let (tls, quic) = (total(&self.tls), total(&self.quic));
        if tls + quic > 0 {
            let kinds = [(tls, "TLS", &self.tls), (quic, "QUIC", &self.quic)];
            let said: Vec<String> =
                kinds.into_iter().filter(|k| k.0 > 0).map(|(n, what, by)| said(n, what, by)).collect();
            let message = format!(
                "{} cannot be read; capture where TLS ends, or at a proxy (keys in the file are not used)",
                said.join(" and ")
            );
            account.caveats("tls-opaque", tls + quic, message);
        }
    }
}

fn total(by_port: &BTreeMap<u16, u64>) -> u64 {
    by_port.values().sum()
}

fn said(count: u64, what: &str, by_port: &BTreeMap<u16, u64>) -> String {
    let mut ports: Vec<String> = by_port.keys().take(PORTS_NAMED).map(u16::to_string).collect();
    if by_port.len() > PORTS_NAMED {
        ports.push("…".into());
    }
    let connections = if count == 1 { "connection" } else { "connections" };
    let to = if by_port.len() == 1 { "port" } else { "ports" };
    format!("{count} {what} {connections} ({to} {})", ports.join(", "))
}
