//! The SSE parser against published cases (web platform tests, the standard's examples, other clients' suites).

use base64::Engine as _;
use lastevent::wire::sse::Blocks;
use serde_json::Value;

/// What a conforming client sees: dispatched events, the last event id at the end, the reconnection time.
fn seen(bytes: &[u8]) -> (Vec<(String, String, String)>, String, Option<u64>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (mut events, mut held, mut retry) = (Vec::new(), String::new(), None);
    for block in Blocks::new(bytes) {
        held = block.id.map_or(held, text);
        retry = block.retry.or(retry);
        if let Some(data) = &block.data {
            let kind = block.event.filter(|e| !e.is_empty()).map_or_else(|| "message".to_owned(), text);
            events.push((kind, text(data), held.clone()));
        }
    }
    (events, held, retry)
}

#[test]
fn every_published_case_gives_its_events_its_last_id_and_its_retry() {
    let cases = include_str!("../testdata/sse/cases.jsonl");
    let mut checked = 0;
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let bytes = base64::engine::general_purpose::STANDARD.decode(case["input_b64"].as_str().unwrap()).unwrap();
        let field = |event: &Value, name: &str| event[name].as_str().unwrap().to_owned();
        let want: Vec<_> = case["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| (field(e, "event"), field(e, "data"), field(e, "id")))
            .collect();
        let (events, held, retry) = seen(&bytes);
        assert_eq!(events, want, "{}", case["name"]);
        assert_eq!(held, case["last_event_id"].as_str().unwrap(), "{}", case["name"]);
        assert_eq!(retry, case["retry"].as_u64(), "{}", case["name"]);
        checked += 1;
    }
    assert_eq!(checked, 92);
}

#[test]
fn blocks_cover_a_body_without_gap_or_overlap_and_the_tail_is_the_rest() {
    let body = b": hi\n\nid: 1\r\ndata: a\r\n\r\n\n\ndata: b\rdata: c\r\rid: 9\ndata: {\"cut";
    let mut blocks = Blocks::new(body);
    let ranges: Vec<_> = blocks.by_ref().map(|b| (b.start, b.end, b.line)).collect();
    assert_eq!(ranges, [(0, 6, 1), (6, 24, 3), (26, 43, 8)]);
    let tail = blocks.tail().unwrap();
    assert_eq!(
        (tail.start, tail.end, tail.id, tail.data.as_deref()),
        (43, body.len(), Some(&b"9"[..]), Some(&b"{\"cut"[..]))
    );
}
