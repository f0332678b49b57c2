//! How fast the parts behind the readers are: event streams, JSON-RPC facts, reconstruction, rules.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use lastevent::{
    audit,
    capture::{Context, FileFacts, Limits, RawBody, RawExchange, digest, digest::Names, transcript},
    model::{Exchange, Vantage},
    reconstruct,
    redact::Key,
    rules::{self, Thresholds},
    wire::{json::Json, sse::Blocks},
};
use std::{fmt::Write as _, hint::black_box, sync::atomic::AtomicU64, time::Duration};

/// An event stream: progress, now and then a log line, and at its end the answer.
fn stream(session: usize, request: usize, progress: usize) -> String {
    let mut text = String::new();
    for n in 0..progress {
        let message = if n % 10 == 9 {
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"a \"quoted\" line"}}"#
                .to_owned()
        } else {
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{request},"progress":{n}}}}}"#
            )
        };
        let _ = write!(text, "event: message\nid: s{session}-{request}_{n}\ndata: {message}\n\n");
    }
    let result = r#"{"content":[{"type":"text","text":"{\"row\":1,\"note\":\"a\\nb\"}"}],"isError":false}"#;
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{request},"result":{result}}}"#);
    let _ = write!(text, "event: message\nid: s{session}-{request}_end\ndata: {answer}\n\n");
    text
}

/// Sessions of ten streamed calls each; the last one of every fifth is resumed three times though it was answered.
fn traffic(sessions: usize) -> String {
    let mut text = String::from("# vantage: client\n");
    for session in 0..sessions {
        let id = format!("5e551011-{session:08}");
        let minute = format!("2026-01-01T{:02}:{:02}", session / 60 % 24, session % 60);
        let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
        let _ = write!(
            text,
            "@ {minute}:00Z\n> POST /mcp\n>\n{initialize}\n< 200 +5ms\n< content-type: application/json\n< mcp-session-id: {id}\n<\n{answer}\n= clean +6ms\n\n"
        );
        for request in 2..12 {
            let call = format!(
                r#"{{"jsonrpc":"2.0","id":{request},"method":"tools/call","params":{{"name":"rows","arguments":{{"n":{request}}},"_meta":{{"progressToken":{request}}}}}}}"#
            );
            let _ = write!(
                text,
                "@ {minute}:{request:02}Z\n> POST /mcp\n> mcp-session-id: {id}\n>\n{call}\n< 200 +5ms\n< content-type: text/event-stream\n<\n{}= clean +900ms\n\n",
                stream(session, request, 40)
            );
        }
        for again in 0..if session % 5 == 0 { 3 } else { 0 } {
            let _ = write!(
                text,
                "@ {minute}:{:02}Z\n> GET /mcp\n> mcp-session-id: {id}\n> accept: text/event-stream\n> last-event-id: s{session}-11_end\n< 200 +5ms\n< content-type: text/event-stream\n= clean +10ms\n\n",
                15 + again
            );
        }
    }
    text
}

fn read(context: &Context<'_>, text: &str) -> Vec<Exchange> {
    let facts = transcript::read(context, &mut text.as_bytes());
    facts.map_or_else(|error| panic!("{error}"), |facts: FileFacts| facts.exchanges)
}

fn benches(criterion: &mut Criterion) {
    let (key, names, consumed) = (Key::new(None, false), Names::default(), AtomicU64::new(0));
    let context = Context { key: &key, limits: Limits::default(), names: &names, consumed: &consumed, vantage: None };
    let mut group = criterion.benchmark_group("parts");
    group.warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3)).sample_size(20);

    let body = stream(1, 2, 20_000);
    group.throughput(Throughput::Bytes(body.len() as u64));
    group.bench_function("sse, blocks of a stream", |b| b.iter(|| Blocks::new(black_box(body.as_bytes())).count()));

    let data: Vec<Vec<u8>> = Blocks::new(body.as_bytes()).filter_map(|block| block.data).map(|d| d.to_vec()).collect();
    group.throughput(Throughput::Bytes(data.iter().map(|d| d.len() as u64).sum()));
    group.bench_function("json, digests of messages", |b| {
        b.iter(|| data.iter().filter(|text| Json::new(black_box(text), key.sip()).value().is_ok()).count());
    });

    let mut raw = RawExchange::new("GET", "http://localhost/mcp");
    raw.status = Some(200);
    raw.response_headers = vec![("content-type".into(), "text/event-stream".into())];
    raw.response_body = RawBody::Whole(body.as_bytes().into());
    group.throughput(Throughput::Bytes(body.len() as u64));
    group.bench_function("json-rpc, facts of a stream", |b| {
        b.iter(|| digest::exchange(&context, black_box(&raw), Vantage::Client).is_some());
    });

    let text = traffic(1000);
    let exchanges = read(&context, &text);
    assert_eq!(exchanges.len(), 11_600);
    group.throughput(Throughput::Elements(exchanges.len() as u64));
    group.bench_function("reconstruct, exchanges to sessions", |b| {
        b.iter_batched(|| exchanges.clone(), reconstruct::capture, BatchSize::LargeInput);
    });

    let capture = reconstruct::capture(exchanges.clone());
    let thresholds = Thresholds::default();
    assert_eq!(capture.sessions.len(), 1000);
    group.bench_function("rules, all of them", |b| b.iter(|| rules::check(black_box(&capture), &thresholds).len()));
    group.bench_function("audit, reconstruct to settled findings", |b| {
        b.iter_batched(
            || exchanges.clone(),
            |exchanges| audit::judge(audit::captures(exchanges, false), &thresholds).len(),
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

criterion_group!(parts, benches);
criterion_main!(parts);
