//! Fiddler's session archives: raw messages of both sides, and an XML file of times and flags beside them.

use super::{
    Context, FileFacts, RawBody, RawExchange, ReadError,
    container::{Trouble, Zip},
    encoded, message_body,
};
use crate::{
    model::{End, Missing, Side, Time, Vantage},
    wire::{
        http1::{Framing, RequestHead, ResponseHead, head_end},
        timestamp::Timestamp,
    },
};
use std::{collections::BTreeMap, io::Read};

/// Reads the sessions of an archive.
///
/// # Errors
/// No session can be read.
pub fn read(zip: &mut Zip, context: &Context<'_>) -> Result<FileFacts, ReadError> {
    let mut facts = FileFacts { vantage: Vantage::Proxy, ..FileFacts::default() };
    exchanges(context, zip, &mut facts, &mut |facts, raw| facts.push(context, raw))?;
    Ok(facts)
}

fn exchanges(
    context: &Context<'_>,
    zip: &mut Zip,
    facts: &mut FileFacts,
    sink: &mut dyn FnMut(&mut FileFacts, &RawExchange<'_>),
) -> Result<(), ReadError> {
    let comment = String::from_utf8_lossy(zip.comment()).into_owned();
    facts.recorder = comment.split_once(" Session Archive").map(|(name, _)| name.trim().to_owned());
    let (mut entry, mut failed) = (0_u32, None);
    for parts in sessions(zip).into_values() {
        let mut part = |index: Option<usize>| -> Result<Vec<u8>, ReadError> {
            let Some(index) = index else { return Ok(Vec::new()) };
            let trouble = Trouble::default();
            let mut bytes = Vec::new();
            zip.member(index, "the session", &trouble)?.take(context.limits.body).read_to_end(&mut bytes)?;
            trouble.account(facts);
            Ok(bytes)
        };
        let read = part(parts.client).and_then(|client| Ok((client, part(parts.server)?, part(parts.meta)?)));
        let (client, server, meta) = match read {
            Ok(read) => read,
            Err(error) => {
                failed.get_or_insert(error);
                continue;
            }
        };
        let Some(mut raw) = exchange(&client, &server, &meta, context) else { continue };
        raw.at.entry = entry;
        entry = entry.saturating_add(1);
        sink(facts, &raw);
    }
    match failed {
        Some(error) if entry == 0 => Err(error),
        Some(error) => {
            facts.caveat("input-truncated", format!("a session of the archive could not be read: {error}"));
            Ok(())
        }
        None => Ok(()),
    }
}

/// Indices of the files of one session.
#[derive(Default)]
struct Parts {
    client: Option<usize>,
    server: Option<usize>,
    meta: Option<usize>,
}

/// By session number.
fn sessions(zip: &Zip) -> BTreeMap<u64, Parts> {
    let mut sessions: BTreeMap<u64, Parts> = BTreeMap::new();
    for (index, name) in zip.names() {
        let Some((number, kind)) = name.strip_prefix("raw/").and_then(|n| n.split_once('_')) else { continue };
        let Ok(number) = number.parse() else { continue };
        let parts = sessions.entry(number).or_default();
        match kind {
            "c.txt" => parts.client = Some(index),
            "s.txt" => parts.server = Some(index),
            "m.xml" => parts.meta = Some(index),
            _ => {}
        }
    }
    sessions
}

fn exchange<'a>(client: &'a [u8], server: &'a [u8], meta: &[u8], context: &Context<'_>) -> Option<RawExchange<'a>> {
    let head = RequestHead::read(client)?;
    if head.method.eq_ignore_ascii_case("CONNECT") {
        return None;
    }
    let (framing, method) = (Framing::of_request(&head), head.method.clone());
    let mut raw = RawExchange::new(head.method, head.target);
    raw.vantage = Vantage::Proxy;
    raw.request_headers = head.fields;
    let body = behind_head(client);
    // Without a declared length Fiddler still writes what was sent.
    let framing = if framing == Framing::None && !body.is_empty() { Framing::Close } else { framing };
    let (body, _) = message_body::unframed(body, framing);
    (raw.request_body, _) = encoded::decoded(&raw.request_headers, body, Vec::new(), &context.limits);

    let meta = Meta(String::from_utf8_lossy(meta).into_owned());
    raw.sent = meta.time(&["ClientBeginRequest", "GotRequestHeaders", "ClientConnected"]);
    peers(&mut raw, &meta, context);
    let Some(head) = ResponseHead::read(server).filter(|h| h.status >= 200) else { return Some(raw) };
    raw.head = meta.time(&["GotResponseHeaders", "ServerBeginResponse", "FiddlerGotResponseHeaders"]);
    raw.ended = meta.time(&["ServerDoneResponse", "ClientDoneResponse"]);
    raw.status = Some(head.status);
    let framing = Framing::of_response(&method, &head);
    raw.response_headers = head.fields;
    let (body, complete) = message_body::unframed(behind_head(server), framing);
    raw.end = match complete {
        Some(true) => End::Clean,
        Some(false) => End::Abrupt(Side::Unknown),
        None => End::Unknown,
    };
    raw.response_body = if body.bytes().is_empty() && meta.transferred() {
        // The body was dropped to save memory, or went through as a stream.
        RawBody::NotCaptured(Missing::NotRecorded)
    } else {
        body
    };
    (raw.response_body, _) = encoded::decoded(&raw.response_headers, raw.response_body, Vec::new(), &context.limits);
    Some(raw)
}

fn behind_head(message: &[u8]) -> &[u8] {
    head_end(message, 0).and_then(|end| message.get(end..)).unwrap_or_default()
}

/// The XML file of a session, of which attributes are all that matters.
struct Meta(String);

impl Meta {
    fn attribute(&self, name: &str) -> Option<&str> {
        let at = self.0.find(&format!(" {name}=\""))? + name.len() + 3;
        self.0[at..].split('"').next()
    }

    /// `<SessionFlag N="x-clientip" V="127.0.0.1" />`
    fn flag(&self, name: &str) -> Option<&str> {
        let at = self.0.find(&format!("N=\"{name}\""))?;
        self.0[at..].split('>').next()?.split("V=\"").nth(1)?.split('"').next()
    }

    /// The first of several times that happened: year 1 stands for never.
    fn time(&self, names: &[&str]) -> Option<Time> {
        names.iter().find_map(|name| {
            let value = self.attribute(name).filter(|v| !v.starts_with("0001-"))?;
            Timestamp::parse(value.as_bytes()).map(|t| Time(t.micros))
        })
    }

    /// A body came over the wire.
    fn transferred(&self) -> bool {
        self.flag("x-responsebodytransferlength").is_some_and(|l| l.bytes().any(|b| (b'1'..=b'9').contains(&b)))
    }
}

fn peers(raw: &mut RawExchange<'_>, meta: &Meta, context: &Context<'_>) {
    let hash = |text: &str| context.key.hash(b'a', text.as_bytes());
    let client = meta.flag("x-clientip").map(|ip| ip.trim_start_matches("::ffff:"));
    raw.at.client = client.map(hash);
    raw.at.connection = client.zip(meta.flag("x-clientport")).map(|(ip, port)| hash(&format!("{ip}:{port}")));
}

#[cfg(test)]
mod tests;
