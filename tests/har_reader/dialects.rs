//! Documents, recorders, headers, and what is refused.

use super::entries::*;
use lastevent::{
    capture::{Limits, har},
    model::{Body, Content, End, Missing, Side, Time, Vantage},
};
use serde_json::{Value, json};

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
