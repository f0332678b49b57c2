//! Readers under test: a context for them, and what they hand over, kept.

use super::{Context, FileFacts, Headers, Limits, RawBody, RawExchange, ReadError, digest};
use crate::redact::Key;
use std::{borrow::Cow, io::Cursor, sync::atomic::AtomicU64};

/// What a reader's inner function looks like.
pub type Reader = dyn Fn(
    &Context<'_>,
    &mut super::Bytes<'_>,
    &mut FileFacts,
    &mut dyn FnMut(&mut FileFacts, &RawExchange<'_>),
) -> Result<(), ReadError>;

/// Everything that a reader made of some bytes.
pub struct Outcome {
    pub exchanges: Vec<RawExchange<'static>>,
    pub facts: FileFacts,
    pub result: Result<(), ReadError>,
}

impl Outcome {
    /// Names of the caveats, with their counts.
    pub fn caveats(&self) -> Vec<(&'static str, u64)> {
        self.facts.caveats.iter().map(|(name, c)| (*name, c.count)).collect()
    }
}

/// Runs a reader with the default limits.
pub fn read(reader: &Reader, bytes: &[u8]) -> Outcome {
    read_within(reader, bytes, Limits::default())
}

/// Runs a reader.
pub fn read_within(reader: &Reader, bytes: &[u8], limits: Limits) -> Outcome {
    let (key, names, consumed) = (Key::new(None, false), digest::Names::default(), AtomicU64::new(0));
    let context = Context { key: &key, limits, names: &names, consumed: &consumed, vantage: None };
    let (mut facts, mut exchanges) = (FileFacts::default(), Vec::new());
    let result = reader(&context, &mut Cursor::new(bytes), &mut facts, &mut |_, raw| exchanges.push(owned(raw)));
    Outcome { exchanges, facts, result }
}

/// Cuts and flips bytes as a damaged disk would, and reads what is left; what matters is that it returns.
pub fn survives(reader: &Reader, bytes: &[u8], cut: usize, flips: &[(usize, u8)]) {
    let mut bytes = bytes[..cut % (bytes.len() + 1)].to_vec();
    for (at, with) in flips {
        let length = bytes.len().max(1);
        if let Some(byte) = bytes.get_mut(at % length) {
            *byte ^= with;
        }
    }
    let outcome = read(reader, &bytes);
    for exchange in &outcome.exchanges {
        let size = exchange.response_body.bytes().len() as u64;
        assert!(exchange.marks.iter().all(|(at, _)| *at <= size));
        assert!(exchange.marks.windows(2).all(|w| w[0].0 <= w[1].0));
    }
}

/// A file of `testdata/`.
pub fn testdata(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The files of a folder of the corpus; none where `LASTEVENT_CORPUS` does not name it.
pub fn corpus(folder: &str) -> Vec<(String, Vec<u8>)> {
    let Some(corpus) = std::env::var_os("LASTEVENT_CORPUS") else {
        eprintln!("skipped: LASTEVENT_CORPUS is not set");
        return Vec::new();
    };
    let folder = std::path::Path::new(&corpus).join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("a folder of the corpus").flatten().collect();
    files.sort_by_key(std::fs::DirEntry::file_name);
    files
        .into_iter()
        .map(|f| (f.file_name().to_string_lossy().into_owned(), std::fs::read(f.path()).expect("a readable file")))
        .collect()
}

/// An exchange that outlives its file.
pub fn owned(raw: &RawExchange<'_>) -> RawExchange<'static> {
    let text = |t: &Cow<'_, str>| Cow::Owned(t.clone().into_owned());
    let list = |h: &Headers<'_>| h.iter().map(|(n, v)| (text(n), text(v))).collect();
    let body = |b: &RawBody<'_>| match b {
        RawBody::NotCaptured(why) => RawBody::NotCaptured(*why),
        RawBody::Whole(bytes) => RawBody::Whole(Cow::Owned(bytes.to_vec())),
        RawBody::Cut(bytes, why) => RawBody::Cut(Cow::Owned(bytes.to_vec()), *why),
    };
    RawExchange {
        at: raw.at.clone(),
        vantage: raw.vantage,
        method: text(&raw.method),
        url: text(&raw.url),
        request_headers: list(&raw.request_headers),
        request_body: body(&raw.request_body),
        status: raw.status,
        response_headers: list(&raw.response_headers),
        response_body: body(&raw.response_body),
        recorded_events: Vec::new(),
        sent: raw.sent,
        head: raw.head,
        ended: raw.ended,
        end: raw.end,
        marks: raw.marks.clone(),
        acknowledged: raw.acknowledged,
        no_headers: raw.no_headers,
        coarse_times: raw.coarse_times,
        rebuilt: raw.rebuilt,
        from_cache: raw.from_cache,
    }
}
