use super::*;
use crate::{
    capture::{RawBody, header, specimen},
    model::{End, Missing, Side, Time},
    wire::sse::Blocks,
};
use proptest::prelude::*;
use serde_json::Value as Json;

fn read(format: Format, bytes: &[u8]) -> Vec<RawExchange<'static>> {
    let outcome = specimen::read(&move |c, i, f, s| exchanges(c, format, i, f, s), bytes);
    assert!(outcome.result.is_ok());
    outcome.exchanges
}

fn event_ids(body: &RawBody<'_>) -> Vec<String> {
    Blocks::new(body.bytes()).filter_map(|b| Some(String::from_utf8_lossy(b.id?).into_owned())).collect()
}

fn at(text: &str) -> Option<Time> {
    Some(Time(text.parse::<jiff::Timestamp>().expect("a time").as_microsecond()))
}

const HEAD: &str = "HTTP/1.1 200 OK\r\nDate: Mon, 30 Nov 2026 19:43:47 GMT\r\ncontent-type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

#[test]
fn verbose_output_says_what_the_server_logged() {
    let found = read(Format::CurlVerbose, &specimen::testdata("curl/verbose.txt"));
    let truth: Json = serde_json::from_slice(&specimen::testdata("curl/verbose.truth.json")).expect("JSON");
    let said = truth["exchanges"].as_array().expect("exchanges");
    assert_eq!(found.len(), said.len());
    for (raw, truth) in found.iter().zip(said) {
        let n = &truth["n"];
        assert_eq!(raw.method, truth["http"].as_str().expect("a method"), "{n}");
        assert_eq!(raw.status.map(u64::from), truth["status"].as_u64(), "{n}");
        assert_eq!(header(&raw.request_headers, "mcp-session-id"), truth["session"].as_str(), "{n}");
        assert_eq!(header(&raw.request_headers, "last-event-id"), truth["last_event_id"].as_str(), "{n}");
        let sent = truth["sent"].as_array().expect("sent").iter().filter_map(|s| s["id"].as_str());
        assert_eq!(event_ids(&raw.response_body), sent.collect::<Vec<_>>(), "{n}");
        let left = truth["ended"] == "client_gone";
        assert_eq!(raw.end, if left { End::Abrupt(Side::Client) } else { End::Clean }, "{n}");
        assert_eq!(matches!(raw.response_body, RawBody::Cut(_, Missing::CutOff)), left, "{n}");
        assert_eq!(raw.url, "http://127.0.0.1:20351/mcp");
        assert!(raw.head.is_some() && raw.coarse_times && raw.sent.is_none());
        // The command line above the run has the body, of the length that the head announces.
        let rpc = truth["rpc"].as_array().expect("rpc");
        let posted: Option<Json> = serde_json::from_slice(raw.request_body.bytes()).ok();
        assert_eq!(posted.as_ref().map(|p| &p["method"]), rpc.first().map(|r| &r["method"]), "{n}");
    }
    assert_eq!(found[1].response_body, RawBody::EMPTY);
    assert!(found[10].response_body.bytes().ends_with(b"}"));
}

#[test]
fn without_a_command_line_the_request_body_is_not_captured() {
    let text = "> POST /mcp HTTP/1.1\r\n> Host: h:1\r\n> Content-Length: 54\r\n> \r\n} [54 bytes data]\n\
                < HTTP/1.1 202 Accepted\r\n< Transfer-Encoding: chunked\r\n< \r\n{ [5 bytes data]\n\
                * Connection #0 to host h left intact\n";
    let found = read(Format::CurlVerbose, text.as_bytes());
    assert_eq!(found[0].request_body, RawBody::NotCaptured(Missing::NotRecorded));
    assert_eq!((&found[0].response_body, found[0].end), (&RawBody::EMPTY, End::Clean));
    let other = format!("$ curl -v http://h:1/mcp -d '{{}}'\n{text}");
    let found = read(Format::CurlVerbose, other.as_bytes());
    assert_eq!(found[0].request_body, RawBody::NotCaptured(Missing::NotRecorded), "its length differs");
}

#[test]
fn a_body_that_went_elsewhere_is_not_an_empty_one() {
    let text = "> GET /mcp HTTP/1.1\r\n> Host: h\r\n> \r\n< HTTP/1.1 200 OK\r\n< Transfer-Encoding: chunked\r\n< \r\n\
                { [300 bytes data]\n* Connection #0 to host h left intact\n";
    assert_eq!(read(Format::CurlVerbose, text.as_bytes())[0].response_body, RawBody::NotCaptured(Missing::NotRecorded));
}

