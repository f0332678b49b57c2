use super::*;
use crate::{
    capture::{RawBody, header, specimen},
    model::{End, Missing, Time},
    wire::sse::Blocks,
};
use proptest::prelude::*;
use std::io::Read;

fn read(format: Format, bytes: &[u8]) -> specimen::Outcome {
    let mut outcome = specimen::read(&move |c, i, f, s| exchanges(c, format, i, f, s), bytes);
    outcome.exchanges.sort_by_key(|e| e.at.entry);
    outcome
}

fn recording() -> Vec<u8> {
    let packed = specimen::testdata("tshark/drop-and-resume.json.gz");
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut text).expect("unpacked");
    text
}

fn event_ids(body: &RawBody<'_>) -> Vec<String> {
    Blocks::new(body.bytes()).filter_map(|b| Some(String::from_utf8_lossy(b.id?).into_owned())).collect()
}

#[test]
fn packets_say_what_the_server_logged_as_far_as_responses_are_there() {
    let outcome = read(Format::TsharkJson, &recording());
    let truth: serde_json::Value =
        serde_json::from_slice(&specimen::testdata("flows/drop-and-resume.truth.json")).expect("JSON");
    let said = truth["exchanges"].as_array().expect("exchanges");
    assert_eq!(outcome.exchanges.len(), said.len());
    for (raw, truth) in outcome.exchanges.iter().zip(said) {
        let n = &truth["n"];
        assert_eq!(raw.method, truth["http"].as_str().expect("a method"), "{n}");
        assert_eq!(header(&raw.request_headers, "mcp-session-id"), truth["session"].as_str(), "{n}");
        assert_eq!(header(&raw.request_headers, "last-event-id"), truth["last_event_id"].as_str(), "{n}");
        assert_eq!(raw.url, "http://127.0.0.1:18206/mcp");
        let rpc = truth["rpc"].as_array().expect("rpc");
        let posted: Option<serde_json::Value> = serde_json::from_slice(raw.request_body.bytes()).ok();
        assert_eq!(posted.as_ref().map(|p| &p["method"]), rpc.first().map(|r| &r["method"]), "{n}");
        // tshark leaves a response out whose end was never seen.
        if truth["ended"] == "client_gone" {
            assert_eq!((raw.status, raw.end), (None, End::Unknown), "{n}");
            assert_eq!(raw.response_body, RawBody::NotCaptured(Missing::NotRecorded), "{n}");
            continue;
        }
        assert_eq!(raw.status.map(u64::from), truth["status"].as_u64(), "{n}");
        let sent = truth["sent"].as_array().expect("sent").iter().filter_map(|s| s["id"].as_str());
        assert_eq!(event_ids(&raw.response_body), sent.collect::<Vec<_>>(), "{n}");
        assert_eq!(raw.end, End::Clean, "{n}");
        assert!(raw.marks.is_empty());
    }
    let first = &outcome.exchanges[0];
    assert_eq!((first.at.frame, first.at.tcp_stream), (Some(13), Some(1)));
    assert_eq!(first.sent, Some(Time(1_796_067_863_288_792)));
    assert_eq!(first.ended, Some(Time(1_796_067_863_293_606)));
    assert_eq!(outcome.caveats(), [("body-not-captured", 2), ("no-or-coarse-time", 1)]);
}

