//! How fast a HAR is cut, scanned, unescaped and read, beside serde_json on the same text.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lastevent::{
    capture::{Context, Limits, digest::Names, har},
    redact::Key,
    wire::har_split::{Buffer, Scanner, last_boundary},
};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::json;
use std::{borrow::Cow, fmt, hint::black_box, sync::atomic::AtomicU64, time::Duration};

/// A HAR as Chrome writes it: 4000 calls, answered by streams of a few kilobytes, among 800 scripts.
fn document() -> String {
    let header = |(name, value): &(&str, String)| json!({"name": name, "value": value});
    let entries: Vec<_> = (0..4800)
        .map(|i| {
            let is_call = i % 6 != 5;
            let result = json!({"content": [{"type": "text", "text": json!({"row": i, "note": "a\nb"}).to_string()}]});
            let events: String = (0..12)
                .map(|n| json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": n}}))
                .chain([json!({"jsonrpc": "2.0", "id": i, "result": result})])
                .enumerate()
                .map(|(n, message)| format!("event: message\nid: s{i}_{n}\ndata: {message}\n\n"))
                .collect();
            let call = json!({"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "rows"}}).to_string();
            let (kind, text) = match is_call {
                true => ("text/event-stream", events),
                false => ("application/javascript", "export const a = \"b\";\n".repeat(100)),
            };
            let headers: Vec<_> = (0..14)
                .map(|n| ("x-header", format!("value {n}")))
                .chain([("accept", "application/json, text/event-stream".into()), ("mcp-session-id", format!("s{}", i / 20))])
                .collect();
            json!({
                "_initiator": {"type": "script", "stack": {"callFrames": [{"functionName": "send", "url": "https://a.test/i.js"}]}},
                "request": {
                    "method": if is_call { "POST" } else { "GET" }, "url": "https://a.test/mcp",
                    "headers": if is_call { headers.iter().map(header).collect::<Vec<_>>() } else { Vec::new() },
                    "postData": {"mimeType": "application/json", "text": call}
                },
                "response": {
                    "status": 200, "headers": [header(&("content-type", kind.into()))],
                    "content": {"size": text.len(), "mimeType": kind, "text": text}
                },
                "startedDateTime": "2026-03-02T09:00:00.000Z", "time": 10.5,
                "timings": {"send": 0.1, "wait": 5.0, "receive": 5.4}
            })
        })
        .collect();
    format!("{:#}", json!({"log": {"version": "1.2", "creator": {"name": "WebInspector"}, "entries": entries}}))
}

/// The members that matter, as serde_json borrows or unescapes them.
#[derive(Deserialize)]
struct Document<'t> {
    #[serde(borrow)]
    log: Log<'t>,
}

#[derive(Deserialize)]
struct Log<'t> {
    #[serde(borrow)]
    entries: Streamed<'t>,
}

/// Entries that are dropped as soon as they are read, and the bytes of their bodies.
struct Streamed<'t>(usize, std::marker::PhantomData<&'t ()>);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'t> {
    #[serde(borrow)]
    request: Half<'t>,
    #[serde(borrow)]
    response: Half<'t>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Half<'t> {
    #[serde(borrow)]
    headers: Vec<Header<'t>>,
    #[serde(borrow, alias = "postData")]
    content: Option<Content<'t>>,
}

#[derive(Deserialize)]
struct Header<'t> {
    #[serde(borrow)]
    name: Cow<'t, str>,
    #[serde(borrow)]
    value: Cow<'t, str>,
}

#[derive(Deserialize)]
struct Content<'t> {
    #[serde(borrow)]
    text: Cow<'t, str>,
}

impl<'t, 'de: 't> Deserialize<'de> for Streamed<'t> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = usize;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("entries")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<usize, A::Error> {
                let mut bytes = 0;
                while let Some(entry) = seq.next_element::<Entry<'de>>()? {
                    for half in [&entry.request, &entry.response] {
                        bytes += half.content.as_ref().map_or(0, |content| content.text.len());
                        bytes += half.headers.iter().map(|h| h.name.len() + h.value.len()).sum::<usize>();
                    }
                }
                Ok(bytes)
            }
        }
        from.deserialize_seq(Entries).map(|bytes| Self(bytes, std::marker::PhantomData))
    }
}

fn benches(criterion: &mut Criterion) {
    let document = document();
    let text = document.as_bytes();
    assert!(serde_json::from_slice::<Document<'_>>(text).is_ok_and(|d| d.log.entries.0 > text.len() / 3));
    let mut group = criterion.benchmark_group("har");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(20);
    group.warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));

    group.bench_function("split", |b| {
        b.iter(|| text.chunks(1 << 20).filter_map(|block| last_boundary(black_box(block))).count());
    });
    group.bench_function("scan", |b| b.iter(|| Scanner::new(black_box(text), 0).skip().is_ok()));

    let body = serde_json::to_string(&document).unwrap_or_default();
    let mut buffer = Buffer::default();
    group.bench_function("unescape", |b| {
        b.iter(|| {
            buffer.clear();
            Scanner::new(black_box(body.as_bytes()), 0).string_into(&mut buffer, usize::MAX).is_ok()
        });
    });

    let (key, names, consumed) = (Key::new(None, false), Names::default(), AtomicU64::new(0));
    let context = Context { key: &key, limits: Limits::default(), names: &names, consumed: &consumed, vantage: None };
    group.bench_function("read", |b| b.iter(|| har::read(&mut black_box(text), &context).map_or(0, |f| f.entries)));

    group.bench_function("serde_json, everything ignored", |b| {
        b.iter(|| serde_json::from_slice::<IgnoredAny>(black_box(text)).is_ok());
    });
    group.bench_function("serde_json, entry by entry", |b| {
        b.iter(|| serde_json::from_slice::<Document<'_>>(black_box(text)).map_or(0, |d| d.log.entries.0));
    });
    group.finish();
}

criterion_group!(har, benches);
criterion_main!(har);
