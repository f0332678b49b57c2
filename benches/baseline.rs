//! The honest baseline: a plain serde_json program that takes the facts of an audit from a HAR, with borrowed data, raw
//! values and nothing else. `compare.sh` times it as a process of its own: `baseline FILE` prints what it counted.

use memchr::memchr;
use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use std::{
    borrow::Cow,
    collections::HashSet,
    fmt,
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    marker::PhantomData,
};

#[derive(Deserialize)]
struct Document {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Facts,
}

#[derive(Deserialize)]
struct Entry<'t> {
    #[serde(borrow, rename = "startedDateTime")]
    started: &'t RawValue,
    #[serde(borrow)]
    request: Half<'t>,
    #[serde(borrow)]
    response: Half<'t>,
}

#[derive(Deserialize)]
struct Half<'t> {
    #[serde(borrow, default)]
    method: Cow<'t, str>,
    #[serde(borrow, default)]
    url: Cow<'t, str>,
    #[serde(default)]
    status: u16,
    #[serde(borrow)]
    headers: Headers<'t>,
    #[serde(borrow, alias = "postData")]
    content: Option<Text<'t>>,
}

#[derive(Deserialize)]
struct Text<'t> {
    #[serde(borrow)]
    text: Option<&'t RawValue>,
}

#[derive(Deserialize)]
struct Header<'t> {
    #[serde(borrow)]
    name: Cow<'t, str>,
    #[serde(borrow)]
    value: &'t RawValue,
}

/// The headers that matter, as they are written.
#[derive(Default)]
struct Headers<'t> {
    session: Option<&'t str>,
    cursor: Option<&'t str>,
    accept: Option<&'t str>,
    kind: Option<&'t str>,
}

#[derive(Deserialize)]
struct Message<'t> {
    #[serde(borrow)]
    id: Option<&'t RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'t, str>>,
    #[serde(borrow)]
    params: Option<&'t RawValue>,
    #[serde(borrow)]
    result: Option<&'t RawValue>,
    #[serde(borrow)]
    error: Option<&'t RawValue>,
}

#[derive(Deserialize)]
struct Params<'t> {
    #[serde(borrow)]
    name: Option<Cow<'t, str>>,
}

/// What is kept: counts, and for every exchange and event a few numbers.
#[derive(Debug, Default)]
struct Facts {
    entries: usize,
    resumes: usize,
    requests: usize,
    notifications: usize,
    responses: usize,
    malformed: usize,
    sessions: HashSet<u64>,
    tools: HashSet<u64>,
    /// Start, endpoint, session, cursor and status.
    exchanges: Vec<([u64; 4], u16)>,
    /// The hash of the id, and of the message's own id, method and payload.
    events: Vec<[u64; 4]>,
}

fn hash(bytes: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(bytes)
}