#[test]
fn fields_stand_in_for_bytes_that_were_left_out() {
    let text = r#"[{"_index":"p","_source":{"layers":{"frame":{"frame.number":"4","frame.time_epoch":"2026-11-30T19:44:23.25Z"},
        "tcp":{"tcp.stream":"0"},"http":{"POST /mcp":{"http.request.method":"POST"},"http.request.line":"Host: h:1\r\n",
        "http.request.line":"Mcp-Session-Id: s\r\n","http.request.full_uri":"http://h:1/mcp","http.file_data":"7b:22:61:22:3a:31:7d"}}}},
        {"_index":"p","_source":{"layers":{"frame":{"frame.number":"5"},"tcp":{"tcp.stream":"0"},
        "http":{"HTTP/1.1 200 OK":{"http.response.code":"200"},"http.response.line":["Content-Type: text/event-stream\r\n","Transfer-Encoding: chunked\r\n"],
        "http.file_data":"data: 1\n\n"}}}}]"#;
    let outcome = read(Format::TsharkJson, text.as_bytes());
    let [raw] = outcome.exchanges.as_slice() else { panic!("one exchange") };
    assert_eq!((raw.url.as_ref(), raw.status), ("http://h:1/mcp", Some(200)));
    assert_eq!(header(&raw.request_headers, "mcp-session-id"), Some("s"));
    assert_eq!(raw.request_body, RawBody::Whole(br#"{"a":1}"#.into()));
    assert_eq!(raw.response_body, RawBody::Whole(b"data: 1\n\n".into()));
    assert_eq!(header(&raw.response_headers, "transfer-encoding"), Some("chunked"));
    assert_eq!(raw.sent, Some(Time(1_796_067_863_250_000)));
}

#[test]
fn lines_for_elasticsearch_have_other_names_for_the_same() {
    let hex = |text: &str| text.bytes().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(":");
    let packet = |payload: &str, kind: &str| {
        format!(
            "{{\"index\":{{\"_index\":\"packets\"}}}}\n{{\"timestamp\":\"1\",\"layers\":{{\"frame\":{{\"frame_frame_time_epoch\":\"1796067863.5\"}},\
             \"tcp\":{{\"tcp_tcp_stream\":\"3\",\"tcp_tcp_payload\":\"{}\"}},\"http\":{{{kind}}}}}}}\n",
            hex(payload)
        )
    };
    let text =
        packet("GET /mcp HTTP/1.1\r\nHost: h\r\nLast-Event-ID: 7\r\n\r\n", "\"http_http_request_method\":\"GET\"")
            + &packet("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}", "\"http_http_response_code\":\"404\"");
    let outcome = read(Format::TsharkEk, text.as_bytes());
    let [raw] = outcome.exchanges.as_slice() else { panic!("one exchange") };
    assert_eq!((raw.status, raw.url.as_ref(), raw.at.tcp_stream), (Some(404), "http://h/mcp", Some(3)));
    assert_eq!((&raw.response_body, raw.end), (&RawBody::Whole(b"{}".into()), End::Clean));
    assert_eq!((raw.head, raw.ended), (Some(Time(1_796_067_863_500_000)), Some(Time(1_796_067_863_500_000))));
}

#[test]
fn a_cut_file_is_read_to_the_last_whole_packet() {
    let text = recording();
    let outcome = read(Format::TsharkJson, &text[..text.len() / 2]);
    assert!(outcome.exchanges.len() >= 3 && outcome.result.is_ok());
    assert_eq!(outcome.facts.caveats["input-truncated"].count, 1);
}

#[test]
fn output_without_http_has_no_exchanges_and_one_without_packets_is_refused() {
    let text = br#"[{"_index":"p","_source":{"layers":{"frame":{"frame.number":"4"}}}}]"#;
    let outcome = read(Format::TsharkJson, text);
    assert!(outcome.result.is_ok() && outcome.exchanges.is_empty());
    assert!(matches!(read(Format::TsharkJson, br#"[{"_index":"#).result, Err(ReadError::Damaged(_))));
}

#[test]
fn output_over_captures_of_others_pairs_all_messages() {
    for (name, bytes) in specimen::corpus("tshark") {
        let format = match name.rsplit('.').next() {
            Some("ndjson") => Format::TsharkEk,
            Some("json") => Format::TsharkJson,
            _ => continue,
        };
        let outcome = read(format, &bytes);
        assert!(outcome.exchanges.len() >= 14, "{name}: {}", outcome.exchanges.len());
        assert!(outcome.exchanges.iter().all(|e| e.method != "MESSAGE"), "{name}");
        assert!(outcome.exchanges.iter().filter(|e| e.status.is_some()).count() >= 13, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn damaged_packets_never_panic(cut in any::<usize>(), flips in prop::collection::vec(any::<(usize, u8)>(), 0..8)) {
        specimen::survives(&|c, i, f, s| exchanges(c, Format::TsharkJson, i, f, s), &recording(), cut, &flips);
    }
}
