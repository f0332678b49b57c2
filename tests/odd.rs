//! Files as real tools write them and readers trip over: each `testdata/odd/*.expect.json` says in words what must come
//! of its file, and from which public reports it comes; here the words are assertions.

use assert_cmd::Command;
use base64::Engine as _;
use lastevent::{
    capture::{Context, Limits, digest::Names, sse},
    model::{Body, Content, MessageKind},
    redact::Key,
    wire::sse::Blocks,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, BufRead, Read},
    sync::atomic::AtomicU64,
};

fn output(arguments: &[&str]) -> String {
    let mut command = Command::cargo_bin("lastevent").unwrap();
    let output = command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn check(file: &str) -> Value {
    serde_json::from_str(&output(&["check", "--format", "json", "--exit-zero", &format!("testdata/{file}")])).unwrap()
}

/// `rule severity certainty request xN`, in order.
fn findings(report: &Value) -> Vec<String> {
    let line = |f: &Value| {
        let text = |name: &str| f[name].as_str().unwrap_or("-").to_owned();
        format!("{} {} {} {} x{}", text("rule"), text("severity"), text("certainty"), text("request"), f["count"])
    };
    report["findings"].as_array().unwrap().iter().map(line).collect()
}

fn caveats(report: &Value) -> BTreeMap<String, u64> {
    let all = report["caveats"].as_array().unwrap().iter();
    all.map(|c| (c["caveat"].as_str().unwrap().to_owned(), c["count"].as_u64().unwrap())).collect()
}

fn caveat(name: &str, count: u64) -> BTreeMap<String, u64> {
    BTreeMap::from([(name.to_owned(), count)])
}

/// The lines of the timeline that are events, without time and place.
fn events(file: &str) -> Vec<String> {
    let text = output(&["show", "--format", "timeline", &format!("testdata/{file}")]);
    let events = text.lines().filter(|l| l.split_whitespace().nth(1).is_some_and(|place| place.contains('.')));
    events.filter_map(|l| l.split_once("<- ").map(|(_, event)| event.to_owned())).collect()
}

#[test]
fn f01_a_stream_without_text_was_not_recorded_and_accuses_nobody() {
    let report = check("odd/F01_sse_body_absent.har");
    assert_eq!(report["summary"]["exchanges"], 6);
    // Four responses have no text; the two resumes among them carry a cursor that no recorded body can explain.
    assert_eq!(caveats(&report), caveat("body-not-captured", 4));
    assert_eq!(findings(&report), ["unknown-cursor note possible - x2"]);
}

#[test]
fn f02_a_stream_is_rebuilt_from_the_recorders_own_list_of_events() {
    let report = check("odd/F02_event_source_messages.har");
    assert_eq!(findings(&report), findings(&check("cases/B01_resume-after-terminal.har")));
    assert!(findings(&report).contains(&"resume-after-terminal error certain 2 x2".to_owned()));
    let timeline = output(&["show", "--format", "timeline", "testdata/odd/F02_event_source_messages.har"]);
    let har: Value = serde_json::from_str(include_str!("../testdata/odd/F02_event_source_messages.har")).unwrap();
    let recorded =
        har["log"]["entries"].as_array().unwrap().iter().filter_map(|e| e["_eventSourceMessages"].as_array());
    for event in recorded.flatten() {
        let micros = (event["time"].as_f64().unwrap() * 1e6).round() as i64;
        let second = (micros / 1_000_000) % 60;
        let stamp = format!(":{second:02}.{:06}Z", micros % 1_000_000);
        assert!(timeline.contains(&stamp), "{stamp} is not in\n{timeline}");
    }
}

#[test]
fn f04_base64_is_decoded_whether_or_not_it_is_declared() {
    let report = check("odd/F04_base64_with_and_without_flag.har");
    assert_eq!(findings(&report), findings(&check("cases/B10_store-replays-every-stream.har")));
    assert!(findings(&report).contains(&"replay-from-other-stream error certain 11 x1".to_owned()));
    assert!(caveats(&report).contains_key("guessed-encoding"));
}

#[test]
fn f05_a_mark_before_and_blanks_behind_the_document_do_not_matter() {
    let report = check("odd/F05_bom_and_trailing_space.har");
    assert_eq!(findings(&report), findings(&check("cases/B18_retry-ignored-on-poll.har")));
    assert_eq!(findings(&report), ["retry-ignored error likely 1 x1"]);
    assert_eq!(caveats(&report), caveat("trailing-bytes", 1));
}

#[test]
fn f07_times_without_a_zone_are_taken_in_the_zone_of_the_others() {
    for zone in ["UTC", "Asia/Tokyo"] {
        let mut command = Command::cargo_bin("lastevent").unwrap();
        let arguments = ["show", "--format", "timeline", "testdata/odd/F07_dates_without_zone.har"];
        let output = command.args(arguments).env("TZ", zone).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let stamps: Vec<&str> =
            text.lines().filter(|l| l.contains("--> ")).filter_map(|l| l.split_whitespace().next()).collect();
        assert_eq!(stamps.len(), 18, "{zone}");
        assert!(stamps.iter().all(|s| s.starts_with("2026-03-02T09:")), "{zone}: {stamps:?}");
    }
    let report = check("odd/F07_dates_without_zone.har");
    assert_eq!(caveats(&report), caveat("no-or-coarse-time", 8));
    // The same traffic, with ids that a sanitiser blacked out, gives the same two rules.
    let rules = ["conflict-loop warning likely - x2"; 3].into_iter().chain(["idle-cut warning likely - x3"]);
    assert_eq!(findings(&report), rules.collect::<Vec<_>>());
}

#[test]
fn f09_durations_that_are_none_leave_the_end_unknown() {
    let report = check("odd/F09_timings_empty_or_negative.har");
    assert_eq!(report["summary"]["exchanges"], 4);
    assert_eq!(findings(&report), ["retry-ignored error likely 1 x1"]);
}

#[test]
fn f10_a_request_is_found_wherever_the_recorder_put_it() {
    let report = check("odd/F10_postdata_variants.har");
    assert_eq!(findings(&report), findings(&check("cases/B08_stale-session-burst-then-reinit.har")));
    assert_eq!(findings(&report), ["dead-session-used error certain - x5"]);
}

#[test]
fn f12_one_placeholder_for_all_session_ids_is_not_one_session() {
    let report = check("odd/F12_redacted_session_ids.har");
    assert_eq!(report["summary"]["sessions"], 3);
    assert!(caveats(&report).contains_key("placeholder-ids"));
    for rule in ["silent-session-reset", "dead-session-used", "event-id-not-unique"] {
        assert!(!findings(&report).iter().any(|f| f.starts_with(rule)), "{rule}");
    }
}

/// A stream that gives its bytes in pieces, one a read.
struct Pieces(VecDeque<Vec<u8>>);

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Pieces {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.retain(|piece| !piece.is_empty());
        Ok(self.0.front().map_or(&[], Vec::as_slice))
    }

    fn consume(&mut self, amount: usize) {
        self.0.iter_mut().take(1).for_each(|piece| drop(piece.drain(..amount)));
    }
}

