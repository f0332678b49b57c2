//! Times: starts, durations, chunks and recorded events.

use super::entries::*;
use lastevent::model::{Body, Content, End, Missing, Side, Time};
use serde_json::{Value, json};

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
