//! The HAR reader: dialects, damage, and blocks of every size.

use lastevent::{
    capture::{
        Context, FileFacts, Limits, ReadError,
        digest::Names,
        har::{self, Options},
    },
    model::{Body, Content, End, EventLog, Exchange, Missing, Side, Time, Vantage},
    redact::Key,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::atomic::AtomicU64;

const STREAM: &str = "text/event-stream";
const EVENT: &str = "id: a1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}"#;
/// 2026-03-02T09:00:00Z in microseconds.
const NINE: i64 = 1_772_442_000_000_000;

fn with<T>(limits: Limits, vantage: Option<Vantage>, then: impl FnOnce(&Context<'_>) -> T) -> T {
    let (key, names, consumed) = (Key::new(None, true), Names::default(), AtomicU64::new(0));
    then(&Context { key: &key, limits, names: &names, consumed: &consumed, vantage })
}

fn read_blocks(text: &[u8], block: usize) -> Result<FileFacts, ReadError> {
    let options = Options { block, ..Options::default() };
    with(Limits::default(), None, |context| har::read_with(&mut &*text, context, &options))
}

fn read_bytes(text: &[u8]) -> Result<FileFacts, ReadError> {
    with(Limits::default(), None, |context| har::read(&mut &*text, context))
}

fn har(creator: &str, entries: &[Value]) -> Value {
    json!({"log": {"version": "1.2", "creator": {"name": creator, "version": "9.1"}, "entries": entries}})
}

fn read(creator: &str, entries: &[Value]) -> FileFacts {
    read_bytes(har(creator, entries).to_string().as_bytes()).unwrap()
}

/// A call that was answered by an event stream, with changes: members by their JSON pointer.
fn entry(changes: &[(&str, Value)]) -> Value {
    let mut entry = json!({
        "startedDateTime": "2026-03-02T09:00:00.000Z",
        "time": 40.0,
        "request": {
            "method": "POST", "url": "http://127.0.0.1:3001/mcp", "httpVersion": "HTTP/1.1", "bodySize": CALL.len(),
            "headers": [
                {"name": "Accept", "value": "application/json, text/event-stream"},
                {"name": "Content-Type", "value": "application/json"},
                {"name": "Mcp-Session-Id", "value": "s1"}
            ],
            "postData": {"mimeType": "application/json", "text": CALL}
        },
        "response": {
            "status": 200, "httpVersion": "HTTP/1.1", "bodySize": EVENT.len(),
            "headers": [{"name": "content-type", "value": STREAM}],
            "content": {"size": EVENT.len(), "mimeType": STREAM, "text": EVENT}
        },
        "timings": {"blocked": -1, "dns": -1, "connect": -1, "send": 1.0, "wait": 9.0, "receive": 30.0},
        "cache": {}
    });
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let members = entry.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        match value {
            Value::String(gone) if gone == "\0" => members.remove(name),
            value => members.insert((*name).to_owned(), value.clone()),
        };
    }
    entry
}

/// In [`entry`]: the member is not there.
fn gone() -> Value {
    json!("\0")
}

fn one(creator: &str, changes: &[(&str, Value)]) -> Exchange {
    let facts = read(creator, &[entry(changes)]);
    assert_eq!((facts.entries, facts.exchanges.len()), (1, 1), "{:?}", facts.caveats);
    facts.exchanges.into_iter().next().unwrap()
}

fn log(exchange: &Exchange) -> &EventLog {
    match exchange.response.content() {
        Some(Content::Events(log)) => log,
        other => panic!("no event stream: {other:?}"),
    }
}

fn empty_stream(changes: &[(&str, Value)]) -> Vec<(&'static str, Value)> {
    let mut all = vec![
        ("/response/content/text", json!("")),
        ("/response/content/size", json!(0)),
        ("/response/bodySize", json!(0)),
    ];
    all.extend(
        changes.iter().map(|(pointer, value)| (String::leak((*pointer).to_owned()) as &'static str, value.clone())),
    );
    all
}

#[test]
fn an_ordinary_entry_gives_its_times_its_bodies_and_its_place() {
    let text = har("WebInspector", &[entry(&[]), entry(&[])]).to_string();
    let facts = read_bytes(text.as_bytes()).unwrap();
    assert_eq!((facts.recorder.as_deref(), facts.vantage), (Some("WebInspector 9.1"), Vantage::Client));
    assert!(facts.caveats.is_empty());
    let x = &facts.exchanges[1];
    assert_eq!(x.at.entry, 1);
    assert_eq!(x.at.offset.map(|o| o as usize), text.match_indices("{\"cache\"").nth(1).map(|(at, _)| at));
    assert_eq!((x.sent, x.head, x.ended), (Some(Time(NINE)), Some(Time(NINE + 10_000)), Some(Time(NINE + 40_000))));
    assert_eq!((x.status, x.end, x.vantage), (Some(200), End::Unknown, Vantage::Client));
    assert_eq!(x.messages()[0].name.as_deref(), Some("slow"));
    assert!(x.response.is_whole());
    assert_eq!((log(x).events.len(), log(x).size), (1, EVENT.len() as u64));
}

#[test]
fn the_recorder_tells_where_it_stood() {
    for (name, vantage) in [
        ("WebInspector", Vantage::Client),
        ("Firefox", Vantage::Client),
        ("WebKit Web Inspector", Vantage::Client),
        ("Playwright", Vantage::Client),
        ("mitmproxy", Vantage::Proxy),
        ("mitmproxy har_dump", Vantage::Proxy),
        ("Fiddler", Vantage::Proxy),
        ("Charles Proxy", Vantage::Proxy),
        ("HTTP Toolkit", Vantage::Proxy),
        ("Proxyman", Vantage::Proxy),
        ("something else", Vantage::Unknown),
    ] {
        let facts = read(name, &[entry(&[])]);
        assert_eq!((facts.vantage, facts.exchanges[0].vantage), (vantage, vantage), "{name}");
    }
    let text = har("mitmproxy", &[entry(&[])]).to_string();
    let facts = with(Limits::default(), Some(Vantage::Server), |c| har::read(&mut text.as_bytes(), c)).unwrap();
    assert_eq!((facts.vantage, facts.exchanges[0].vantage), (Vantage::Server, Vantage::Server));
}

#[test]
fn a_body_without_text_was_not_captured_whatever_the_sizes_say() {
    let x = one(
        "WebInspector",
        &[("/response/content", json!({"size": 0, "mimeType": STREAM})), ("/response/bodySize", json!(0))],
    );
    assert_eq!(x.response, Body::NotCaptured(Missing::NotRecorded));
    let headers = json!([{"name": "Content-Type", "value": STREAM}, {"name": "Content-Length", "value": "0"}]);
    let changes = [
        ("/response/content", json!({"size": 0, "mimeType": STREAM})),
        ("/response/bodySize", json!(0)),
        ("/response/headers", headers),
    ];
    assert_eq!(one("WebInspector", &changes).response, Body::Empty);
    for status in [204, 304] {
        let x = one("WebInspector", &[("/response/content", json!({"size": -1})), ("/response/status", json!(status))]);
        assert_eq!(x.response, Body::Empty);
    }
    // A 202 of which nothing was kept.
    let x = one(
        "Playwright",
        &[("/response/content", json!({"size": -1, "mimeType": "x-unknown"})), ("/response/status", json!(202))],
    );
    assert_eq!(x.response, Body::NotCaptured(Missing::NotRecorded));
}

#[test]
fn a_text_of_no_length_is_an_empty_body_unless_a_size_contradicts() {
    assert_eq!(one("WebInspector", &empty_stream(&[])).response, Body::Empty);
    let sized = empty_stream(&[("/response/content/size", json!(700))]);
    assert_eq!(one("WebInspector", &sized).response, Body::NotCaptured(Missing::NotRecorded));
    let length = json!([{"name": "content-type", "value": STREAM}, {"name": "content-length", "value": "70"}]);
    let sized = empty_stream(&[("/response/headers", length)]);
    assert_eq!(one("WebInspector", &sized).response, Body::NotCaptured(Missing::NotRecorded));
    let sized = empty_stream(&[("/response/content/size", json!(41_000))]);
    assert_eq!(one("HTTP Toolkit", &sized).response, Body::NotCaptured(Missing::SizeLimit));
}

#[test]
fn mitmproxy_marks_a_response_that_never_ended_by_receiving_it_in_no_time() {
    let unfinished = [("/timings/receive", json!(0)), ("/time", json!(10.0))];
    let facts = read("mitmproxy", &[entry(&empty_stream(&unfinished)), entry(&empty_stream(&[])), entry(&unfinished)]);
    let [lost, empty, cut] = &facts.exchanges[..] else { panic!() };
    assert_eq!(lost.response, Body::NotCaptured(Missing::Streamed));
    assert_eq!((lost.end, lost.ended, lost.head), (End::Abrupt(Side::Unknown), None, Some(Time(NINE + 10_000))));
    assert_eq!((&empty.response, empty.ended), (&Body::Empty, Some(Time(NINE + 40_000))));
    assert!(matches!(&cut.response, Body::Partial(Content::Events(log), Missing::CutOff) if log.events.len() == 1));
    assert_eq!((cut.end, cut.ended), (End::Abrupt(Side::Unknown), None));
    // In other recorders the same figures mean nothing.
    let x = one("WebInspector", &empty_stream(&[("/timings/receive", json!(0))]));
    assert_eq!((x.end, &x.response), (End::Unknown, &Body::Empty));
}

#[test]
fn mitmproxy_stored_no_streams_where_it_has_the_text_of_none() {
    let json_answer = entry(&[
        (
            "/response/content",
            json!({"size": 36, "mimeType": "application/json", "text": r#"{"jsonrpc":"2.0","id":1,"result":{}}"#}),
        ),
        ("/response/headers", json!([{"name": "content-type", "value": "application/json"}])),
    ]);
    let facts = read("mitmproxy", &[json_answer, entry(&empty_stream(&[])), entry(&empty_stream(&[]))]);
    assert!(facts.exchanges[0].response.is_whole());
    assert_eq!(facts.exchanges[1].response, Body::NotCaptured(Missing::Streamed));
    assert_eq!(facts.exchanges[2].response, Body::NotCaptured(Missing::Streamed));
}

#[test]
fn mitmproxy_is_known_by_a_creator_behind_the_entries_too() {
    let entries = [entry(&[]), entry(&empty_stream(&[("/timings/receive", json!(0))]))];
    let text = format!(
        r#"{{"log":{{"entries":{},"creator":{{"name":"mitmproxy","version":"1"}},"pages":[]}}}}"#,
        Value::from(entries.to_vec())
    );
    let facts = read_bytes(text.as_bytes()).unwrap();
    assert_eq!((facts.recorder.as_deref(), facts.vantage), (Some("mitmproxy 1"), Vantage::Proxy));
    let x = &facts.exchanges[1];
    assert_eq!((x.vantage, x.end, x.ended), (Vantage::Proxy, End::Abrupt(Side::Unknown), None));
    assert_eq!(x.response, Body::NotCaptured(Missing::Streamed));
}

#[test]
fn mitmproxy_connects_while_it_receives_and_its_times_overlap() {
    let timings = json!({"connect": 5.0, "ssl": 4.0, "send": 1.0, "wait": 9.0, "receive": 30.0});
    let x = one("mitmproxy", &[("/timings", timings.clone()), ("/time", json!(49.0))]);
    assert_eq!((x.head, x.ended), (Some(Time(NINE + 10_000)), Some(Time(NINE + 40_000))));
    let x = one("WebInspector", &[("/timings", timings), ("/time", json!(45.0))]);
    assert_eq!((x.head, x.ended), (Some(Time(NINE + 15_000)), Some(Time(NINE + 45_000))));
}

#[test]
fn chunk_times_in_a_comment_are_times_of_events() {
    let body = format!("{EVENT}{EVENT}");
    let comment = |second: usize| {
        json!(json!({"sse_chunks": [[1_772_442_000.5, EVENT.len()], [1_772_442_001.25, second]]}).to_string())
    };
    let timed =
        [("/response/content/text", json!(body)), ("/timings/receive", json!(0)), ("/comment", comment(EVENT.len()))];
    let x = one("mitmproxy", &timed);
    assert_eq!(log(&x).times, [Time(NINE + 500_000), Time(NINE + 1_250_000)]);
    // Lengths that do not add up are those of something else.
    let coded = [("/response/content/text", json!(body)), ("/comment", comment(3))];
    assert!(log(&one("mitmproxy", &coded)).times.is_empty());
}

#[test]
fn recorded_events_stand_in_for_a_missing_text_and_give_their_times_to_a_present_one() {
    let events = json!([
        {"time": 1_772_442_000.5, "eventName": "message", "eventId": "a1", "data": r#"{"jsonrpc":"2.0","id":1,"result":{}}"#}
    ]);
    let absent = ("/response/content", json!({"size": 436, "mimeType": STREAM}));
    let x = one(
        "WebInspector",
        &[absent.clone(), ("/_eventSourceMessages", events.clone()), ("/response/_error", json!("net::ERR_ABORTED"))],
    );
    assert!(matches!(&x.response, Body::Partial(Content::Events(log), Missing::NotRecorded) if log.rebuilt));
    assert_eq!((log(&x).times.as_slice(), log(&x).message_count()), (&[Time(NINE + 500_000)][..], 1));
    assert_eq!(x.end, End::Abrupt(Side::Client));
    let x = one("WebInspector", &[("/_eventSourceMessages", events)]);
    assert!(x.response.is_whole());
    assert_eq!((log(&x).times.as_slice(), log(&x).rebuilt), (&[Time(NINE + 500_000)][..], false));
    let sanitised = json!([{"time": 1_772_442_000.5, "eventName": "message", "eventId": "a1"}]);
    let x = one("WebInspector", &[absent, ("/_eventSourceMessages", sanitised)]);
    assert_eq!(x.response.lacks(), Some(Missing::Sanitised));
}

#[test]
fn an_empty_list_of_events_is_an_empty_stream_where_the_sizes_agree() {
    let none = ("/_eventSourceMessages", json!([]));
    let content = ("/response/content", json!({"size": 0, "mimeType": STREAM}));
    let agree = [none.clone(), content.clone(), ("/response/bodySize", json!(0))];
    assert_eq!(one("WebInspector", &agree).response, Body::Empty);
    let unknown = [none, content, ("/response/bodySize", json!(-1))];
    assert_eq!(one("WebInspector", &unknown).response, Body::NotCaptured(Missing::NotRecorded));
}

#[test]
fn failures_are_told_from_answers_that_nobody_read() {
    let x = one("WebInspector", &[("/response/_error", json!("net::ERR_CONNECTION_RESET"))]);
    assert_eq!((x.end, x.response.lacks()), (End::Abrupt(Side::Unknown), Some(Missing::CutOff)));
    let empty_202 = empty_stream(&[
        ("/response/status", json!(202)),
        ("/response/content/mimeType", json!("x-unknown")),
        ("/response/headers", json!([])),
        ("/response/_error", json!("net::ERR_ABORTED")),
    ]);
    let x = one("WebInspector", &empty_202);
    assert_eq!((x.end, &x.response), (End::Unknown, &Body::Empty));
    let unread = [
        ("/response/content", json!({"size": -1, "mimeType": "x-unknown"})),
        ("/response/status", json!(202)),
        ("/response/headers", json!([{"name": "Transfer-Encoding", "value": "chunked"}])),
        ("/response/_failureText", json!("net::ERR_ABORTED")),
    ];
    let x = one("Playwright", &unread);
    assert_eq!((x.end, &x.response), (End::Unknown, &Body::NotCaptured(Missing::NotRecorded)));
    let blocked = empty_stream(&[
        ("/response/content/mimeType", json!("x-unknown")),
        ("/response/headers", json!([])),
        ("/response/_error", json!("net::ERR_FAILED")),
    ]);
    let x = one("WebInspector", &blocked);
    assert_eq!((x.end, &x.response), (End::Abrupt(Side::Unknown), &Body::NotCaptured(Missing::Failed)));
}

#[test]
fn a_status_of_nought_or_less_is_none_and_a_failure() {
    for status in [json!(0), json!(-1), json!("0")] {
        let changes = empty_stream(&[("/response/status", status), ("/response/headers", json!([]))]);
        let x = one("HTTP Toolkit", &changes);
        assert_eq!((x.status, x.end), (None, End::Abrupt(Side::Unknown)));
        assert_eq!(x.response, Body::NotCaptured(Missing::Failed));
    }
    for response in [Value::Null, gone()] {
        let x = one("k6", &[("/response", response)]);
        assert_eq!((x.status, x.end, &x.response), (None, End::Unknown, &Body::NotCaptured(Missing::NotRecorded)));
    }
    assert_eq!(one("WebInspector", &[("/response/status", json!("200"))]).status, Some(200));
}

#[test]
fn playwright_counts_to_the_head_where_it_never_saw_the_end() {
    let open = [
        ("/response/content", json!({"size": -1, "mimeType": STREAM})),
        ("/response/_failureText", json!("net::ERR_CONNECTION_RESET")),
        ("/timings", json!({"dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": 9.084, "receive": -1})),
        ("/time", json!(9.084)),
    ];
    let x = one("Playwright", &open);
    assert_eq!((x.head, x.ended, x.end), (Some(Time(NINE + 9_084)), None, End::Abrupt(Side::Unknown)));
    assert_eq!(x.response, Body::NotCaptured(Missing::NotRecorded));
    let minimal = [
        ("/response/content/size", json!(-1)),
        ("/timings", json!({"send": -1, "wait": -1, "receive": 3.5})),
        ("/time", json!(3.5)),
    ];
    let x = one("Playwright", &minimal);
    assert_eq!((x.head, x.ended), (None, Some(Time(NINE + 3_500))));
    assert!(x.response.is_whole());
}

#[test]
fn playwright_bodies_are_found_beside_the_har() {
    let attached = entry(&[
        ("/response/content", json!({"size": EVENT.len(), "mimeType": STREAM, "_file": "1f.dat"})),
        ("/request/postData", json!({"mimeType": "application/json", "text": "", "params": [], "_file": "2e.json"})),
    ]);
    let text = har("Playwright", &[attached]).to_string();
    let member = |name: &str| match name {
        "1f.dat" => Some(EVENT.as_bytes().to_vec()),
        "2e.json" => Some(CALL.as_bytes().to_vec()),
        _ => None,
    };
    let options = Options { member: Some(&member), ..Options::default() };
    let facts = with(Limits::default(), None, |c| har::read_with(&mut text.as_bytes(), c, &options)).unwrap();
    assert_eq!(facts.exchanges[0].messages().len(), 1);
    assert_eq!(log(&facts.exchanges[0]).message_count(), 1);
    let facts = read_bytes(text.as_bytes()).unwrap();
    assert_eq!(facts.exchanges[0].request, Body::NotCaptured(Missing::NotRecorded));
    assert_eq!(facts.exchanges[0].response, Body::NotCaptured(Missing::NotRecorded));
}

#[test]
fn a_request_without_its_text_is_not_an_empty_one() {
    let omitted = [("/request/postData/text", json!("")), ("/request/bodySize", json!(46))];
    assert_eq!(one("Playwright", &omitted).request, Body::NotCaptured(Missing::NotRecorded));
    let get = [("/request/method", json!("GET")), ("/request/postData", gone()), ("/request/bodySize", json!(0))];
    assert_eq!(one("WebInspector", &get).request, Body::Empty);
}

#[test]
fn base64_is_decoded_where_it_is_declared_and_guessed_where_nothing_else_makes_sense() {
    // printf 'id: a1\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n' | base64
    let coded = "aWQ6IGExCmRhdGE6IHsianNvbnJwYyI6IjIuMCIsImlkIjoxLCJyZXN1bHQiOnt9fQoK";
    let declared = [("/response/content/text", json!(coded)), ("/response/content/encoding", json!("base64"))];
    assert_eq!(log(&one("WebInspector", &declared)).message_count(), 1);
    let facts = read("WebInspector", &[entry(&[("/response/content/text", json!(coded))])]);
    assert_eq!(log(&facts.exchanges[0]).message_count(), 1);
    assert_eq!(facts.caveats["guessed-encoding"].count, 1);
    let broken = [("/response/content/text", json!("a%b")), ("/response/content/encoding", json!("base64"))];
    assert_eq!(one("WebInspector", &broken).response, Body::NotCaptured(Missing::Undecodable));
    let gzipped = [
        ("/response/content/text", json!("H4sIAAAAAAAAAwMAAAAAAAAAAAA=")),
        ("/response/content/encoding", json!("base64")),
        (
            "/response/headers",
            json!([{"name": "content-type", "value": STREAM}, {"name": "content-encoding", "value": "gzip"}]),
        ),
    ];
    assert_eq!(one("mitmproxy har_dump", &gzipped).response, Body::NotCaptured(Missing::Undecodable));
}

#[test]
fn a_request_body_is_found_in_params_and_behind_base64() {
    let params = json!({"mimeType": "application/json", "params": [{"name": CALL, "value": ""}]});
    assert_eq!(one("Reqable", &[("/request/postData", params)]).messages()[0].name.as_deref(), Some("slow"));
    // printf '{"jsonrpc":"2.0","id":7,"method":"ping"}' | base64
    let coded = "eyJqc29ucnBjIjoiMi4wIiwiaWQiOjcsIm1ldGhvZCI6InBpbmcifQ==";
    let coded = json!({"mimeType": "application/json", "text": coded, "encoding": "base64"});
    assert_eq!(one("Reqable", &[("/request/postData", coded)]).messages()[0].method.as_deref(), Some("ping"));
}

#[test]
fn headers_come_in_three_shapes() {
    for headers in [
        json!([["mcp-session-id", "s7"], ["Content-Type", STREAM]]),
        json!({"Mcp-Session-Id": "s7", "content-type": STREAM}),
        json!([{"value": "s7", "name": "MCP-SESSION-ID"}, {"name": "content-type", "value": STREAM, "comment": ""}]),
    ] {
        let x = one("WebInspector", &[("/response/headers", headers)]);
        assert_eq!(x.issued.as_ref().and_then(|s| s.text.as_deref()), Some("s7"));
        assert!(matches!(x.response.content(), Some(Content::Events(_))));
    }
}

#[test]
fn an_answer_without_headers_is_of_the_type_that_the_recorder_names() {
    let x = one("x", &[("/response/headers", gone()), ("/request/headers", json!([]))]);
    assert!(matches!(x.response.content(), Some(Content::Events(_))));
}

#[test]
fn durations_that_cannot_be_are_unknown() {
    let ended = |time: Value, timings: Value| {
        let x = one("WebInspector", &[("/time", time), ("/timings", timings)]);
        (x.head.map(|t| t.0 - NINE), x.ended.map(|t| t.0 - NINE))
    };
    assert_eq!(ended(json!(38.0), json!({})), (None, Some(38_000)));
    assert_eq!(ended(json!(-1), json!({"send": 0, "wait": -1, "receive": -1})), (None, None));
    assert_eq!(
        ended(Value::Null, json!({"connect": -91, "send": 0.2, "wait": 9.0, "receive": 10.8})),
        (Some(9_200), Some(20_000))
    );
    assert_eq!(ended(json!("20.5"), json!({"send": "0.2", "wait": 9, "receive": 10})), (Some(9_200), Some(20_500)));
    assert_eq!(ended(json!(5), json!({"send": 0, "wait": 9, "receive": 10})), (Some(5_000), Some(5_000)));
    assert_eq!(ended(json!(1e300), json!({"send": 0, "wait": 1e200, "receive": 10})), (None, None));
}

#[test]
fn starts_without_a_zone_are_read_in_that_of_the_other_entries() {
    let at = |start: &str| entry(&[("/startedDateTime", json!(start))]);
    let facts = read(
        "WebInspector",
        &[at("2026-03-02T10:00:00.000"), at("2026-03-02T10:00:01.000+0100"), at("2026-03-02 09:00:02.5Z")],
    );
    let sent: Vec<_> = facts.exchanges.iter().map(|x| x.sent.unwrap().0 - NINE).collect();
    assert_eq!(sent, [0, 1_000_000, 2_500_000]);
    assert_eq!(
        (facts.exchanges[0].head, facts.exchanges[0].ended),
        (Some(Time(NINE + 10_000)), Some(Time(NINE + 40_000)))
    );
    assert_eq!(facts.caveats["no-or-coarse-time"].count, 1);
    let facts = read("WebInspector", &[at("2026-03-02T09:00:00.000")]);
    assert_eq!(facts.exchanges[0].sent, Some(Time(NINE)));
    assert!(facts.caveats["no-or-coarse-time"].message.contains("UTC"));
}

#[test]
fn starts_in_whole_seconds_and_missing_starts_are_a_caveat() {
    let at = |start: Value| entry(&[("/startedDateTime", start)]);
    let facts = read(
        "x",
        &[at(json!("2026-03-02T09:00:00Z")), at(json!("2026-03-02T09:00:01Z")), at(gone()), at(json!("today"))],
    );
    assert_eq!(facts.exchanges.iter().filter(|x| x.coarse_times).count(), 4);
    assert_eq!(facts.exchanges[3].sent, None);
    assert_eq!(facts.caveats["no-or-coarse-time"].count, 4);
}

#[test]
fn blacked_out_session_ids_are_a_caveat() {
    let headers = json!([{"name": "content-type", "value": STREAM}, {"name": "mcp-session-id", "value": "REDACTED"}]);
    let facts = read("DevProxy", &[entry(&[("/response/headers", headers)]), entry(&[])]);
    assert_eq!(facts.caveats["headers-redacted"].count, 1);
}

#[test]
fn mcpsnoop_has_messages_and_no_http() {
    let call = json!({
        "startedDateTime": "2026-03-02T09:00:00.5Z", "time": 20,
        "request": {"method": "POST", "url": "mcp://files/tools/call/slow", "httpVersion": "JSON-RPC/2.0", "headers": [],
            "postData": {"mimeType": "application/json", "text": r#"{"name":"slow","arguments":{}}"#}},
        "response": {"status": 500, "httpVersion": "JSON-RPC/2.0", "headers": [],
            "content": {"size": 30, "mimeType": "application/json", "text": r#"{"code":-32000,"message":"no"}"#}},
        "timings": {"send": 0, "wait": 20, "receive": 0}
    });
    let mut unanswered = call.clone();
    unanswered["request"]["url"] = json!("mcp://files/tools/list");
    unanswered["request"]["postData"] = Value::Null;
    unanswered["response"]["status"] = json!(0);
    unanswered["response"]["content"]["text"] = Value::Null;
    let facts = read("mcpsnoop", &[call, unanswered]);
    let [call, unanswered] = &facts.exchanges[..] else { panic!("{}", facts.exchanges.len()) };
    assert_eq!(call.method, lastevent::model::Method::Message);
    assert_eq!(
        (call.messages()[0].method.as_deref(), call.messages()[0].name.as_deref()),
        (Some("tools/call"), Some("slow"))
    );
    let Body::Complete(Content::Messages(answer)) = &call.response else { panic!("{:?}", call.response) };
    assert_eq!((answer[0].error_code(), &answer[0].id), (Some(-32_000), &call.messages()[0].id));
    assert_eq!(unanswered.messages()[0].method.as_deref(), Some("tools/list"));
    assert_eq!(unanswered.response, Body::NotCaptured(Missing::NotRecorded));
}

#[test]
fn pages_and_other_traffic_are_counted_and_left_out() {
    let page = entry(&[
        ("/request/method", json!("GET")),
        ("/request/headers", json!([{"name": "Accept", "value": "text/html"}])),
        ("/response/headers", json!([{"name": "content-type", "value": "text/html"}])),
        ("/response/content/mimeType", json!("text/html")),
    ]);
    let options = entry(&[("/request/method", json!("OPTIONS"))]);
    let facts = read("WebInspector", &[page, entry(&[]), options, entry(&[])]);
    assert_eq!(facts.entries, 4);
    assert_eq!(facts.exchanges.iter().map(|x| x.at.entry).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn a_body_over_the_limit_is_cut_with_a_caveat() {
    let long = EVENT.repeat(40);
    let text = har("WebInspector", &[entry(&[("/response/content/text", json!(long))])]).to_string();
    let limits = Limits { body: EVENT.len() as u64 * 2, ..Limits::default() };
    let facts = with(limits, None, |context| har::read(&mut text.as_bytes(), context)).unwrap();
    assert_eq!(log(&facts.exchanges[0]).events.len(), 2);
    assert_eq!(facts.exchanges[0].response.lacks(), Some(Missing::SizeLimit));
    assert_eq!(facts.caveats["limit-reached"].count, 1);
}

#[test]
fn wrappings_and_bytes_around_the_document_are_put_up_with() {
    let text = har("WebInspector", &[entry(&[])]).to_string();
    let read = |text: String| read_bytes(text.as_bytes()).unwrap();
    assert!(read(format!("\u{FEFF}{text}\r\n ")).caveats.is_empty());
    assert!(read(format!("\0 onInputData({text});\n")).caveats.is_empty());
    let facts = read(format!("{text}\n\0\0"));
    assert_eq!((facts.exchanges.len(), facts.caveats["trailing-bytes"].count), (1, 1));
    let facts = read(format!("{text}{text}"));
    assert_eq!((facts.exchanges.len(), facts.caveats["trailing-bytes"].count), (1, 1));
}

#[test]
fn what_is_no_har_is_refused_with_a_reason() {
    for (text, reason) in [
        ("", "not a capture: an empty file"),
        (" \n\0", "not a capture: an empty file"),
        ("{\"a\": 1}", "not a capture: JSON, but no HAR: it has no member \"log\""),
        ("{\"log\": {\"entries\": null}}", "not a capture: a HAR whose log has no array of entries"),
        ("[1]", "not a capture: no HAR: no JSON object at byte 0"),
        ("PK\u{3}\u{4}", "not a capture: no HAR: no JSON object at byte 0"),
        ("{\"log\": {\"pages\": [trie", "not a capture: no HAR: no value at byte 21"),
        ("{\"log\": {\"pages\": [tru", "a HAR that ends, at byte 22, before its first entry"),
    ] {
        let error = read_bytes(text.as_bytes()).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(reason), "{text}");
    }
    let empty = read_bytes(b"{\"log\":{\"entries\":[]}}").unwrap();
    assert_eq!((empty.entries, empty.caveats.len()), (0, 0));
}

#[test]
fn a_truncated_file_gives_all_entries_before_the_cut_and_says_where_it_ends() {
    let text = har("WebInspector", &vec![entry(&[]); 3]).to_string();
    let third = text.match_indices("{\"cache\"").nth(2).unwrap().0;
    let facts = read_bytes(&text.as_bytes()[..third + 300]).unwrap();
    assert_eq!((facts.entries, facts.exchanges.len()), (2, 2));
    let message = &facts.caveats["input-truncated"].message;
    assert_eq!(
        *message,
        format!(
            "the file ends at byte {}, inside entry 2, which begins at byte {third}; 2 entries were read",
            third + 300
        )
    );
    let facts = read_bytes(&text.as_bytes()[..text.len() - 2]).unwrap();
    assert_eq!((facts.exchanges.len(), facts.caveats["input-truncated"].count), (3, 1));
}

#[test]
fn a_damaged_entry_costs_itself_only_and_is_named() {
    let text = har("WebInspector", &vec![entry(&[]); 5]).to_string();
    let second = text.match_indices("{\"cache\"").nth(1).unwrap().0;
    let url = second + text[second..].find("\"url\"").unwrap();
    let damages: [(&str, &str); 5] = [
        ("\"url\"", "\"u\nl\""),
        ("\"url\"", "#url\""),
        ("\"url\":", "\"url\" "),
        ("\"url\":\"", "\"url\":N"),
        ("\"url\":", "\"url\":]"),
    ];
    for (from, to) in damages {
        let damaged = format!("{}{}", &text[..url], text[url..].replacen(from, to, 1));
        for block in [100, 1000, 1 << 20] {
            let facts = read_blocks(damaged.as_bytes(), block).unwrap();
            let caveat = &facts.caveats["entry-unreadable"];
            assert_eq!((facts.entries, facts.exchanges.len(), caveat.count), (5, 4, 1), "{to} {block} {caveat:?}");
            assert!(caveat.message.starts_with(&format!("entry 1 at byte {second} is damaged")), "{}", caveat.message);
            assert_eq!(facts.exchanges.iter().map(|x| x.at.entry).collect::<Vec<_>>(), [0, 2, 3, 4]);
        }
    }
}

#[test]
fn entries_that_are_no_objects_keep_their_number() {
    let text =
        har("WebInspector", &[Value::Null, entry(&[]), json!([1, {"startedDateTime": "x"}]), entry(&[])]).to_string();
    let facts = read_bytes(text.as_bytes()).unwrap();
    assert_eq!((facts.entries, facts.caveats["entry-unreadable"].count), (4, 2));
    assert_eq!(facts.exchanges.iter().map(|x| x.at.entry).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn lines_are_entries_too() {
    let text = format!("{}\n\n{}\r\n{{\"cut\n{}", entry(&[]), entry(&[]), entry(&[]));
    for block in [1, 64, 1000, 1 << 20] {
        let options = Options { block, ..Options::default() };
        let facts = with(Limits::default(), None, |c| har::read_lines_with(&mut text.as_bytes(), c, &options)).unwrap();
        assert_eq!((facts.entries, facts.exchanges.len()), (4, 3), "{block}");
        assert_eq!(facts.exchanges[2].at.entry, 3);
        assert_eq!(facts.exchanges[2].at.offset, text.rfind("\n").map(|at| at as u64 + 1));
        assert_eq!(facts.caveats["entry-unreadable"].count, 1);
    }
    let none = with(Limits::default(), None, |c| har::read_lines(&mut &b"{}\nx\n"[..], c));
    assert!(matches!(none, Err(ReadError::NotACapture(_))));
}

/// What must not depend on how a file was cut into blocks.
fn account(facts: &Result<FileFacts, ReadError>) -> String {
    match facts {
        Ok(facts) => {
            let caveats: Vec<_> = facts.caveats.iter().map(|(name, c)| (name, c.count, &c.message)).collect();
            let rows = serde_json::to_string(&facts.exchanges).unwrap();
            format!("{} {:?} {:?} {caveats:?} {rows}", facts.entries, facts.recorder, facts.vantage)
        }
        Err(error) => error.to_string(),
    }
}

/// A document with every trap for whoever cuts it: nested starts, pages on both sides, texts that look like entries.
fn trapped() -> String {
    let bait = r#"},{"startedDateTime":"2026-03-02T09:00:00.000Z","request":{"#;
    let entries: Vec<Value> = (0..12)
        .map(|i| match i % 6 {
            0 => {
                entry(&[("/_nested", json!([{"startedDateTime": "a"}, {"startedDateTime": "b", "x": [{}]}, {"c": 1}]))])
            }
            1 => entry(&[("/startedDateTime", gone())]),
            2 => entry(&[("/response/content/text", json!(format!("{EVENT}: {bait}\n\n").repeat(30)))]),
            3 => entry(&[(
                "/request/headers",
                json!([{"name": "startedDateTime", "value": "startedDateTime"}, {"name": "a", "value": bait}]),
            )]),
            4 => entry(&[("/_initiator", json!({"stack": vec![json!({"startedDateTime": 1}); 20]}))]),
            _ => entry(&[("/a\\\"startedDateTime", json!({"x": {"startedDateTime": []}}))]),
        })
        .collect();
    let pages = vec![json!({"startedDateTime": "2026-03-02T09:00:00.000Z", "id": "p", "pageTimings": {}}); 30];
    let log = json!({"a_pages": pages, "creator": {"name": "WebInspector"}, "entries": entries, "pages": pages});
    format!("{:#}", json!({"log": log}))
}

#[test]
fn a_file_says_the_same_in_blocks_of_any_size() {
    for text in [trapped(), har("mitmproxy", &vec![entry(&[]); 50]).to_string()] {
        let whole = account(&read_blocks(text.as_bytes(), 1 << 20));
        assert!(whole.contains("\"jsonrpc\"") || whole.contains("endpoint"));
        for block in (1..40).chain([64, 100, 333, 1000, 2047, 4096, 10_000]) {
            assert_eq!(account(&read_blocks(text.as_bytes(), block)), whole, "blocks of {block} bytes");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damage_anywhere_is_survived_and_costs_little(
        cut in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        block in prop_oneof![1_usize..300, Just(4096), Just(1 << 20)],
    ) {
        let mut bytes = har("WebInspector", &vec![entry(&[]); 8]).to_string().into_bytes();
        for (at, byte) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        let _ = read_blocks(&bytes, block);
        let cut = cut.index(bytes.len());
        let _ = read_blocks(&bytes[..cut], block);
        let lines = Options { block, ..Options::default() };
        let _ = with(Limits::default(), None, |c| har::read_lines_with(&mut &bytes[..cut], c, &lines));
    }

    #[test]
    fn one_changed_byte_inside_an_entry_costs_no_other_entry(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        block in prop_oneof![50_usize..3000, Just(1 << 20)],
    ) {
        let text = har("WebInspector", &vec![entry(&[]); 8]).to_string();
        let starts: Vec<usize> = text.match_indices("{\"cache\"").map(|(at, _)| at).collect();
        let at = starts[3] + 1 + at.index(starts[4] - starts[3] - 3);
        let mut bytes = text.into_bytes();
        bytes[at] = byte;
        let facts = read_blocks(&bytes, block).unwrap();
        let kept: Vec<u64> = facts.exchanges.iter().filter_map(|x| x.at.offset).collect();
        for start in starts.iter().enumerate().filter(|(i, _)| *i != 3).map(|(_, start)| *start as u64) {
            prop_assert!(kept.contains(&start), "{start} of {kept:?}, {:?}", facts.caveats);
        }
    }
}
