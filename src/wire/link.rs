//! Which bytes of a captured frame are the IP packet? One answer for each link type.

/// How frames of an interface begin, as far as it is read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Ethernet II, with VLAN tags, PPPoE or MPLS labels below IP.
    Ethernet,
    /// BSD loopback: an address family in the byte order of the capturing host.
    Null,
    /// OpenBSD loopback: the same in network order.
    Loop,
    /// No link header.
    Raw,
    /// Linux "cooked" capture (`tcpdump -i any`).
    Sll,
    /// Its second version.
    Sll2,
    /// Linux netfilter log: attributes, one of which is the packet.
    Nflog,
    /// Cisco HDLC.
    CiscoHdlc,
    /// PPP, with or without its HDLC address and control bytes.
    Ppp,
}

impl Link {
    /// The link of a `LINKTYPE_`/`DLT_` number; none where frames of that kind are not read.
    pub fn of(linktype: u32) -> Option<Self> {
        Some(match linktype {
            0 => Self::Null,
            1 => Self::Ethernet,
            9 | 50 => Self::Ppp,
            12 | 14 | 101 | 228 | 229 => Self::Raw,
            104 => Self::CiscoHdlc,
            108 => Self::Loop,
            113 => Self::Sll,
            239 => Self::Nflog,
            276 => Self::Sll2,
            _ => return None,
        })
    }

    /// The IP packet within a frame; none where the frame carries something else or is cut before it.
    pub fn packet(self, frame: &[u8]) -> Option<&[u8]> {
        match self {
            Self::Ethernet => behind_ethertype(be16(frame, 12)?, frame.get(14..)?),
            Self::Null => {
                let family: [u8; 4] = frame.first_chunk().copied()?;
                // The host's byte order is not recorded: a family is a small number in one of the two.
                let known = is_ip_family(u32::from_le_bytes(family)) || is_ip_family(u32::from_be_bytes(family));
                frame.get(4..).filter(|_| known)
            }
            Self::Loop => {
                let family = u32::from_be_bytes(frame.first_chunk().copied()?);
                frame.get(4..).filter(|_| is_ip_family(family))
            }
            Self::Raw => Some(frame),
            Self::Sll => behind_ethertype(be16(frame, 14)?, frame.get(16..)?),
            Self::Sll2 => behind_ethertype(be16(frame, 0)?, frame.get(20..)?),
            Self::Nflog => nflog(frame),
            Self::CiscoHdlc => behind_ethertype(be16(frame, 2)?, frame.get(4..)?),
            Self::Ppp => behind_ppp(frame.strip_prefix(&[0xff, 0x03]).unwrap_or(frame)),
        }
    }
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

/// `AF_INET` and the values that `AF_INET6` has on Linux, the BSDs and macOS.
fn is_ip_family(family: u32) -> bool {
    matches!(family, 2 | 10 | 24 | 28 | 30)
}

fn behind_ethertype(mut ethertype: u16, mut rest: &[u8]) -> Option<&[u8]> {
    // Eight tags are far more than any network stacks.
    for _ in 0..8 {
        match ethertype {
            0x0800 | 0x86dd => return Some(rest),
            0x8100 | 0x88a8 | 0x9100 | 0x9200 => {
                ethertype = be16(rest, 2)?;
                rest = rest.get(4..)?;
            }
            0x8864 => return behind_ppp(rest.get(6..)?),
            0x8847 => {
                let is_bottom = rest.get(2)? & 1 == 1;
                rest = rest.get(4..)?;
                if is_bottom {
                    return Some(rest);
                }
            }
            _ => return None,
        }
    }
    None
}

fn behind_ppp(bytes: &[u8]) -> Option<&[u8]> {
    match bytes {
        [0x21 | 0x57, rest @ ..] | [0x00, 0x21 | 0x57, rest @ ..] => Some(rest),
        _ => None,
    }
}

/// The payload attribute (type 9) of a netfilter log frame. Attributes are in the host's byte order.
fn nflog(frame: &[u8]) -> Option<&[u8]> {
    if !matches!(frame.first()?, 2 | 10) {
        return None;
    }
    let attributes = frame.get(4..)?;
    attribute(attributes, 9, u16::from_le_bytes).or_else(|| attribute(attributes, 9, u16::from_be_bytes))
}

fn attribute(mut rest: &[u8], wanted: u16, number: fn([u8; 2]) -> u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(number(rest.first_chunk().copied()?));
        let kind = number(rest.get(2..)?.first_chunk().copied()?) & 0x7fff;
        if kind == wanted {
            // A packet that the snap length cut ends before its attribute does.
            return rest.get(4..length.min(rest.len()));
        }
        if length < 4 {
            return None;
        }
        rest = rest.get(length.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IP: [u8; 3] = [0x45, 1, 2];

    fn behind(link: u32, header: &[u8]) -> Option<Vec<u8>> {
        Link::of(link).and_then(|l| l.packet(&[header, &IP].concat()).map(<[u8]>::to_vec))
    }

    #[test]
    fn every_link_header_is_taken_off() {
        let ether = [&[0; 12][..], &[8, 0]].concat();
        let vlans = [&[0; 12][..], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 7, 0x86, 0xdd]].concat();
        let pppoe = [&[0; 12][..], &[0x88, 0x64, 0x11, 0, 0, 1, 0, 9, 0, 0x21]].concat();
        let mpls = [&[0; 12][..], &[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64]].concat();
        let sll = [&[0; 14][..], &[8, 0]].concat();
        let sll2 = [&[0x86, 0xdd][..], &[0; 18]].concat();
        let nflog = [2, 0, 0, 0, 6, 0, 1, 0, 9, 9, 0, 0, 7, 0, 9, 0];
        let nflog_be = [2, 0, 0, 0, 0, 6, 0, 1, 9, 9, 0, 0, 0, 7, 0, 9];
        let cases: [(u32, &[u8]); 15] = [
            (1, &ether),
            (1, &vlans),
            (1, &pppoe),
            (1, &mpls),
            (113, &sll),
            (276, &sll2),
            (0, &[2, 0, 0, 0]),
            (0, &[0, 0, 0, 30]),
            (108, &[0, 0, 0, 24]),
            (101, &[]),
            (228, &[]),
            (239, &nflog),
            (239, &nflog_be),
            (104, &[0x0f, 0, 8, 0]),
            (9, &[0xff, 3, 0, 0x21]),
        ];
        for (link, header) in cases {
            assert_eq!(behind(link, header).as_deref(), Some(&IP[..]), "link type {link}, header {header:x?}");
        }
    }

    #[test]
    fn frames_that_carry_no_ip_give_nothing() {
        assert_eq!(behind(1, &[&[0; 12][..], &[8, 6]].concat()), None);
        assert_eq!(behind(0, &[7, 0, 0, 0]), None);
        assert_eq!(behind(239, &[2, 0, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(Link::Ethernet.packet(&[0; 13]), None);
        assert_eq!(Link::of(105), None);
    }
}