#[test]
fn how_a_transfer_ended_is_what_curl_says() {
    let head = "> GET /mcp HTTP/1.1\r\n> Host: h\r\n> \r\n< HTTP/1.1 200 OK\r\n< Transfer-Encoding: chunked\r\n< \r\n";
    let one = |text: &str| read(Format::CurlVerbose, format!("{head}{text}").as_bytes()).remove(0);
    let silent = one("* Operation timed out after 3000 milliseconds with 0 bytes received\n* Closing connection 0\n");
    assert_eq!(silent.end, End::Abrupt(Side::Client));
    assert_eq!(silent.response_body, RawBody::Cut(b"".into(), Missing::CutOff));
    let cut = one("data: x\n\n* transfer closed with outstanding read data remaining\n* Closing connection 0\n");
    assert_eq!(cut.end, End::Abrupt(Side::Server));
    assert_eq!(cut.response_body, RawBody::Cut(b"data: x\n\n".into(), Missing::CutOff));
    let glued = one("{\"jsonrpc\":\"2.0\"}* Connection #0 to host h left intact\n");
    assert_eq!((glued.end, glued.response_body.bytes()), (End::Clean, &b"{\"jsonrpc\":\"2.0\"}"[..]));
    let open = one("data: x\n\n");
    assert_eq!((open.end, open.response_body), (End::Open, RawBody::Cut(b"data: x\n\n".into(), Missing::CaptureEnd)));
    let refused = "* connect to ::1 port 1 failed: Connection refused\n*   Trying 127.0.0.1:1...\n> POST /mcp HTTP/1.1\r\n\
                   > Host: h\r\n> \r\n* Empty reply from server\n* Closing connection 0\n";
    let empty = read(Format::CurlVerbose, refused.as_bytes()).remove(0);
    assert_eq!((empty.status, empty.end), (None, End::Abrupt(Side::Server)));
    assert_eq!(empty.response_body, RawBody::NotCaptured(Missing::Failed));
}

#[test]
fn the_next_head_of_include_follows_a_body_without_line_end() {
    let text = format!(
        "{HEAD}id: 1\ndata: {{}}\n\nHTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{{}}HTTP/1.1 202 Accepted\r\n\r\n"
    );
    let found = read(Format::CurlInclude, text.as_bytes());
    assert_eq!(found.iter().map(|e| e.status).collect::<Vec<_>>(), [Some(200), Some(404), Some(202)]);
    assert_eq!(found[0].response_body, RawBody::Whole(b"id: 1\ndata: {}\n\n".into()));
    assert_eq!(found[1].response_body, RawBody::Whole(b"{}".into()));
    assert_eq!((found[0].method.as_ref(), found[0].end), ("MESSAGE", End::Unknown));
    assert_eq!((found[0].head, found[0].coarse_times), (at("2026-11-30T19:43:47Z"), true));
}

#[test]
fn a_command_line_above_include_output_is_its_request() {
    let text = format!(
        "$ curl -i -m 2 -H 'Last-Event-ID: 7' http://h:1/mcp\n{HEAD}curl: (28) Operation timed out after 2000 milliseconds\n$ ls\n"
    );
    let found = read(Format::CurlInclude, text.as_bytes());
    assert_eq!((found[0].method.as_ref(), found[0].url.as_ref()), ("GET", "http://h:1/mcp"));
    assert_eq!(header(&found[0].request_headers, "last-event-id"), Some("7"));
    assert_eq!(found[0].end, End::Abrupt(Side::Client));
    assert_eq!(found[0].response_body, RawBody::Cut(b"".into(), Missing::CutOff));
}

#[test]
fn an_endless_stream_without_a_byte_is_not_called_empty() {
    let found = read(Format::CurlInclude, HEAD.as_bytes());
    assert_eq!(found[0].response_body, RawBody::Cut(b"".into(), Missing::CaptureEnd));
}

/// Bytes as `--trace` (hex) or `--trace-ascii` prints them.
fn dump(bytes: &[u8], ascii: bool) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let printable = |b: u8| if (b' '..0x7f).contains(&b) { char::from(b) } else { '.' };
    let mut at = 0;
    while at < bytes.len() {
        let _ = write!(out, "{at:04x}: ");
        if ascii {
            let rest = &bytes[at..bytes.len().min(at + 64)];
            let crlf = bytes[at..].windows(2).position(|w| w == b"\r\n").filter(|p| *p <= 64);
            let length = crlf.unwrap_or(rest.len());
            out.extend(bytes[at..at + length].iter().map(|b| printable(*b)));
            at += length + if crlf.is_some() { 2 } else { 0 };
        } else {
            let row = &bytes[at..bytes.len().min(at + 16)];
            let hex: String = row.iter().map(|b| format!("{b:02x} ")).collect();
            let _ = write!(out, "{hex:48}");
            out.extend(row.iter().map(|b| printable(*b)));
            at += row.len();
        }
        out.push('\n');
    }
    out
}

