//! IP packets: addresses, upper protocol, payload, and how much of it the capture lacks.

mod fragments;

pub use fragments::{Fragments, Whole};

use etherparse::{Ipv6ExtensionSlice, LaxIpSlice};
use std::net::IpAddr;

/// One IP packet, extension headers taken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The sender.
    pub source: IpAddr,
    /// The receiver.
    pub destination: IpAddr,
    /// The protocol number of the payload (6 is TCP, 17 is UDP).
    pub protocol: u8,
    /// The captured payload, without link-layer padding.
    pub payload: &'a [u8],
    /// Bytes at the payload's end that were sent and not captured.
    pub missing: usize,
    /// Its place, where it is part of a fragmented packet.
    pub fragment: Option<Fragment>,
    /// How many more routers it may pass (time to live, hop limit).
    pub hops: u8,
}

/// The place of a fragment within its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The identification that fragments of one packet share.
    pub id: u32,
    /// Offset of its payload in bytes.
    pub offset: usize,
    /// It is not the last one.
    pub more: bool,
}

impl<'a> Packet<'a> {
    /// Reads an IPv4 or IPv6 packet. `uncaptured` is how many bytes of the frame the snap length cut; it counts only
    /// where the packet does not declare its own length (segmentation offload).
    pub fn read(bytes: &'a [u8], uncaptured: usize) -> Option<Self> {
        let (slice, _) = LaxIpSlice::from_slice(bytes).ok()?;
        let (source, destination, declared, fragment, hops) = match &slice {
            LaxIpSlice::Ipv4(v4) => {
                let header = v4.header();
                let fragment = header.is_fragmenting_payload().then(|| Fragment {
                    id: header.identification().into(),
                    offset: usize::from(header.fragments_offset().value()) * 8,
                    more: header.more_fragments(),
                });
                let total = usize::from(header.total_len());
                let declared = (total >= header.slice().len()).then_some(total);
                (header.source_addr().into(), header.destination_addr().into(), declared, fragment, header.ttl())
            }
            LaxIpSlice::Ipv6(v6) => {
                let header = v6.header();
                let fragment = v6.extensions().clone().into_iter().find_map(|extension| match extension {
                    Ipv6ExtensionSlice::Fragment(f) if f.is_fragmenting_payload() => Some(Fragment {
                        id: f.identification(),
                        offset: usize::from(f.fragment_offset().value()) * 8,
                        more: f.more_fragments(),
                    }),
                    _ => None,
                });
                let length = usize::from(header.payload_length());
                let declared = (length > 0).then_some(length + header.slice().len());
                (header.source_addr().into(), header.destination_addr().into(), declared, fragment, header.hop_limit())
            }
        };
        let payload = slice.payload();
        let missing = declared.map_or(uncaptured, |total| total.saturating_sub(bytes.len()));
        let (protocol, payload) = (payload.ip_number.0, payload.payload);
        Some(Self { source, destination, protocol, payload, missing, fragment, hops })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(total: u16, flags: u16) -> Vec<u8> {
        let mut p = vec![0x45, 0, 0, 0, 0x12, 0x34, 0, 0, 64, 6, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
        p[2..4].copy_from_slice(&total.to_be_bytes());
        p[6..8].copy_from_slice(&flags.to_be_bytes());
        p
    }

    #[test]
    fn the_declared_length_decides_over_padding_cuts_and_offload() {
        let padded = [v4(22, 0), b"abPAD".to_vec()].concat();
        let packet = Packet::read(&padded, 0).expect("a packet");
        assert_eq!((packet.payload, packet.missing, packet.protocol, packet.hops), (&b"ab"[..], 0, 6, 64));

        let cut = [v4(120, 0), b"ab".to_vec()].concat();
        let packet = Packet::read(&cut, 7).expect("a packet");
        assert_eq!((packet.payload, packet.missing), (&b"ab"[..], 98));

        let offloaded = [v4(0, 0), b"ab".to_vec()].concat();
        let packet = Packet::read(&offloaded, 7).expect("a packet");
        assert_eq!((packet.payload, packet.missing), (&b"ab"[..], 7));
    }

    #[test]
    fn fragments_tell_their_place() {
        let bytes = [v4(22, 0x2000 | 3), b"ab".to_vec()].concat();
        let packet = Packet::read(&bytes, 0).expect("a packet");
        assert_eq!(packet.fragment, Some(Fragment { id: 0x1234, offset: 24, more: true }));
    }

    #[test]
    fn ipv6_extension_headers_are_taken_off() {
        let mut p = vec![0x60, 0, 0, 0, 0, 18, 0, 64];
        p.extend([0; 15]);
        p.push(1);
        p.extend([0; 15]);
        p.push(2);
        p.extend([44, 0, 1, 4, 0, 0, 0, 0]); // hop-by-hop, then a fragment header
        p.extend([6, 0, 0, 0x10, 0, 0, 0, 9, b'a', b'b']);
        let packet = Packet::read(&p, 0).expect("a packet");
        assert_eq!((packet.protocol, packet.payload), (6, &b"ab"[..]));
        assert_eq!(packet.fragment, Some(Fragment { id: 9, offset: 16, more: false }));
        assert_eq!(packet.source.to_string(), "::1");
    }

    #[test]
    fn what_is_no_ip_gives_nothing() {
        assert_eq!(Packet::read(&[], 0), None);
        assert_eq!(Packet::read(&[0x45; 19], 0), None);
        assert_eq!(Packet::read(&[0x20; 40], 0), None);
    }
}
