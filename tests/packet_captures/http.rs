//! HTTP/1 on the wire: framings, codings, pairing, and what is no HTTP/1.

use super::wire::*;
use lastevent::{
    capture::Limits,
    model::{End, Missing, Side},
};

/// What comes back for one request on a fresh connection.
fn answered(request: &str, response: impl AsRef<[u8]>) -> Seen {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(&mut tcp, C, request);
    wire.send(&mut tcp, S, response);
    wire.ack(&tcp, C);
    wire.read_one()
}

#[test]
fn heads_and_bodies_are_handed_over_as_sent() {
    let request = "POST /mcp?x=1 HTTP/1.1\r\nhost: h:3000\r\nMcp-Session-Id: S\r\nContent-Length: 2\r\n\r\n{}";
    let seen = answered(request, "HTTP/1.1 202 Accepted\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 0\r\n\r\n");
    assert_eq!((seen.method.as_str(), seen.url.as_str(), seen.status), ("POST", "http://h:3000/mcp?x=1", Some(202)));
    let pair = |n: &str, v: &str| (n.to_owned(), v.to_owned());
    assert_eq!(
        seen.request_headers,
        [pair("host", "h:3000"), pair("Mcp-Session-Id", "S"), pair("Content-Length", "2")]
    );
    assert_eq!(seen.response_headers, [pair("X-A", "1"), pair("x-a", "2"), pair("Content-Length", "0")]);
    assert_eq!((text(&seen.request).as_str(), seen.text().as_str(), seen.end), ("{}", "", End::Clean));
    assert!(!seen.no_headers);
}

#[test]
fn the_url_comes_from_the_target_the_host_or_the_address() {
    let url = |request: &str| answered(request, "HTTP/1.1 204 No Content\r\n\r\n").url;
    assert_eq!(url("GET http://a/b HTTP/1.1\r\nHost: h\r\n\r\n"), "http://a/b");
    assert_eq!(url("GET /b HTTP/1.0\r\n\r\n"), "http://198.51.100.2:80/b");
    assert_eq!(url("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"), "http://h/*");
}

#[test]
fn responses_without_body_end_with_their_head() {
    for (method, head) in [
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"),
        ("GET", "HTTP/1.1 204 No Content\r\n\r\n"),
        ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n"),
    ] {
        let seen = answered(&format!("{method} / HTTP/1.1\r\nHost: h\r\n\r\n"), head);
        assert_eq!((seen.text().as_str(), seen.end, seen.ended), ("", End::Clean, Some(4000)), "{method} {head}");
    }
}

#[test]
fn interim_responses_are_passed_over() {
    let request = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx";
    let seen = answered(
        request,
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    );
    assert_eq!((seen.status, seen.text().as_str(), seen.end), (Some(200), "ok", End::Clean));
}

#[test]
fn pipelined_requests_get_their_answers_in_order() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    let requests: String = (1..=3).map(|n| format!("GET /{n} HTTP/1.1\r\nHost: h\r\n\r\n")).collect();
    wire.send(&mut tcp, C, requests);
    wire.send(&mut tcp, S, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1HTTP/1.1 200 OK\r\nTransfer-En");
    wire.send(&mut tcp, S, "coding: chunked\r\n\r\n1\r\n2\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n3");
    wire.ack(&tcp, C);
    let reading = wire.read();
    let seen: Vec<_> = reading.exchanges.iter().map(|e| (e.url.as_str(), e.text(), e.ended)).collect();
    let expected = [
        ("http://h/1", "1".to_owned(), Some(4000)),
        ("http://h/2", "2".into(), Some(5000)),
        ("http://h/3", "3".into(), Some(5000)),
    ];
    assert_eq!(seen, expected);
    assert!(reading.exchanges.iter().all(|e| e.at.frame == Some(4) && e.acknowledged == Some(1)));
}

#[test]
fn a_response_may_come_before_its_request_is_whole() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(&mut tcp, C, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab");
    wire.send(&mut tcp, S, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n");
    wire.reset(&tcp, S);
    let seen = wire.read_one();
    assert_eq!((text(&seen.request).as_str(), seen.status, seen.end), ("ab(CutOff)", Some(413), End::Clean));
}

#[test]
fn chunked_requests_with_extensions_and_trailers_are_whole() {
    let request = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\n{}\r\n0\r\nT: t\r\n\r\n";
    let seen = answered(request, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(text(&seen.request), "{}");
}

#[test]
fn a_broken_chunk_keeps_what_came_before_it() {
    let seen = answered(
        "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nnonsense\r\n",
    );
    assert_eq!((seen.text().as_str(), seen.end), ("ok(Undecodable)", End::Unknown));
}

#[test]
fn malformed_heads_are_read_as_far_as_they_go() {
    let seen = answered("GET /a b HTTP/1.1\nHost : h\n\n", "HTTP/1.1 200\nBad Header\nContent-Length : 2\n\nok");
    assert_eq!((seen.url.as_str(), seen.status, seen.text().as_str()), ("http://h/a", Some(200), "ok"));
}

/// `id: 1\ndata: {"a":1}\n\n`, then `id: 2\ndata: {"a":1,"b":2}\n\n`, each flushed (zlib 1.2, level 6).
const GZIP: [&str; 2] = [
    "1f8b0800000000000003ca4cb15230e44a492c49b452a8564a54b232ace5e202000000ffff",
    "ca040a1aa108ea282529591901a500000000ffff",
];

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("a hex vector")).collect()
}