/// A trace of one call, its body in pieces.
fn trace(times: &[&str], ascii: bool, pieces: &[&[u8]], end: &str) -> String {
    let mut times = times.iter().map(|t| format!("{t} "));
    let mut time = move || times.next().unwrap_or_default();
    let mut out = String::new();
    let mut record = |mark: &str, bytes: &[u8]| {
        out.push_str(&format!("{}{mark}, {} bytes ({:#x})\n{}", time(), bytes.len(), bytes.len(), dump(bytes, ascii)));
    };
    record(
        "=> Send header",
        b"POST /mcp HTTP/1.1\r\nHost: h:1\r\nUser-Agent: curl/7.88.1\r\nContent-Length: 5\r\n\r\n",
    );
    record("=> Send data", b"{\"\xe2\":");
    for line in HEAD.split_inclusive("\r\n") {
        record("<= Recv header", line.as_bytes());
    }
    pieces.iter().for_each(|p| record("<= Recv data", p));
    out.push_str(&format!("{}== Info: {end}\n", time()));
    out
}

#[test]
fn a_hex_trace_gives_bytes_times_and_end() {
    let times = [
        "23:59:46.900000",
        "23:59:46.910000",
        "23:59:47.100000",
        "23:59:47.100001",
        "23:59:47.100002",
        "23:59:47.100003",
        "23:59:47.100004",
        "23:59:47.200000",
        "00:00:02.500000",
        "00:00:02.500001",
    ];
    let text = trace(
        &times,
        false,
        &[b"d\r\nid: 1\ndata: \n\r\n", b"1\r\n\n\r\n0\r\n\r\n"],
        "Connection #0 to host h left intact",
    );
    let found = read(Format::CurlTrace, text.as_bytes()).remove(0);
    assert_eq!(found.response_body, RawBody::Whole(b"id: 1\ndata: \n\n".into()));
    assert_eq!(found.request_body, RawBody::Whole(b"{\"\xe2\":".into()));
    assert_eq!(found.end, End::Clean);
    // The trace's zone is four and a quarter hours ahead of the header's.
    assert_eq!(found.sent, at("2026-11-30T19:44:46.9Z"));
    assert_eq!(
        found.marks,
        [(13, at("2026-11-30T19:44:47.2Z").expect("a time")), (14, at("2026-11-30T19:45:02.5Z").expect("a time"))]
    );
    assert_eq!(found.ended, at("2026-11-30T19:45:02.500001Z"));
    assert!(!found.rebuilt && !found.coarse_times);
}

