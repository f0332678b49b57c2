//! What happens to segments on the way: order, loss, repetition, closing.

use super::wire::*;
use lastevent::model::{End, Side};

const GET: &str = "GET /mcp HTTP/1.1\r\nHost: h\r\n\r\n";
const SSE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// A GET that is answered with the head of an event stream: packets 1 to 5 (times 0 to 4000).
fn stream() -> (Wire, Tcp) {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(&mut tcp, C, GET);
    wire.send(&mut tcp, S, SSE);
    (wire, tcp)
}

/// One chunk with one event of 9 bytes.
fn event(n: u32) -> String {
    format!("9\r\ndata: {n}\n\n\r\n")
}

#[test]
fn each_event_keeps_the_time_of_its_packet_and_the_client_proves_what_it_received() {
    let (mut wire, mut tcp) = stream();
    wire.now = START + 10_000;
    wire.send(&mut tcp, S, event(1));
    wire.now = START + 20_000;
    wire.send(&mut tcp, S, event(2));
    wire.ack(&tcp, C);
    wire.now = START + 30_000;
    wire.send(&mut tcp, S, event(3));
    let seen = wire.read_one();
    assert_eq!(seen.text(), "data: 1\n\ndata: 2\n\ndata: 3\n\n(CaptureEnd)");
    assert_eq!(seen.marks, [(9, 10_000), (18, 20_000), (27, 30_000)]);
    assert_eq!((seen.sent, seen.head, seen.ended, seen.end), (Some(3000), Some(4000), None, End::Open));
    assert_eq!(seen.acknowledged, Some(18));
    assert_eq!((seen.at.frame, seen.at.tcp_stream, seen.at.entry), (Some(4), Some(0), 0));
}

#[test]
fn an_event_that_overtook_another_is_read_when_that_one_is_there() {
    let (mut wire, tcp) = stream();
    let (first, second) = (event(1), event(2));
    let seq = tcp.next[S];
    wire.now = START + 10_000;
    wire.segment(&tcp, S, seq + first.len() as u32, ACK, second.as_bytes());
    wire.now = START + 20_000;
    wire.segment(&tcp, S, seq, ACK, first.as_bytes());
    let seen = wire.read_one();
    assert_eq!(seen.text(), "data: 1\n\ndata: 2\n\n(CaptureEnd)");
    assert_eq!(seen.marks, [(18, 20_000)]);
}

#[test]
fn a_repeated_segment_is_read_once_and_a_different_one_is_a_caveat() {
    let (mut wire, mut tcp) = stream();
    let seq = tcp.next[S];
    wire.send(&mut tcp, S, event(1));
    wire.segment(&tcp, S, seq, ACK, event(1).as_bytes());
    wire.segment(&tcp, S, seq, ACK, event(7).as_bytes());
    wire.send(&mut tcp, S, "0\r\n\r\n");
    wire.ack(&tcp, C);
    let reading = wire.read();
    assert_eq!(reading.exchanges[0].text(), "data: 1\n\n");
    assert_eq!(reading.exchanges[0].end, End::Clean);
    assert_eq!(reading.caveats(), [("conflicting-retransmission", 1)]);
    assert!(reading.account.caveats["conflicting-retransmission"].message.contains("packet 8"));
}

#[test]
fn packets_that_were_captured_twice_count_once() {
    let (mut wire, mut tcp) = stream();
    wire.send(&mut tcp, S, event(1) + "0\r\n\r\n");
    wire.ack(&tcp, C);
    wire.fin(&mut tcp, S);
    wire.fin(&mut tcp, C);
    let mut twice = Wire::new();
    for (micros, packet) in wire.packets {
        twice.packets.push((micros, packet.clone()));
        twice.packets.push((micros, packet));
    }
    let reading = twice.read();
    assert_eq!(reading.exchanges.len(), 1);
    assert_eq!(reading.exchanges[0].text(), "data: 1\n\n");
    assert_eq!(reading.caveats(), []);
}

#[test]
fn sequence_numbers_wrap_within_an_event() {
    let mut wire = Wire::new();
    let mut tcp = wire.open_at(40_000, [u32::MAX - 10, u32::MAX - SSE.len() as u32 - 4]);
    wire.send(&mut tcp, C, GET);
    wire.send(&mut tcp, S, SSE);
    wire.send(&mut tcp, S, event(1));
    wire.send(&mut tcp, S, event(2));
    wire.ack(&tcp, C);
    let seen = wire.read_one();
    assert_eq!((seen.text().as_str(), seen.acknowledged), ("data: 1\n\ndata: 2\n\n(CaptureEnd)", Some(18)));
}

#[test]
fn keep_alive_probes_leave_no_trace() {
    let (mut wire, mut tcp) = stream();
    wire.send(&mut tcp, S, event(1));
    wire.segment(&tcp, S, tcp.next[S] - 1, ACK, b"\0");
    wire.segment(&tcp, C, tcp.next[C] - 1, ACK, b"");
    wire.send(&mut tcp, S, event(2));
    let reading = wire.read();
    assert_eq!(reading.exchanges[0].text(), "data: 1\n\ndata: 2\n\n(CaptureEnd)");
    assert_eq!(reading.caveats(), []);
}