#[test]
fn compressed_events_keep_the_time_of_the_packet_that_completed_them() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(&mut tcp, C, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    wire.send(&mut tcp, S, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Type: text/event-stream\r\n\r\n");
    wire.now = START + 10_000;
    wire.send(&mut tcp, S, unhex(GZIP[0]));
    wire.now = START + 20_000;
    let (early, late) = GZIP[1].split_at(10);
    wire.send(&mut tcp, S, unhex(early));
    wire.send(&mut tcp, S, unhex(late));
    wire.fin(&mut tcp, S);
    let seen = wire.read_one();
    assert_eq!(seen.text(), "id: 1\ndata: {\"a\":1}\n\nid: 2\ndata: {\"a\":1,\"b\":2}\n\n");
    assert_eq!(seen.marks.first(), Some(&(21, 10_000)));
    assert_eq!(seen.marks.last(), Some(&(48, 21_000)));
    assert_eq!((seen.end, seen.ended), (End::Unknown, Some(22_000)));
}

#[test]
fn a_coding_that_cannot_be_undone_is_no_empty_body() {
    let ask = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    let coded =
        |coding: &str| format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: 5\r\n\r\nplain");
    for coding in ["compress", "gzip", "zstd", "br, unknown"] {
        let seen = answered(ask, coded(coding));
        assert_eq!((seen.text().as_str(), seen.end), ("(Undecodable)", End::Clean), "{coding}");
    }
    assert_eq!(answered(ask, coded("identity")).text(), "plain");
}

#[test]
fn a_body_beyond_the_limit_is_cut_with_a_caveat() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(&mut tcp, C, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    wire.send(&mut tcp, S, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n0123456789");
    wire.ack(&tcp, C);
    let limits = Limits { body: 4, ..Limits::default() };
    let reading = read(&wire.file(101, &[]), limits).expect("a capture");
    assert_eq!(reading.exchanges[0].response, lastevent::capture::RawBody::Cut(b"0123".into(), Missing::SizeLimit));
    assert_eq!(reading.exchanges[0].end, End::Clean);
    assert_eq!(reading.caveats(), [("limit-reached", 1)]);
}

#[test]
fn an_upgrade_ends_http_on_the_connection() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(&mut tcp, C, "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    wire.send(&mut tcp, S, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x01\x02");
    wire.send(&mut tcp, C, "GET /not-http HTTP/1.1\r\n\r\n");
    let seen = wire.read_one();
    assert_eq!((seen.status, seen.text().as_str(), seen.end), (Some(101), "", End::Clean));
}

#[test]
fn what_goes_through_a_tunnel_is_looked_at_anew() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(&mut tcp, C, "CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\n");
    wire.send(&mut tcp, S, "HTTP/1.1 200 Connection established\r\n\r\n");
    wire.send(&mut tcp, C, b"\x16\x03\x01\x00\x05hello");
    let reading = wire.read();
    assert_eq!(reading.exchanges[0].url, "http://example.test:443");
    assert_eq!(reading.exchanges[0].end, End::Clean);
    assert_eq!(reading.caveats(), [("tls-opaque", 1)]);
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(&mut tcp, C, "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n");
    wire.send(&mut tcp, S, "HTTP/1.1 200 OK\r\n\r\n");
    wire.send(&mut tcp, C, "GET /in HTTP/1.1\r\nHost: a\r\n\r\n");
    wire.send(&mut tcp, S, "HTTP/1.1 204 No Content\r\n\r\n");
    wire.ack(&tcp, C);
    let reading = wire.read();
    assert_eq!(reading.exchanges.iter().map(|e| e.url.as_str()).collect::<Vec<_>>(), ["http://a:80", "http://a/in"]);
}

#[test]
fn encrypted_connections_are_counted_and_named_by_port() {
    let mut wire = Wire::new();
    for port in [40_000, 40_001] {
        let mut tcp = wire.open(port);
        wire.send(&mut tcp, C, b"\x16\x03\x01\x02\x00\x01");
        wire.send(&mut tcp, S, b"\x16\x03\x03\x00\x7a\x02");
    }
    let quic = [&[0xc0, 0x01, 0x01, 0xbb, 4, 190, 0, 0, 0xc3, 0, 0, 0, 1][..], &[0; 1200]].concat();
    wire.packet(ipv4(C, 17, 0, &quic));
    wire.packet(ipv4(C, 17, 0, &quic));
    let reading = wire.read();
    assert!(reading.exchanges.is_empty());
    assert_eq!(reading.caveats(), [("tls-opaque", 3)]);
    let message = &reading.account.caveats["tls-opaque"].message;
    assert!(message.starts_with("2 TLS connections (port 80) and 1 QUIC connection (port 443)"), "{message}");
}

#[test]
fn an_answer_cut_off_within_its_head_keeps_what_is_known() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(&mut tcp, C, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    wire.send(&mut tcp, S, "HTTP/1.1 502 Bad Gateway\r\nServ");
    wire.reset(&tcp, S);
    let seen = wire.read_one();
    assert_eq!((seen.status, seen.text().as_str()), (Some(502), "(CutOff)"));
    assert_eq!((seen.end, seen.no_headers), (End::Abrupt(Side::Server), true));
}