#[test]
fn an_ascii_trace_gets_its_line_feeds_back_and_says_that_it_guessed() {
    let body = b"event: message\nid: a.b\ndata: {\"text\":\"x.data: y. {\"}\n\nid: 2\ndata: \n\n: ping\n\n";
    let chunk = [format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n"].concat();
    let text = trace(&[], true, &[&chunk], "transfer closed with outstanding read data remaining");
    let found = read(Format::CurlTraceAscii, text.as_bytes()).remove(0);
    assert_eq!(String::from_utf8_lossy(found.response_body.bytes()), String::from_utf8_lossy(body));
    assert_eq!(found.request_body, RawBody::Whole(b"{\".\":".into()));
    assert_eq!(found.end, End::Abrupt(Side::Server));
    assert!(found.rebuilt && found.marks.is_empty() && found.head == at("2026-11-30T19:43:47Z") && found.coarse_times);
}

#[test]
fn transfers_of_one_trace_are_told_apart_by_their_ids() {
    let request = "GET /mcp HTTP/1.1\r\nHost: h\r\n\r\n";
    let send = |ids: &str| {
        format!("[{ids}] => Send header, {} bytes (0x1f)\n{}", request.len(), dump(request.as_bytes(), false))
    };
    let recv = |ids: &str, head: &str| {
        format!("[{ids}] <= Recv header, {} bytes (0x1f)\n{}", head.len(), dump(head.as_bytes(), false))
    };
    let text = [
        send("0-0"),
        send("1-1"),
        recv("1-1", "HTTP/1.1 404 Not Found\r\n\r\n"),
        recv("0-0", "HTTP/1.1 200 OK\r\n\r\n"),
    ]
    .concat();
    let found = read(Format::CurlTrace, text.as_bytes());
    assert_eq!(found.iter().map(|e| e.status).collect::<Vec<_>>(), [Some(200), Some(404)]);
}

#[test]
fn curl_texts_of_others_are_read_to_the_last_event() {
    for (name, bytes) in specimen::corpus("curl") {
        let format = crate::capture::sniff::sniff(&bytes).expect("a format");
        let found = read(format, &bytes);
        let counts: Vec<usize> = found.iter().map(|e| Blocks::new(e.response_body.bytes()).count()).collect();
        let expected: &[usize] = match name.trim_start_matches("lab__mcp-capture__") {
            "curl_i_two_responses.txt" => &[2, 2],
            "curl_v_long_merged.txt" | "curl_trace_ascii_time.txt" => &[5],
            "curl_i_init.txt" | "curl_trace_hex_time.txt" => &[2],
            "curl_i_python_server_init.txt" => &[1],
            _ => &[0],
        };
        assert_eq!(counts, expected, "{name}");
    }
}

proptest! {
    #[test]
    fn damaged_curl_texts_never_panic(
        cut in any::<usize>(),
        flips in prop::collection::vec(any::<(usize, u8)>(), 0..8),
        format in prop::sample::select(vec![Format::CurlInclude, Format::CurlVerbose, Format::CurlTrace, Format::CurlTraceAscii]),
    ) {
        let ascii = format == Format::CurlTraceAscii;
        let bytes = match format {
            Format::CurlVerbose => specimen::testdata("curl/verbose.txt"),
            Format::CurlInclude => [HEAD.as_bytes(), b"data: x\n\n$ curl -i 'http://h/' -d \"x\"\n", HEAD.as_bytes()].concat(),
            _ => trace(&["23:59:46.900000"; 12], ascii, &[b"3\r\nabc\r\n", b"0\r\n\r\n"], "Closing connection").into_bytes(),
        };
        specimen::survives(&move |c, i, f, s| exchanges(c, format, i, f, s), &bytes, cut, &flips);
    }

    #[test]
    fn no_mixture_of_lines_makes_it_panic(
        parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..24),
        format in prop::sample::select(vec![Format::CurlInclude, Format::CurlVerbose, Format::CurlTrace, Format::CurlTraceAscii]),
    ) {
        let text = parts.concat();
        specimen::survives(&move |c, i, f, s| exchanges(c, format, i, f, s), text.as_bytes(), text.len(), &[]);
    }
}

/// What the texts of curl are made of, and pieces of it.
const PARTS: [&str; 44] = [
    "\n",
    "\r\n",
    "\r",
    " ",
    "$ curl -v http://h/",
    "curl 'http://h/' -d \"x\"",
    " -d '",
    "\\",
    "> GET /mcp HTTP/1.1\r\n",
    "> Host: h\r\n",
    "> \r\n",
    ">",
    "< HTTP/1.1 200 OK\r\n",
    "< HTTP/1.1 100 Continue\r\n",
    "< content-length: 3\r\n",
    "< transfer-encoding: chunked\r\n",
    "< \r\n",
    "HTTP/1.1 200 OK\r\n",
    "content-length: 99999999999999999999\r\n",
    "content-encoding: gzip\r\n",
    "date: Mon, 30 Nov 2026 19:43:47 GMT\r\n",
    "* Closing connection 0",
    "* Connection #0 to host h left intact",
    "* Operation timed out after 3000 milliseconds with 0 bytes received",
    "* transfer closed with",
    "curl: (28) Operation timed out",
    "{ [5 bytes data]",
    " bytes data]",
    "9 bytes data]",
    "data: {\"a\":1}",
    "id: 1",
    "5\r\nhello\r\n",
    "0\r\n\r\n",
    "\r100   216    0    49  100   167    243    829 --:--:-- --:--:-- --:--:--  1069",
    "23:59:59.999999 ",
    "00:00:00.000000 ",
    "[0-0] ",
    "=> Send header, 24 bytes (0x18)\n",
    "<= Recv header, 2 bytes (0x2)\n",
    "<= Recv data, 4 bytes (0x4)\n",
    "== Info: Closing connection\n",
    "0000: 48 54 54 50 HTTP\n",
    "0000: HTTP/1.1 200 OK\n",
    "0010: GET / HTTP/1.1\n",
];
