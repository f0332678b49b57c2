//! The flavours of capture files: both formats, byte orders, resolutions, link types, damage.

use super::wire::*;
use lastevent::capture::{Limits, ReadError};

/// One exchange, sent at [`START`] + 3000 microseconds and 456 nanoseconds where the format has them.
fn sample() -> Wire {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(&mut tcp, C, "GET /mcp HTTP/1.1\r\nHost: h\r\n\r\n");
    wire.send(&mut tcp, S, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    wire.ack(&tcp, C);
    wire
}

fn check(file: &[u8], what: &str) {
    let reading = read(file, Limits::default()).unwrap_or_else(|e| panic!("{what}: {e}"));
    let [seen] = &reading.exchanges[..] else { panic!("{what}: {reading:?}") };
    assert_eq!((seen.url.as_str(), seen.text().as_str()), ("http://h/mcp", "ok"), "{what}");
    assert_eq!((seen.sent, seen.at.frame), (Some(3000), Some(4)), "{what}");
    assert_eq!(reading.caveats(), [], "{what}");
}

/// The sample as a pcap file with this magic number.
fn classic(magic: u32, is_big: bool, per_micro: u32, more_header: usize) -> Vec<u8> {
    let number = |n: u32| if is_big { n.to_be_bytes() } else { n.to_le_bytes() };
    let version = if is_big { 0x0002_0004 } else { 0x0004_0002 };
    let mut file = [magic, version, 0, 0, 65_535, 101].map(number).concat();
    for (micros, packet) in &sample().packets {
        let (seconds, fraction) = ((micros / 1_000_000) as u32, (micros % 1_000_000) as u32 * per_micro);
        let fraction = fraction + if per_micro > 1 { 456 } else { 0 };
        file.extend([seconds, fraction, packet.len() as u32, packet.len() as u32].map(number).concat());
        file.extend(vec![0; more_header]);
        file.extend_from_slice(packet);
    }
    file
}

#[test]
fn pcap_is_read_in_every_byte_order_and_resolution() {
    for is_big in [false, true] {
        check(&classic(0xa1b2_c3d4, is_big, 1, 0), "microseconds");
        check(&classic(0xa1b2_3c4d, is_big, 1000, 0), "nanoseconds");
        check(&classic(0xa1b2_cd34, is_big, 1, 8), "modified");
    }
}

#[test]
fn every_link_type_is_read() {
    let ether = [&[0; 12][..], &[8, 0]].concat();
    let vlan = [&[0; 12][..], &[0x81, 0, 0, 5, 8, 0]].concat();
    let sll = [&[0; 14][..], &[8, 0]].concat();
    let sll2 = [&[8, 0][..], &[0; 18]].concat();
    let links: [(u32, &[u8]); 9] = [
        (1, &ether),
        (1, &vlan),
        (113, &sll),
        (276, &sll2),
        (0, &[2, 0, 0, 0]),
        (0, &[0, 0, 0, 2]),
        (108, &[0, 0, 0, 2]),
        (101, &[]),
        (228, &[]),
    ];
    for (link, header) in links {
        check(&sample().file(link, header), &format!("link type {link}"));
    }
}

/// A pcapng block.
fn block(kind: u32, is_big: bool, body: &[u8]) -> Vec<u8> {
    let number = |n: usize| if is_big { (n as u32).to_be_bytes() } else { (n as u32).to_le_bytes() };
    let padded = body.len().next_multiple_of(4);
    let mut block = number(kind as usize).to_vec();
    block.extend(number(padded + 12));
    block.extend_from_slice(body);
    block.resize(8 + padded, 0);
    block.extend(number(padded + 12));
    block
}

/// The sample as a pcapng section: an interface that is not used, then one with these options, and the packets.
fn section(
    is_big: bool,
    options: &[(u16, &[u8])],
    ticks: impl Fn(i64) -> u64,
    packets: std::ops::Range<usize>,
) -> Vec<u8> {
    let two = |n: u16| if is_big { n.to_be_bytes() } else { n.to_le_bytes() };
    let four = |n: u32| if is_big { n.to_be_bytes() } else { n.to_le_bytes() };
    let with_options = |mut body: Vec<u8>, options: &[(u16, &[u8])]| {
        for (code, value) in options {
            body.extend(two(*code));
            body.extend(two(value.len() as u16));
            body.extend_from_slice(value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        body.extend([0; 4]);
        body
    };
    let header = [&four(0x1a2b_3c4d)[..], &two(1), &two(0), &[0xff; 8]].concat();
    let mut file = block(0x0a0d_0d0a, is_big, &with_options(header, &[(4, b"handmade 1.0")]));
    file.extend(block(1, is_big, &[&two(147)[..], &two(0), &four(0)].concat()));
    let interface = [&two(101)[..], &two(0), &four(0)].concat();
    file.extend(block(1, is_big, &with_options(interface, options)));
    file.extend(block(5, is_big, &[0; 12]));
    for (micros, packet) in &sample().packets[packets] {
        let ticks = ticks(*micros);
        let length = four(packet.len() as u32);
        let head = [four(1), four((ticks >> 32) as u32), four(ticks as u32), length, length].concat();
        file.extend(block(6, is_big, &[&head[..], packet].concat()));
    }
    file
}

#[test]
fn pcapng_is_read_by_the_resolution_and_offset_of_its_interface() {
    for is_big in [false, true] {
        check(&section(is_big, &[], |t| t as u64, 0..6), "microseconds");
        check(&section(is_big, &[(9, &[9])], |t| t as u64 * 1000 + 456, 0..6), "nanoseconds");
        check(
            &section(is_big, &[(9, &[0x80 | 20])], |t| ((t as u128 * (1 << 20)).div_ceil(1_000_000)) as u64, 0..6),
            "2^-20",
        );
        let offset: i64 = 1_600_000_000;
        let bytes = if is_big { offset.to_be_bytes() } else { offset.to_le_bytes() };
        check(&section(is_big, &[(14, &bytes)], |t| (t - offset * 1_000_000) as u64, 0..6), "offset");
    }
}

#[test]
fn sections_of_different_byte_order_follow_one_another() {
    let file = [section(false, &[(9, &[9])], |t| t as u64 * 1000, 0..4), section(true, &[], |t| t as u64, 4..6)];
    check(&file.concat(), "two sections");
    let reading = read(&file.concat(), Limits::default()).expect("a capture");
    assert_eq!(reading.account.recorder.as_deref(), Some("handmade 1.0"));
}

#[test]
fn simple_and_obsolete_packet_blocks_are_read() {
    let header = [&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat();
    let interface = [&101_u16.to_le_bytes()[..], &[0, 0], &0_u32.to_le_bytes()].concat();
    let start = [block(0x0a0d_0d0a, false, &header), block(1, false, &interface)].concat();
    let (mut simple, mut obsolete) = (start.clone(), start);
    for (micros, packet) in &sample().packets {
        let length = (packet.len() as u32).to_le_bytes();
        simple.extend(block(3, false, &[&length[..], packet].concat()));
        let time = [(*micros >> 32) as u32, *micros as u32].map(u32::to_le_bytes).concat();
        obsolete.extend(block(2, false, &[&[0, 0, 0xff, 0xff][..], &time, &length, &length, packet].concat()));
    }
    check(&obsolete, "obsolete packet blocks");
    let reading = read(&simple, Limits::default()).expect("a capture");
    let [seen] = &reading.exchanges[..] else { panic!("{reading:?}") };
    assert_eq!((seen.text().as_str(), seen.sent, &seen.marks[..]), ("ok", None, &[][..]));
    assert_eq!(seen.at.frame, Some(4));
}

#[test]
fn a_file_that_is_cut_is_read_up_to_there_and_says_where() {
    let file = sample().file(101, &[]);
    let last = file.len() - 40 - 16;
    for cut in [last + 5, last + 16, file.len() - 1] {
        let reading = read(&file[..cut], Limits::default()).expect("a capture");
        assert_eq!(reading.exchanges[0].text(), "ok");
        assert_eq!(reading.caveats(), [("input-truncated", 1)]);
        let message = &reading.account.caveats["input-truncated"].message;
        assert!(message.ends_with(&format!("at offset {last}; read up to packet 5")), "{message}");
    }
    let ng = section(false, &[], |t| t as u64, 0..6);
    let reading = read(&ng[..ng.len() - 10], Limits::default()).expect("a capture");
    assert_eq!((reading.exchanges[0].text().as_str(), reading.caveats()), ("ok", vec![("input-truncated", 1)]));
}

#[test]
fn impossible_lengths_stop_the_reading_without_taking_memory() {
    let mut file = sample().file(101, &[]);
    file.extend([0, 0, u32::MAX, u32::MAX].map(u32::to_le_bytes).concat());
    file.extend([0; 100]);
    let reading = read(&file, Limits::default()).expect("a capture");
    assert_eq!((reading.exchanges[0].text().as_str(), reading.caveats()), ("ok", vec![("input-truncated", 1)]));
    let mut ng = section(false, &[], |t| t as u64, 0..6);
    ng.extend([6, 0xffff_fff0, 0, 0].map(u32::to_le_bytes).concat());
    let reading = read(&ng, Limits::default()).expect("a capture");
    assert_eq!((reading.exchanges[0].text().as_str(), reading.caveats()), ("ok", vec![("input-truncated", 1)]));
}

#[test]
fn a_block_that_contradicts_itself_is_left_out_and_said() {
    let mut ng = section(false, &[], |t| t as u64, 0..6);
    let head = [1, 0, 0, 4000, 4000].map(u32::to_le_bytes).concat();
    ng.extend(block(6, false, &[&head[..], &[0; 8]].concat()));
    ng.extend(block(6, false, &[7, 0, 0, 4, 4, 0].map(u32::to_le_bytes).concat()));
    let reading = read(&ng, Limits::default()).expect("a capture");
    assert_eq!((reading.exchanges[0].text().as_str(), reading.caveats()), ("ok", vec![("undecodable-entry", 2)]));
    assert!(reading.account.caveats["undecodable-entry"].message.contains("(packet 7)"));
}

#[test]
fn what_is_no_capture_is_refused_with_a_reason() {
    let refused = |bytes: &[u8]| read(bytes, Limits::default()).expect_err("refused");
    assert!(matches!(refused(b""), ReadError::NotACapture(_)));
    assert!(matches!(refused(b"{\"log\":{}}"), ReadError::NotACapture(_)));
    assert!(matches!(refused(&0xa1b2_c3d4_u32.to_le_bytes()), ReadError::Damaged(_)));
    let wireless = sample().file(105, &[]);
    assert!(matches!(refused(&wireless), ReadError::NotRead(why) if why.contains("105")));
}

#[test]
fn ipv6_is_read_with_its_addresses_in_the_url() {
    let mut wire = Wire::new();
    let v6 = |side: usize, tcp: &[u8]| {
        let mut packet = vec![0x60, 0, 0, 0];
        packet.extend((tcp.len() as u16).to_be_bytes());
        packet.extend([6, 64]);
        let ends = if side == C { [1, 2] } else { [2, 1] };
        for end in ends {
            packet.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, end]);
        }
        packet.extend_from_slice(tcp);
        packet
    };
    wire.packet(v6(C, &tcp_bytes(40_000, C, 99, 0, SYN, b"")));
    wire.packet(v6(C, &tcp_bytes(40_000, C, 100, 0, ACK, b"GET /six HTTP/1.0\r\n\r\n")));
    let seen = wire.read_one();
    assert_eq!(seen.url, "http://[2001:db8::2]:80/six");
}
