//! HTTP/2 in clear: streams are exchanges, as far as the capture lets them be read.

use super::wire::*;
use lastevent::model::{End, Side};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// Fields as literals that are entered into the dynamic table.
fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0x40);
        for text in [name, value] {
            block.push(text.len() as u8);
            block.extend(text.as_bytes());
        }
    }
    block
}

/// `:method: POST` from the static table, then the rest of a request for this path.
fn request(path: &str) -> Vec<u8> {
    [&[0x83, 0x86][..], &block(&[(":authority", "h:80"), (":path", path), ("mcp-session-id", "S")])].concat()
}

/// `:status: 200` from the static table, and a content type.
fn response() -> Vec<u8> {
    [&[0x88][..], &block(&[("content-type", "text/event-stream")])].concat()
}

/// A connection with preface and SETTINGS, in packets 1 to 5.
fn connected() -> (Wire, Tcp) {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(&mut tcp, C, [PREFACE, &frame(4, 0, 0, "")].concat());
    wire.send(&mut tcp, S, frame(4, 0, 0, ""));
    (wire, tcp)
}

/// Two streams at the same time, as a pcap file.
pub fn sample() -> Vec<u8> {
    let (mut wire, mut tcp) = connected();
    for stream in [1, 3] {
        wire.send(&mut tcp, C, frame(1, END_HEADERS | END_STREAM, stream, request("/mcp")));
        wire.send(
            &mut tcp,
            S,
            [frame(1, END_HEADERS, stream, response()), frame(0, 0, stream, "data: 1\n\n")].concat(),
        );
    }
    wire.send(&mut tcp, S, [frame(0, END_STREAM, 1, "data: 2\n\n"), frame(3, 0, 3, [0; 4])].concat());
    wire.fin(&mut tcp, S);
    wire.fin(&mut tcp, C);
    wire.file(101, &[])
}

#[test]
fn streams_that_run_at_the_same_time_are_exchanges_with_times_of_their_own() {
    let (mut wire, mut tcp) = connected();
    let one = [frame(1, END_HEADERS, 1, request("/one")), frame(0, END_STREAM, 1, "{}")].concat();
    wire.send(&mut tcp, C, one);
    wire.send(&mut tcp, C, frame(1, END_HEADERS | END_STREAM, 3, request("/three")));
    wire.now = START + 10_000;
    wire.send(&mut tcp, S, [frame(1, END_HEADERS, 1, response()), frame(0, 0, 1, "data: 1\n\n")].concat());
    wire.now = START + 20_000;
    wire.send(&mut tcp, S, [frame(1, END_HEADERS, 3, [0x88, 0xbe]), frame(0, END_STREAM, 3, "data: 3\n\n")].concat());
    wire.now = START + 30_000;
    wire.send(&mut tcp, S, frame(0, END_STREAM, 1, "data: 2\n\n"));
    wire.ack(&tcp, C);
    let reading = wire.read();
    let [one, three] = &reading.exchanges[..] else { panic!("{reading:?}") };
    assert_eq!((one.method.as_str(), one.url.as_str(), text(&one.request).as_str()), ("POST", "http://h:80/one", "{}"));
    assert_eq!((one.status, one.text().as_str(), one.end), (Some(200), "data: 1\n\ndata: 2\n\n", End::Clean));
    assert_eq!((one.sent, one.head, one.ended), (Some(5000), Some(10_000), Some(30_000)));
    assert_eq!((&one.marks[..], one.acknowledged), (&[(9, 10_000), (18, 30_000)][..], Some(18)));
    assert_eq!(one.request_headers[1], ("mcp-session-id".to_owned(), "S".to_owned()));
    assert_eq!(
        (three.url.as_str(), three.text().as_str(), three.ended),
        ("http://h:80/three", "data: 3\n\n", Some(20_000))
    );
    assert_eq!(three.response_headers, [("content-type".to_owned(), "text/event-stream".to_owned())]);
    assert_eq!((one.at.entry, three.at.entry), (0, 1));
    assert_eq!(reading.caveats(), []);
}

