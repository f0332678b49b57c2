//! What packets betray of where they were captured: hop limits, checksums left to the hardware, times of handshakes.

use crate::wire::{ip::Packet, tcp::Segment};
use std::net::IpAddr;

/// Packets of one direction that are looked at; the rest say the same.
const LOOKED_AT: u32 = 64;

/// Hop limits that hosts send with; one below them has passed a router.
const INITIAL: [u8; 5] = [30, 32, 64, 128, 255];

/// What one direction of a connection betrays.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sender {
    /// Packets that were looked at.
    pub packets: u32,
    /// Those of them whose hop limit no router had lowered.
    pub fresh: u32,
    /// The hop limit of the last one.
    pub hops: u8,
    /// Those whose checksum the sending host had left to its network hardware: it was captured on that host.
    pub unfinished: u32,
}

/// What one connection betrays, by direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traces {
    senders: [Sender; 2],
    opener: Option<usize>,
    /// Times of SYN, SYN-ACK and the ACK behind it, in microseconds.
    handshake: [Option<i64>; 3],
    is_repeated: bool,
}

impl Traces {
    /// Takes note of a segment and the packet around it.
    pub fn note(&mut self, direction: usize, packet: &Packet<'_>, segment: &Segment<'_>, micros: Option<i64>) {
        self.shake_hands(direction, segment, micros);
        let sender = &mut self.senders[direction];
        if sender.packets == LOOKED_AT {
            return;
        }
        sender.packets += 1;
        sender.hops = packet.hops;
        sender.fresh += u32::from(INITIAL.contains(&packet.hops));
        sender.unfinished += u32::from(packet.fragment.is_none() && is_unfinished(packet));
    }

    fn shake_hands(&mut self, direction: usize, segment: &Segment<'_>, micros: Option<i64>) {
        let step = match (segment.syn, segment.ack.is_some()) {
            (true, false) => 0,
            (true, true) => 1,
            (false, true) if self.opener == Some(direction) && self.handshake[1].is_some() => 2,
            _ => return,
        };
        if step == 0 {
            self.opener = Some(direction);
        }
        match &mut self.handshake[step] {
            empty @ None => *empty = micros,
            Some(_) => self.is_repeated |= step < 2,
        }
    }

    /// What the sender of one direction betrays.
    pub fn sender(&self, direction: usize) -> Sender {
        self.senders[direction]
    }

    /// How long the other side took to answer SYN, and how long the opener took to answer that, in microseconds; none
    /// where one of the three packets was not seen, or was sent again.
    pub fn handshake(&self) -> Option<(i64, i64)> {
        let [Some(syn), Some(answer), Some(ack)] = self.handshake else { return None };
        (!self.is_repeated).then_some((answer - syn, ack - answer))
    }
}

/// The checksum covers the pseudo-header only: a Linux host computes so much of it, and leaves the rest to the hardware.
fn is_unfinished(packet: &Packet<'_>) -> bool {
    let Some(&[high, low]) = packet.payload.get(16..18).and_then(|b| b.first_chunk()) else { return false };
    let length = packet.payload.len().saturating_add(packet.missing);
    let Ok(length) = u16::try_from(length) else { return false };
    let mut sum = u32::from(packet.protocol) + u32::from(length);
    for address in [packet.source, packet.destination] {
        sum += match address {
            IpAddr::V4(v4) => words(&v4.octets()),
            IpAddr::V6(v6) => words(&v6.octets()),
        };
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum == u32::from(u16::from_be_bytes([high, low]))
}

fn words(bytes: &[u8]) -> u32 {
    bytes.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(payload: &[u8]) -> Packet<'_> {
        let local = IpAddr::from([127, 0, 0, 1]);
        Packet { source: local, destination: local, protocol: 6, payload, missing: 8, fragment: None, hops: 64 }
    }

    #[test]
    fn a_checksum_over_the_pseudo_header_alone_is_unfinished() {
        // As Linux sends a segment of 40 bytes on its loopback interface, cut to 32: 6 + 40 + 2 * (7f00 + 1) = fe30.
        let mut payload = vec![0; 32];
        payload[16..18].copy_from_slice(&[0xfe, 0x30]);
        assert!(is_unfinished(&of(&payload)));
        assert!(!is_unfinished(&of(&payload[..17])), "cut before its checksum");
        payload[17] = 0x31;
        assert!(!is_unfinished(&of(&payload)), "another sum");
    }
}