#[test]
fn nothing_is_joined_over_a_lost_packet() {
    let (mut wire, mut tcp) = stream();
    wire.send(&mut tcp, S, event(1));
    tcp.next[S] += event(2).len() as u32;
    wire.send(&mut tcp, S, event(3) + "0\r\n\r\n");
    wire.ack(&tcp, C);
    let reading = wire.read();
    let seen = &reading.exchanges[0];
    assert_eq!((seen.text().as_str(), seen.end), ("data: 1\n\n(Hole)", End::Unknown));
    assert_eq!(reading.caveats(), [("tcp-hole", 1)]);
    assert!(reading.account.caveats["tcp-hole"].message.starts_with("14 bytes before packet 7"), "{reading:?}");
}

#[test]
fn a_hole_within_a_body_of_known_length_still_shows_its_end() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(&mut tcp, C, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n01");
    tcp.next[C] += 3;
    wire.send(&mut tcp, C, "56789");
    wire.send(&mut tcp, S, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nab");
    tcp.next[S] += 2;
    wire.send(&mut tcp, S, "efHTTP/1.1 999 of the next\r\n\r\n");
    wire.ack(&tcp, C);
    let reading = wire.read();
    let seen = &reading.exchanges[0];
    assert_eq!(text(&seen.request), "01(Hole)");
    assert_eq!((seen.text().as_str(), seen.end), ("ab(Hole)", End::Clean));
}

#[test]
fn a_response_that_was_lost_is_not_given_to_the_next_request() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    let answer = |n: u32| format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{n}");
    for n in 1..=3 {
        wire.send(&mut tcp, C, format!("GET /{n} HTTP/1.1\r\nHost: h\r\n\r\n"));
        if n == 2 {
            tcp.next[S] += answer(n).len() as u32;
        } else {
            wire.send(&mut tcp, S, answer(n));
        }
        wire.ack(&tcp, C);
    }
    let reading = wire.read();
    let seen: Vec<_> = reading.exchanges.iter().map(|e| (e.url.as_str(), e.status, e.text())).collect();
    let expected = [
        ("http://h/1", Some(200), "1".to_owned()),
        ("http://h/2", None, "(Hole)".into()),
        ("http://h/3", Some(200), "3".into()),
    ];
    assert_eq!(seen, expected);
    assert_eq!(reading.exchanges[1].end, End::Unknown);
}

#[test]
fn a_request_that_was_lost_leaves_its_response_without_one() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    for n in 1..=3 {
        let request = format!("GET /{n} HTTP/1.1\r\nHost: h\r\n\r\n");
        if n == 2 {
            tcp.next[C] += request.len() as u32;
        } else {
            wire.send(&mut tcp, C, request);
        }
        wire.send(&mut tcp, S, format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{n}"));
        wire.ack(&tcp, C);
    }
    let reading = wire.read();
    let mut seen: Vec<_> = reading.exchanges.iter().map(|e| (e.method.as_str(), e.url.as_str(), e.text())).collect();
    seen.sort_by(|a, b| a.2.cmp(&b.2));
    let expected = [
        ("GET", "http://h/1", "1".to_owned()),
        ("", "http://198.51.100.2:80/", "2".into()),
        ("GET", "http://h/3", "3".into()),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_port_that_is_used_again_is_another_connection() {
    let mut wire = Wire::new();
    for n in 1..=2 {
        let mut tcp = wire.open_at(40_000, [n * 7000, n * 9000]);
        wire.send(&mut tcp, C, format!("GET /{n} HTTP/1.1\r\nHost: h\r\n\r\n"));
        wire.send(&mut tcp, S, "HTTP/1.1 204 No Content\r\n\r\n");
        wire.ack(&tcp, C);
    }
    let reading = wire.read();
    let [first, second] = &reading.exchanges[..] else { panic!("{reading:?}") };
    assert_eq!((first.at.tcp_stream, second.at.tcp_stream), (Some(0), Some(1)));
    assert_eq!(first.at.server, second.at.server);
    assert_eq!(first.at.client, second.at.client);
    assert_ne!(first.at.connection, second.at.connection);
}

#[test]
fn who_closed_in_the_middle_of_a_stream_is_told_with_the_time() {
    /// Which side closes, and whether by a reset.
    type Closes = &'static [(usize, bool)];
    let cases: [(Closes, End, Option<i64>); 5] = [
        (&[(S, false)], End::Abrupt(Side::Server), Some(10_000)),
        (&[(S, true)], End::Abrupt(Side::Server), Some(10_000)),
        (&[(C, true)], End::Abrupt(Side::Client), Some(10_000)),
        (&[(C, false), (S, false)], End::Abrupt(Side::Client), Some(10_000)),
        (&[(C, false)], End::Abrupt(Side::Client), Some(10_000)),
    ];
    for (closes, end, ended) in cases {
        let (mut wire, mut tcp) = stream();
        wire.send(&mut tcp, S, event(1));
        wire.now = START + 10_000;
        for &(side, is_reset) in closes {
            match is_reset {
                true => wire.reset(&tcp, side),
                false => wire.fin(&mut tcp, side),
            }
        }
        let seen = wire.read_one();
        assert_eq!(seen.text(), "data: 1\n\n(CutOff)", "{closes:?}");
        assert_eq!((seen.end, seen.ended), (end, ended), "{closes:?}");
    }
}

#[test]
fn a_client_that_closes_its_direction_after_asking_has_not_given_up() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(&mut tcp, C, GET);
    wire.fin(&mut tcp, C);
    wire.send(&mut tcp, S, "HTTP/1.0 200 OK\r\n\r\nuntil the end");
    wire.fin(&mut tcp, S);
    let seen = wire.read_one();
    assert_eq!((seen.text().as_str(), seen.end, seen.ended), ("until the end", End::Unknown, Some(6000)));
}

#[test]
fn a_request_without_answer_tells_whether_the_connection_ended() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(&mut tcp, C, GET);
    let seen = wire.read_one();
    assert_eq!((seen.status, seen.text().as_str(), seen.end), (None, "(CaptureEnd)", End::Open));
    wire.reset(&tcp, S);
    let seen = wire.read_one();
    assert_eq!((seen.status, seen.text().as_str(), seen.end), (None, "(Failed)", End::Abrupt(Side::Server)));
}