#[test]
fn padding_priority_continuation_interim_heads_and_trailers_are_no_body() {
    let (mut wire, mut tcp) = connected();
    let fields = request("/mcp");
    let (first, rest) = fields.split_at(5);
    let head = [&[2, 0, 0, 0, 0, 16][..], first, &[0, 0]].concat();
    let head = [frame(1, END_STREAM | 8 | 0x20, 1, head), frame(9, END_HEADERS, 1, rest)].concat();
    let (early, late) = head.split_at(7);
    wire.send(&mut tcp, C, early);
    wire.send(&mut tcp, C, late);
    let mut answer = frame(1, END_HEADERS, 1, block(&[(":status", "103")]));
    answer.extend(frame(1, END_HEADERS, 1, response()));
    answer.extend(frame(0, 8, 1, b"\x03body\0\0\0"));
    answer.extend(frame(8, 0, 1, [0, 0, 1, 0]));
    answer.extend(frame(1, END_HEADERS | END_STREAM, 1, block(&[("x-trailer", "t")])));
    for piece in answer.chunks(11) {
        wire.send(&mut tcp, S, piece);
    }
    wire.ack(&tcp, C);
    let seen = wire.read_one();
    assert_eq!((seen.url.as_str(), seen.status, seen.text().as_str()), ("http://h:80/mcp", Some(200), "body"));
    assert_eq!((seen.end, seen.response_headers.len()), (End::Clean, 1));
}

#[test]
fn a_stream_that_is_dropped_tells_by_whom() {
    for (side, end) in [(C, End::Abrupt(Side::Client)), (S, End::Abrupt(Side::Server))] {
        let (mut wire, mut tcp) = connected();
        wire.send(&mut tcp, C, frame(1, END_HEADERS | END_STREAM, 1, request("/mcp")));
        wire.send(&mut tcp, S, [frame(1, END_HEADERS, 1, response()), frame(0, 0, 1, "data: 1\n\n")].concat());
        wire.now = START + 50_000;
        wire.send(&mut tcp, side, frame(3, 0, 1, [0, 0, 0, 8]));
        wire.send(&mut tcp, S, frame(0, 0, 1, "in flight"));
        let reading = wire.read();
        let seen = &reading.exchanges[0];
        assert_eq!((seen.text().as_str(), seen.end, seen.ended), ("data: 1\n\n(CutOff)", end, Some(50_000)));
        assert_eq!((reading.exchanges.len(), reading.caveats()), (1, vec![]));
    }
}

#[test]
fn goaway_refuses_the_streams_behind_its_last_one_and_no_others() {
    let (mut wire, mut tcp) = connected();
    for stream in [1, 3] {
        wire.send(&mut tcp, C, frame(1, END_HEADERS | END_STREAM, stream, request("/mcp")));
    }
    wire.send(&mut tcp, S, frame(7, 0, 0, [0, 0, 0, 1, 0, 0, 0, 0]));
    wire.send(&mut tcp, S, frame(1, END_HEADERS | END_STREAM, 1, response()));
    wire.ack(&tcp, C);
    let mut ends: Vec<_> = wire.read().exchanges.iter().map(|e| (e.at.entry, e.status, e.end)).collect();
    ends.sort_by_key(|e| e.0);
    assert_eq!(ends, [(0, Some(200), End::Clean), (1, None, End::Abrupt(Side::Server))]);
}

#[test]
fn streams_that_are_open_at_the_end_are_open() {
    let (mut wire, mut tcp) = connected();
    wire.send(&mut tcp, C, frame(1, END_HEADERS | END_STREAM, 1, request("/mcp")));
    wire.send(&mut tcp, S, frame(1, END_HEADERS, 1, response()));
    let seen = wire.read_one();
    assert_eq!((seen.text().as_str(), seen.end, seen.ended), ("(CaptureEnd)", End::Open, None));
    wire.reset(&tcp, S);
    let seen = wire.read_one();
    assert_eq!((seen.text().as_str(), seen.end), ("(CutOff)", End::Abrupt(Side::Server)));
}

#[test]
fn an_upgrade_from_http1_is_answered_on_stream_1() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(
        &mut tcp,
        C,
        "GET /up HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: \r\n\r\n",
    );
    let switch = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";
    wire.send(&mut tcp, S, [&switch[..], &frame(4, 0, 0, ""), &frame(1, END_HEADERS, 1, response())].concat());
    wire.send(&mut tcp, S, frame(0, END_STREAM, 1, "data: 1\n\n"));
    wire.send(&mut tcp, C, [PREFACE, &frame(4, 0, 0, ""), &frame(1, 5, 3, request("/next"))].concat());
    wire.send(&mut tcp, S, frame(1, END_HEADERS | END_STREAM, 3, [0x89]));
    wire.ack(&tcp, C);
    let reading = wire.read();
    let seen: Vec<_> = reading.exchanges.iter().map(|e| (e.url.as_str(), e.status, e.text(), e.end)).collect();
    let expected = [
        ("http://h/up", Some(200), "data: 1\n\n".to_owned(), End::Clean),
        ("http://h:80/next", Some(204), String::new(), End::Clean),
    ];
    assert_eq!(seen, expected);
    assert_eq!(reading.caveats(), []);
}