impl Facts {
    fn entry<'t>(&mut self, entry: &Entry<'t>) {
        self.entries += 1;
        let (request, response) = (&entry.request, &entry.response);
        let has = |header: Option<&str>, part: &str| header.is_some_and(|value| value.contains(part));
        let is_stream = has(response.headers.kind, "event-stream");
        let is_mcp = match &*request.method {
            "POST" => is_stream || has(response.headers.kind, "json") || has(request.headers.kind, "json"),
            "GET" => is_stream || has(request.headers.accept, "event-stream") || request.headers.cursor.is_some(),
            method => method == "DELETE" && request.headers.session.is_some(),
        };
        if !is_mcp {
            return;
        }
        let session = request.headers.session.or(response.headers.session).map_or(0, hash);
        self.sessions.insert(session);
        self.resumes += usize::from(request.headers.cursor.is_some());
        let cursor = request.headers.cursor.map_or(0, hash);
        let numbers = [hash(entry.started.get()), hash(&request.url), session, cursor];
        self.exchanges.push((numbers, response.status));
        let text = |half: &Half<'t>| half.content.as_ref().and_then(|body| body.text);
        if let Some(text) = text(request) {
            unescaped(text, |body| self.message("", body));
        }
        if let Some(text) = text(response) {
            unescaped(text, |body| if is_stream { self.stream(body) } else { self.message("", body) });
        }
    }

    fn stream(&mut self, mut rest: &str) {
        let (mut id, mut data, mut joined) = ("", None::<&str>, String::new());
        while let Some(end) = memchr(b'\n', rest.as_bytes()) {
            let line = rest[..end].strip_suffix('\r').unwrap_or(&rest[..end]);
            rest = &rest[end + 1..];
            if line.is_empty() {
                if let Some(data) = data.take() {
                    self.message(id, if joined.is_empty() { data } else { &joined });
                }
                joined.clear();
            } else if let Some(value) = line.strip_prefix("data:") {
                let value = value.strip_prefix(' ').unwrap_or(value);
                if let Some(first) = data {
                    let start = if joined.is_empty() { first } else { "" };
                    joined.extend([start, "\n", value]);
                } else {
                    data = Some(value);
                }
            } else if let Some(value) = line.strip_prefix("id:") {
                id = value.strip_prefix(' ').unwrap_or(value);
            }
        }
    }

    fn message(&mut self, event: &str, text: &str) {
        let Ok(message) = serde_json::from_str::<Message<'_>>(text) else {
            self.malformed += usize::from(!text.is_empty());
            return;
        };
        let payload = message.params.or(message.result).or(message.error).map_or(0, |raw| hash(raw.get()));
        match (&message.id, &message.method) {
            (Some(_), Some(_)) => {
                self.requests += 1;
                let params = message.params.and_then(|raw| serde_json::from_str::<Params<'_>>(raw.get()).ok());
                self.tools.extend(params.and_then(|params| params.name).map(|name| hash(&name)));
            }
            (None, Some(_)) => self.notifications += 1,
            _ => self.responses += 1,
        }
        let id = message.id.map_or(0, |raw| hash(raw.get()));
        self.events.push([hash(event), id, message.method.as_deref().map_or(0, hash), payload]);
    }
}

/// Looks at the text of a JSON string; nothing is copied but what is escaped.
fn unescaped(raw: &RawValue, look: impl FnOnce(&str)) {
    struct Look<F>(F);
    impl<F: FnOnce(&str)> Visitor<'_> for Look<F> {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
            (self.0)(text);
            Ok(())
        }
    }
    let _ = serde_json::Deserializer::from_str(raw.get()).deserialize_str(Look(look));
}

/// Makes a value of the elements of a list, one at a time.
struct Fold<T, E, F>(T, F, PhantomData<E>);

impl<'de, T, E: Deserialize<'de>, F: FnMut(&mut T, E)> Visitor<'de> for Fold<T, E, F> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<T, A::Error> {
        while let Some(element) = list.next_element()? {
            (self.1)(&mut self.0, element);
        }
        Ok(self.0)
    }
}

impl<'de> Deserialize<'de> for Facts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let entry = |facts: &mut Self, entry: Entry<'de>| facts.entry(&entry);
        from.deserialize_seq(Fold(Self::default(), entry, PhantomData))
    }
}

impl<'t, 'de: 't> Deserialize<'de> for Headers<'t> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let header = |headers: &mut Self, header: Header<'de>| match &*header.name {
            "mcp-session-id" => headers.session = Some(header.value.get()),
            "last-event-id" => headers.cursor = Some(header.value.get()),
            "accept" => headers.accept = Some(header.value.get()),
            "content-type" => headers.kind = Some(header.value.get()),
            _ => {}
        };
        from.deserialize_seq(Fold(Self::default(), header, PhantomData))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `cargo bench` gives options of its own, and no file.
    let Some(path) = std::env::args().skip(1).find(|word| !word.starts_with('-')) else {
        println!("baseline FILE.har: compare.sh times it");
        return Ok(());
    };
    let text = std::fs::read_to_string(path)?;
    let facts = serde_json::from_str::<Document>(&text)?.log.entries;
    println!("entries {}, of MCP {}, resumes {}", facts.entries, facts.exchanges.len(), facts.resumes);
    println!("sessions {}, tools {}, messages {}", facts.sessions.len(), facts.tools.len(), facts.events.len());
    println!("requests {}, notifications {}", facts.requests, facts.notifications);
    println!("responses {}, malformed {}", facts.responses, facts.malformed);
    Ok(())
}