#[test]
fn a_capture_that_starts_in_the_middle_is_read_from_its_first_message_on() {
    let (mut wire, mut tcp) = stream();
    wire.send(&mut tcp, S, event(1));
    wire.send(&mut tcp, S, event(2) + "0\r\n\r\n");
    wire.ack(&tcp, C);
    wire.send(&mut tcp, C, "DELETE /mcp HTTP/1.1\r\nHost: h\r\n\r\n");
    wire.send(&mut tcp, S, "HTTP/1.1 204 No Content\r\n\r\n");
    wire.packets.drain(..5);
    let reading = wire.read();
    let [seen] = &reading.exchanges[..] else { panic!("{reading:?}") };
    assert_eq!((seen.method.as_str(), seen.status, seen.at.frame), ("DELETE", Some(204), Some(4)));
    assert_eq!(reading.caveats(), [("tcp-hole", 1)]);
}

#[test]
fn one_direction_alone_is_read() {
    let (mut wire, mut tcp) = stream();
    wire.send(&mut tcp, S, event(1) + "0\r\n\r\n");
    wire.ack(&tcp, C);
    wire.fin(&mut tcp, S);
    wire.fin(&mut tcp, C);
    let only = |side: [u8; 4]| {
        let mut one = wire.clone();
        one.packets.retain(|(_, packet)| packet[12..16] == side);
        one.read_one()
    };
    let requests = only(CLIENT);
    assert_eq!((requests.url.as_str(), requests.status, requests.text().as_str()), ("http://h/mcp", None, "(Failed)"));
    let responses = only(SERVER);
    assert_eq!(
        (responses.method.as_str(), responses.status, responses.text().as_str()),
        ("", Some(200), "data: 1\n\n")
    );
    assert_eq!((responses.end, responses.acknowledged), (End::Clean, None));
}

#[test]
fn a_response_that_was_captured_before_its_request_waits_for_it() {
    let (mut wire, mut tcp) = stream();
    wire.send(&mut tcp, S, event(1) + "0\r\n\r\n");
    let request = wire.packets.remove(3);
    wire.packets.push(request);
    wire.ack(&tcp, C);
    let seen = wire.read_one();
    assert_eq!((seen.method.as_str(), seen.text().as_str(), seen.end), ("GET", "data: 1\n\n", End::Clean));
}

#[test]
fn ip_fragments_are_put_together() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    let bytes = tcp_bytes(tcp.port, C, tcp.next[C], tcp.next[S], ACK, GET.as_bytes());
    let (first, second) = bytes.split_at(32);
    wire.packet(ipv4(C, 6, 4, second));
    wire.packet(ipv4(C, 6, 0x2000, first));
    tcp.next[C] += GET.len() as u32;
    wire.send(&mut tcp, S, "HTTP/1.1 204 No Content\r\n\r\n");
    let seen = wire.read_one();
    assert_eq!((seen.url.as_str(), seen.status, seen.at.frame), ("http://h/mcp", Some(204), Some(5)));
}

#[test]
fn connections_that_carry_no_http_cost_a_number_and_nothing_else() {
    let mut wire = Wire::new();
    let mut ssh = wire.open(40_000);
    wire.send(&mut ssh, S, "SSH-2.0-OpenSSH_9.6\r\n");
    wire.send(&mut ssh, C, [0xff; 900]);
    let mut tcp = wire.open(40_001);
    wire.send(&mut tcp, C, GET);
    let reading = wire.read();
    assert_eq!(reading.exchanges.len(), 1);
    assert_eq!(reading.exchanges[0].at.tcp_stream, Some(1));
    assert_eq!(reading.caveats(), []);
}