#[test]
fn a_hole_within_a_body_leaves_the_other_streams_whole() {
    let (mut wire, mut tcp) = connected();
    for (stream, path) in [(1, "/one"), (3, "/three")] {
        wire.send(&mut tcp, C, frame(1, END_HEADERS | END_STREAM, stream, request(path)));
        wire.send(&mut tcp, S, frame(1, END_HEADERS, stream, [0x88]));
    }
    let data = frame(0, END_STREAM, 1, "0123456789");
    wire.send(&mut tcp, S, &data[..12]);
    tcp.next[S] += 4;
    wire.send(&mut tcp, S, &data[16..]);
    wire.send(&mut tcp, S, frame(0, END_STREAM, 3, "whole"));
    wire.ack(&tcp, C);
    let reading = wire.read();
    let seen: Vec<_> = reading.exchanges.iter().map(|e| (e.text(), e.end)).collect();
    assert_eq!(seen, [("012(Hole)".to_owned(), End::Clean), ("whole".into(), End::Clean)]);
    assert_eq!(reading.caveats(), [("tcp-hole", 1)]);
}

#[test]
fn a_hole_over_frames_ends_what_is_known_and_later_streams_are_read_again() {
    let (mut wire, mut tcp) = connected();
    wire.send(&mut tcp, C, frame(1, END_HEADERS | END_STREAM, 1, request("/one")));
    wire.send(&mut tcp, S, [frame(1, END_HEADERS, 1, [0x88]), frame(0, 0, 1, "begin")].concat());
    tcp.next[S] += 100;
    wire.send(&mut tcp, S, frame(0, END_STREAM, 1, "lost end"));
    wire.send(&mut tcp, C, frame(1, END_HEADERS | END_STREAM, 3, request("/three")));
    wire.send(&mut tcp, S, [frame(1, END_HEADERS, 3, [0x88]), frame(0, END_STREAM, 3, "read")].concat());
    wire.ack(&tcp, C);
    let reading = wire.read();
    let mut seen: Vec<_> = reading.exchanges.iter().map(|e| (e.url.as_str(), e.text(), e.end)).collect();
    seen.sort_by_key(|e| e.0);
    let expected =
        [("http://h:80/one", "begin(Hole)".to_owned(), End::Unknown), ("http://h:80/three", "read".into(), End::Clean)];
    assert_eq!(seen, expected);
    assert_eq!(reading.caveats(), [("h2-unsupported", 1), ("tcp-hole", 1)]);
}

#[test]
fn a_capture_from_the_middle_gives_what_can_be_decoded_and_says_that_it_is_partial() {
    let (mut wire, mut tcp) = connected();
    let start = wire.packets.len();
    wire.send(&mut tcp, C, frame(1, END_HEADERS | END_STREAM, 7, request("/new")));
    wire.send(&mut tcp, S, [frame(1, END_HEADERS, 7, [0x88, 0xc0]), frame(0, END_STREAM, 7, "answer")].concat());
    wire.send(&mut tcp, C, frame(1, END_HEADERS | END_STREAM, 9, [0x83, 0x86, 0xc5, 0xc6]));
    wire.send(&mut tcp, S, [frame(1, END_HEADERS, 9, [0x88]), frame(0, END_STREAM, 9, "other")].concat());
    wire.ack(&tcp, C);
    wire.packets.drain(..start);
    let reading = wire.read();
    let seen: Vec<_> = reading.exchanges.iter().map(|e| (e.url.as_str(), e.text(), e.no_headers)).collect();
    let expected = [("http://h:80/new", "answer".to_owned(), true), ("http://198.51.100.2:80/", "other".into(), true)];
    assert_eq!(seen, expected);
    assert_eq!(reading.caveats(), [("h2-unsupported", 1)]);
    assert!(reading.account.caveats["h2-unsupported"].message.contains("port 80"));
}
