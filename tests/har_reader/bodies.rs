//! Bodies: absent, empty, cut, coded, or beside the file.

use super::entries::*;
use lastevent::{
    capture::{
        Limits,
        har::{self, Options},
    },
    model::{Body, Content, End, Missing, Side, Time},
};
use serde_json::{Value, json};

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
fn a_body_over_the_limit_is_cut_with_a_caveat() {
    let long = EVENT.repeat(40);
    let text = har("WebInspector", &[entry(&[("/response/content/text", json!(long))])]).to_string();
    let limits = Limits { body: EVENT.len() as u64 * 2, ..Limits::default() };
    let facts = with(limits, None, |context| har::read(&mut text.as_bytes(), context)).unwrap();
    assert_eq!(log(&facts.exchanges[0]).events.len(), 2);
    assert_eq!(facts.exchanges[0].response.lacks(), Some(Missing::SizeLimit));
    assert_eq!(facts.caveats["limit-reached"].count, 1);
}