#[test]
fn f14_a_stream_is_the_same_wherever_its_pieces_are_cut() {
    let case: Value = serde_json::from_str(include_str!("../testdata/odd/F14_sse_chunks_split_crlf.json")).unwrap();
    let decode = |piece: &Value| base64::engine::general_purpose::STANDARD.decode(piece.as_str().unwrap()).unwrap();
    let pieces: Vec<Vec<u8>> = case["chunks_base64"].as_array().unwrap().iter().map(decode).collect();
    let whole = pieces.concat();
    let single = whole.iter().map(|byte| vec![*byte]).collect();
    for pieces in [vec![whole.clone()], pieces, single] {
        let (key, names, consumed) = (Key::new(None, false), Names::default(), AtomicU64::new(0));
        let context =
            Context { key: &key, limits: Limits::default(), names: &names, consumed: &consumed, vantage: None };
        let facts = sse::read(&mut Pieces(pieces.into()), &context).unwrap();
        let [exchange] = &facts.exchanges[..] else { panic!("{} exchanges", facts.exchanges.len()) };
        let Body::Complete(Content::Events(log)) = &exchange.response else { panic!("{:?}", exchange.response) };
        assert_eq!(log.events.len(), 2);
        // The first one is the answer, though its data is written on two lines.
        let kinds: Vec<_> = log.messages.iter().map(|(event, message)| (*event, message.kind)).collect();
        assert_eq!(kinds, [(0, MessageKind::Response)]);
    }
    let text: Vec<_> = Blocks::new(&whole).filter_map(|block| block.data).collect();
    assert_eq!(text[1].as_ref(), "{\"t\":\"ä\"}".as_bytes());
}

