//! One direction of a connection, segment by segment, with the exact bytes, holes and times that come out.

use super::*;

const ISN: u32 = 0xffff_fff0;

/// A stream, with what it delivered so far: bytes as text, holes as `<length>`, each with its two frames.
struct Wire {
    stream: Stream,
    held: Held,
    frame: u32,
    out: Vec<(i64, String, u32, u32)>,
}

impl Wire {
    fn new() -> Self {
        let held = Held { bytes: 0, most: 1 << 20, exceeded: 0 };
        let mut wire = Self { stream: Stream::default(), held, frame: 0, out: Vec::new() };
        wire.send(Segment { syn: true, seq: ISN, ..wire.at(0, b"") });
        wire
    }

    fn at(&self, offset: u32, payload: &'static [u8]) -> Segment<'static> {
        Segment {
            source: 1,
            destination: 2,
            seq: ISN.wrapping_add(1).wrapping_add(offset),
            ack: None,
            syn: false,
            fin: false,
            rst: false,
            payload,
            missing: 0,
        }
    }

    fn send(&mut self, segment: Segment<'_>) -> Received {
        self.frame += 1;
        let stamp = Stamp { frame: self.frame, micros: Some(i64::from(self.frame) * 10), ack: None };
        let out = &mut self.out;
        self.stream.receive(&segment, stamp, &mut self.held, &mut |d| out.push(shown(d)))
    }

    fn data(&mut self, offset: u32, payload: &'static [u8]) -> Received {
        self.send(self.at(offset, payload))
    }

    fn flush(&mut self) {
        let out = &mut self.out;
        self.stream.flush(&mut self.held, &mut |d| out.push(shown(d)));
    }

    fn text(&self) -> String {
        self.out.iter().map(|(_, text, ..)| text.as_str()).collect()
    }
}

fn shown(delivery: Delivery<'_>) -> (i64, String, u32, u32) {
    let text = match delivery.part {
        Part::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Part::Hole(length) => format!("<{length}>"),
        Part::Cut(length) => format!("[{length}]"),
    };
    (delivery.offset, text, delivery.own.frame, delivery.ready.frame)
}

#[test]
fn segments_in_order_come_out_as_they_are_also_where_sequence_numbers_wrap() {
    let mut wire = Wire::new();
    wire.data(0, b"0123456789");
    wire.data(10, b"abcdefghij");
    wire.data(20, b"after");
    assert_eq!(wire.out, [(0, "0123456789".into(), 2, 2), (10, "abcdefghij".into(), 3, 3), (20, "after".into(), 4, 4)]);
}

#[test]
fn bytes_out_of_order_can_be_read_once_the_late_packet_is_there() {
    let mut wire = Wire::new();
    assert!(wire.data(4, b"BBBB").waits);
    assert!(wire.data(8, b"CC").waits);
    assert!(!wire.data(0, b"AAAA").waits);
    assert_eq!(wire.out, [(0, "AAAA".into(), 4, 4), (4, "BBBB".into(), 2, 4), (8, "CC".into(), 3, 4)]);
    assert_eq!(wire.held.bytes, 0);
}

#[test]
fn the_first_copy_wins_and_a_different_second_one_is_noted() {
    let mut wire = Wire::new();
    assert!(!wire.data(0, b"abcd").conflict);
    assert!(!wire.data(0, b"abcd").conflict, "an equal retransmission");
    assert!(!wire.data(2, b"cdef").conflict, "an equal overlap with new bytes behind it");
    assert!(wire.data(3, b"XYZ").conflict);
    assert!(wire.data(0, b"abcdeX").conflict);
    assert_eq!(wire.text(), "abcdef");
}

#[test]
fn overlaps_among_waiting_segments_keep_what_came_first() {
    let mut wire = Wire::new();
    wire.data(4, b"4567");
    wire.data(12, b"cd");
    assert!(wire.data(2, b"23XX6789abYde").conflict);
    assert!(!wire.data(6, b"6789ab").conflict);
    wire.data(0, b"01");
    assert_eq!(wire.text(), "0123456789abcde");
    assert_eq!(wire.held.bytes, 0);
}

#[test]
fn keep_alive_probes_are_no_data() {
    let mut wire = Wire::new();
    wire.data(0, b"abc");
    assert_eq!(wire.data(2, b"\0"), Received::default());
    assert_eq!(wire.data(2, b""), Received::default());
    wire.data(3, b"d");
    assert_eq!(wire.text(), "abcd");
}

#[test]
fn lost_bytes_become_a_hole_of_known_length_at_the_end() {
    let mut wire = Wire::new();
    wire.data(0, b"ab");
    wire.data(5, b"fg");
    wire.send(Segment { fin: true, ..wire.at(10, b"") });
    assert_eq!(wire.stream.closed(), None);
    wire.flush();
    assert_eq!(wire.text(), "ab<3>fg<3>");
    assert_eq!(wire.stream.closed(), Some(Close::Fin));
}

#[test]
fn a_hole_is_given_up_when_its_bytes_were_acknowledged_long_ago() {
    let mut wire = Wire::new();
    for n in 0..300 {
        wire.data(5 + n, b"x");
        wire.stream.acknowledge(ISN.wrapping_add(1 + 6 + n));
    }
    assert!(wire.text().starts_with("<5>xxx"));
    wire.data(0, b"late!");
    assert!(wire.text().starts_with("<5>xxx"), "what comes after a hole was given up is not inserted");
}

#[test]
fn a_hole_is_given_up_when_too_much_waits_for_it() {
    let mut wire = Wire::new();
    wire.held.most = 1000;
    for n in 0..20 {
        wire.data(5 + n, b"x");
    }
    assert!(wire.text().starts_with("<5>xxx"));
    assert_eq!(wire.held.exceeded, 1);
}

#[test]
fn what_the_snap_length_cut_is_a_hole_unless_another_packet_brings_it() {
    let mut wire = Wire::new();
    wire.send(Segment { missing: 6, ..wire.at(0, b"head") });
    wire.send(Segment { missing: 2, ..wire.at(10, b"next") });
    assert_eq!(wire.text(), "head[6]next[2]");
    let mut wire = Wire::new();
    wire.send(Segment { missing: 4, ..wire.at(4, b"4567") });
    wire.data(8, b"89ab");
    wire.send(Segment { missing: 2, ..wire.at(0, b"01") });
    assert_eq!(wire.text(), "01[2]456789ab");
}

#[test]
fn fin_before_the_last_data_waits_for_it() {
    let mut wire = Wire::new();
    wire.data(0, b"ab");
    wire.send(Segment { fin: true, ..wire.at(4, b"") });
    assert_eq!(wire.stream.closed(), None);
    wire.data(2, b"cd");
    assert_eq!((wire.text().as_str(), wire.stream.closed()), ("abcd", Some(Close::Fin)));
}

#[test]
fn a_reset_closes_at_once_unless_bytes_before_it_may_come() {
    let mut wire = Wire::new();
    wire.data(0, b"ab");
    wire.send(Segment { rst: true, ..wire.at(4, b"ignored") });
    assert_eq!(wire.stream.closed(), None);
    wire.data(2, b"cd");
    assert_eq!((wire.text().as_str(), wire.stream.closed()), ("abcd", Some(Close::Reset)));
    let mut wire = Wire::new();
    wire.send(Segment { rst: true, seq: 0x7000_0000, ..wire.at(0, b"") });
    assert_eq!(wire.stream.closed(), Some(Close::Reset));
}

#[test]
fn a_stream_without_beginning_starts_with_its_first_packet() {
    let held = Held { bytes: 0, most: 1 << 20, exceeded: 0 };
    let mut wire = Wire { stream: Stream::default(), held, frame: 0, out: Vec::new() };
    wire.data(100, b"mid");
    wire.data(103, b"dle");
    assert_eq!(wire.text(), "middle");
    assert_eq!(wire.stream.offset_of(ISN.wrapping_add(1 + 106)), Some(6));
    wire.stream.acknowledge(ISN.wrapping_add(1 + 103));
    wire.stream.acknowledge(ISN.wrapping_add(1 + 100));
    assert_eq!(wire.stream.acknowledged(), Some(3));
}

#[test]
fn a_segment_is_read_with_options_flags_and_payload() {
    let mut bytes = vec![0x1f, 0x90, 0x9c, 0x41, 0, 0, 0, 7, 0, 0, 1, 0, 0x60, 0x11, 1, 0, 0, 0, 0, 0];
    bytes.extend([1, 1, 1, 1]);
    bytes.extend(b"data");
    let segment = Segment::read(&bytes, 3).expect("a segment");
    assert_eq!((segment.source, segment.destination), (8080, 40001));
    assert_eq!((segment.seq, segment.ack, segment.syn, segment.fin, segment.rst), (7, Some(256), false, true, false));
    assert_eq!((segment.payload, segment.missing), (&b"data"[..], 3));
}

#[test]
fn a_cut_within_the_options_leaves_an_empty_payload_of_known_length() {
    let mut bytes = vec![0; 22];
    bytes[12] = 0x80;
    let segment = Segment::read(&bytes, 110).expect("a segment");
    assert_eq!((segment.payload, segment.missing), (&b""[..], 100));
}

#[test]
fn a_header_shorter_than_twenty_bytes_is_refused() {
    assert_eq!(Segment::read(&[0; 20], 0), None);
    assert_eq!(Segment::read(&[0x50; 19], 0), None);
}
