//! Entries to be read, and how to read them.

use lastevent::{
    capture::{
        Context, FileFacts, Limits, ReadError,
        digest::Names,
        har::{self, Options},
    },
    model::{Content, EventLog, Exchange, Vantage},
    redact::Key,
};
use serde_json::{Value, json};
use std::sync::atomic::AtomicU64;

pub const STREAM: &str = "text/event-stream";
pub const EVENT: &str = "id: a1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";
pub const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}"#;
/// 2026-03-02T09:00:00Z in microseconds.
pub const NINE: i64 = 1_772_442_000_000_000;

pub fn with<T>(limits: Limits, vantage: Option<Vantage>, then: impl FnOnce(&Context<'_>) -> T) -> T {
    let (key, names, consumed) = (Key::new(None, true), Names::default(), AtomicU64::new(0));
    then(&Context { key: &key, limits, names: &names, consumed: &consumed, vantage })
}

pub fn read_blocks(text: &[u8], block: usize) -> Result<FileFacts, ReadError> {
    let options = Options { block, ..Options::default() };
    with(Limits::default(), None, |context| har::read_with(&mut &*text, context, &options))
}

pub fn read_bytes(text: &[u8]) -> Result<FileFacts, ReadError> {
    with(Limits::default(), None, |context| har::read(&mut &*text, context))
}

pub fn har(creator: &str, entries: &[Value]) -> Value {
    json!({"log": {"version": "1.2", "creator": {"name": creator, "version": "9.1"}, "entries": entries}})
}

pub fn read(creator: &str, entries: &[Value]) -> FileFacts {
    read_bytes(har(creator, entries).to_string().as_bytes()).unwrap()
}

/// A call that was answered by an event stream, with changes: members by their JSON pointer.
pub fn entry(changes: &[(&str, Value)]) -> Value {
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
pub fn gone() -> Value {
    json!("\0")
}

pub fn one(creator: &str, changes: &[(&str, Value)]) -> Exchange {
    let facts = read(creator, &[entry(changes)]);
    assert_eq!((facts.entries, facts.exchanges.len()), (1, 1), "{:?}", facts.caveats);
    facts.exchanges.into_iter().next().unwrap()
}

pub fn log(exchange: &Exchange) -> &EventLog {
    match exchange.response.content() {
        Some(Content::Events(log)) => log,
        other => panic!("no event stream: {other:?}"),
    }
}

pub fn empty_stream(changes: &[(&str, Value)]) -> Vec<(&'static str, Value)> {
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