#[test]
fn f15_corners_of_the_standard_are_kept() {
    let seven = "id: c_19bc4981:7; data: no JSON-RPC message";
    let events = events("odd/F15_sse_field_corner_cases.sse");
    let expected = [
        "data: no JSON-RPC message",
        seven,
        "retry: 250; data:",
        "data: no JSON-RPC message",
        "id:; data: no JSON-RPC message",
        "id: c_19bc4981:8",
        "data:",
        "data: no JSON-RPC message",
    ];
    assert_eq!(events, expected);
}

#[test]
fn f16_an_event_without_its_blank_line_is_neither_delivered_nor_lost() {
    let report = check("odd/F16_sse_last_event_unterminated.sse");
    assert_eq!(findings(&report), [] as [&str; 0]);
    assert_eq!(caveats(&report)["undispatched-tail"], 1);
    let events = events("odd/F16_sse_last_event_unterminated.sse");
    assert_eq!(events.len(), 2);
    assert!(events[0].contains(":1; data: notification"), "{events:?}");
    assert!(events[1].contains(":2; data: response 1") && events[1].contains("never dispatched"), "{events:?}");
}

#[test]
fn f17_lone_carriage_returns_end_lines() {
    let events = events("odd/F17_sse_cr_only.sse");
    assert_eq!(events.len(), 2);
    assert!(events[0].starts_with("id: ") && events[0].contains(":1;"), "{events:?}");
    assert!(events[1].starts_with("id: ") && events[1].contains(":2;"), "{events:?}");
}

#[test]
fn f18_segments_out_of_order_and_an_early_fin_lose_nothing() {
    let report = check("pcap/out_of_order_fin_early.pcap");
    assert_eq!(findings(&report), [] as [&str; 0]);
    let events = events("pcap/out_of_order_fin_early.pcap");
    let ends = events.iter().map(|e| e.split_once("; ").map_or("", |(_, data)| data)).collect::<Vec<_>>();
    assert_eq!(ends, ["data:", "data: notification notifications/progress", "data: response 4, result, 77 B"]);
}

#[test]
fn f21_a_log_without_bodies_proves_what_it_can_and_no_more() {
    let report = check("ndjson/access-log.jsonl");
    assert_eq!(findings(&report), ["dead-session-used error certain - x1"]);
    let caveats = caveats(&report);
    for name in ["body-not-captured", "input-truncated", "undecodable-entry"] {
        assert!(caveats.contains_key(name), "{name}: {caveats:?}");
    }
}

#[test]
fn f22_content_that_was_streamed_through_is_not_empty_content() {
    let report = check("flows/streamed-body-missing.mitm");
    assert_eq!(findings(&report)[0], "resume-after-terminal warning possible 4 x1");
    assert!(caveats(&report).contains_key("body-not-captured"));
    for rule in ["request-never-answered", "stream-ended-without-terminal", "unknown-cursor"] {
        assert!(!findings(&report).iter().any(|f| f.starts_with(rule)), "{rule}");
    }
}

#[test]
fn f24_a_newer_format_is_read_as_far_as_it_is_known_and_named() {
    let report = check("flows/newer-format.mitm");
    assert_eq!(findings(&report), findings(&check("flows/streamed-body-missing.mitm")));
    let all = report["caveats"].as_array().unwrap();
    let newer = all.iter().find(|c| c["caveat"] == "newer-format").unwrap();
    assert!(newer["message"].as_str().unwrap().contains("99"), "{newer}");
}
