//! From JSON to message facts: kind, typed id, method, digests, and the few members that rules ask for.

mod detail;
mod progress;

use super::names::Names;
use crate::{
    model::{Detail, Id128, Message, MessageFlags, MessageKind},
    redact::Key,
    wire::json::{Json, Kind, Malformed, Text, canonical},
};
use std::{borrow::Cow, sync::Arc};

/// The method that most of all traffic has.
const PROGRESS: &str = "notifications/progress";

/// What a text held.
pub enum Parsed {
    /// One value.
    One(Message),
    /// A progress notification, of which only the token matters: most of all traffic is progress.
    Progress(Option<u64>),
    /// An array: its members.
    Batch(Vec<Message>),
}

/// Reads messages under one key.
pub struct Reader<'r> {
    /// The key of hashes.
    pub key: &'r Key,
    /// Shared strings.
    pub names: &'r Names,
    /// The text of the session id that goes with the messages; ids that contain it are redacted.
    pub session: Option<&'r str>,
    /// The unredacted `params.name` or `params.uri` of the last request, for comparison with headers.
    pub last_name: Option<Arc<str>>,
    /// How the last progress notification was written: the next one is mostly written alike.
    pub last_progress: progress::Last,
}

/// What is gathered while the members of one object go by.
#[derive(Default)]
struct Members {
    is_progress: bool,
    flags: MessageFlags,
    id: Option<Arc<str>>,
    has_id: bool,
    method: Option<Arc<str>>,
    name: Option<Arc<str>>,
    params: u128,
    arguments: u128,
    result: Option<u128>,
    error: Option<u128>,
    has_version: bool,
    members: u32,
    token: Option<u64>,
    /// Where the first token of a progress notification ends.
    token_end: Option<usize>,
    detail: Detail,
}

impl<'r> Reader<'r> {
    /// A reader that has read nothing.
    pub fn new(key: &'r Key, names: &'r Names, session: Option<&'r str>) -> Self {
        Self { key, names, session, last_name: None, last_progress: progress::Last::default() }
    }

    /// Reads a whole text: one message, or a batch.
    ///
    /// # Errors
    /// Where the text is no JSON.
    pub fn parse(&mut self, text: &[u8]) -> Result<Parsed, Malformed> {
        let mut json = Json::new(text, self.key.sip());
        let parsed = if json.kind()? == Kind::Array {
            let mut batch = Vec::new();
            json.array(|json| {
                match self.message(json)? {
                    Parsed::One(mut message) => {
                        message.flags |= MessageFlags::BATCH;
                        batch.push(message);
                    }
                    Parsed::Progress(token) => batch.push(self.progress(token)),
                    Parsed::Batch(_) => {}
                }
                Ok(0)
            })?;
            Parsed::Batch(batch)
        } else {
            self.message(&mut json)?
        };
        json.end()?;
        Ok(parsed)
    }

    /// Reads one message; JSON that is no object is one of kind `Other`.
    fn message(&mut self, json: &mut Json<'_>) -> Result<Parsed, Malformed> {
        let start = json.offset();
        let mut seen = Members::default();
        if json.kind()? != Kind::Object {
            let digest = json.value()?;
            return Ok(Parsed::One(self.finish(seen, digest, json.offset() - start, MessageKind::Other)));
        }
        json.object(|json, name| {
            seen.members += 1;
            match name.raw {
                b"jsonrpc" => {
                    seen.has_version = json.kind()? == Kind::String && json.clone().text()?.is("2.0");
                    json.value()
                }
                b"id" => self.id(json, &mut seen),
                b"method" if json.kind()? == Kind::String => {
                    let text = json.text()?;
                    seen.is_progress = text.is(PROGRESS);
                    if seen.is_progress {
                        // Progress is digested as bytes, by the caller.
                        json.set_digesting(false);
                    } else {
                        seen.method = Some(self.names.get(&text.to_str()));
                    }
                    Ok(0)
                }
                b"params" if seen.is_progress && json.kind()? == Kind::Object => {
                    json.object(
                        |json, member| {
                            if member.raw == b"progressToken" { self.token(json, &mut seen) } else { json.value() }
                        },
                    )
                }
                b"params" => {
                    seen.params = self.params(json, &mut seen)?;
                    Ok(0)
                }
                b"result" => {
                    let (digest, distinctive) = self.result(json, &mut seen)?;
                    seen.flags.set(MessageFlags::DISTINCTIVE, distinctive);
                    seen.result = Some(digest);
                    Ok(0)
                }
                b"error" => {
                    if json.kind()? == Kind::Object {
                        seen.flags |= MessageFlags::DISTINCTIVE;
                        seen.error = Some(self.error(json, &mut seen)?);
                    } else if json.kind()? == Kind::Null {
                        json.value()?;
                    } else {
                        seen.flags |= MessageFlags::BAD_ERROR;
                        json.value()?;
                    }
                    Ok(0)
                }
                _ => json.value(),
            }
        })?;
        json.set_digesting(true);
        if seen.is_progress {
            if !seen.has_id && seen.result.is_none() && seen.error.is_none() {
                let token = seen.token.zip(seen.token_end).filter(|_| start == 0);
                self.last_progress.keep(json.slice(0, json.offset()), token, self.key.sip());
                return Ok(Parsed::Progress(seen.token));
            }
            seen.method = Some(self.names.get(PROGRESS));
        }
        let kind = match (&seen.method, seen.has_id, seen.result, seen.error) {
            (Some(_), true, ..) => MessageKind::Request,
            (Some(_), false, ..) => MessageKind::Notification,
            (None, _, _, Some(_)) => MessageKind::Error,
            (None, true, Some(_), None) => MessageKind::Response,
            _ => MessageKind::Other,
        };
        let payload = match kind {
            MessageKind::Error => seen.error.unwrap_or_default(),
            MessageKind::Response => seen.result.unwrap_or_default(),
            _ => seen.params,
        };
        seen.flags.set(MessageFlags::EMPTY_OBJECT, seen.members == 0);
        seen.flags.set(MessageFlags::NO_VERSION, !seen.has_version);
        Ok(Parsed::One(self.finish(seen, payload, json.offset() - start, kind)))
    }

    /// A progress notification as a message, where one is wanted.
    pub fn progress(&self, token: Option<u64>) -> Message {
        let seen = Members { method: Some(self.names.get(PROGRESS)), token, ..Members::default() };
        self.finish(seen, 0, 0, MessageKind::Notification)
    }

    fn finish(&self, seen: Members, payload: u128, size: usize, kind: MessageKind) -> Message {
        let detail = (seen.detail != Detail::default()).then(|| Box::new(seen.detail));
        let is_request = kind == MessageKind::Request;
        Message {
            kind,
            flags: seen.flags,
            id: seen.id,
            method: seen.method,
            name: seen.name,
            payload: Id128(payload),
            arguments: Id128(if is_request { seen.arguments.max(1) } else { 0 }),
            token: seen.token,
            size: u32::try_from(size).unwrap_or(u32::MAX),
            detail,
        }
    }

    fn id(&mut self, json: &mut Json<'_>, seen: &mut Members) -> Result<u128, Malformed> {
        seen.has_id = true;
        seen.flags.remove(MessageFlags::NULL_ID | MessageFlags::BAD_ID);
        seen.id = self.typed(json)?;
        match json.kind() {
            _ if seen.id.is_some() => {}
            Ok(Kind::Null) => {
                json.value()?;
                seen.has_id = false;
                seen.flags |= MessageFlags::NULL_ID;
            }
            _ => {
                json.value()?;
                seen.flags |= MessageFlags::BAD_ID;
            }
        }
        Ok(0)
    }

    /// Takes a string or a number as canonical JSON text; leaves anything else where it is.
    fn typed(&mut self, json: &mut Json<'_>) -> Result<Option<Arc<str>>, Malformed> {
        match json.kind()? {
            Kind::Number | Kind::String => Ok(self.canonical(json)?.map(|text| self.names_or_new(&text))),
            _ => Ok(None),
        }
    }

    /// A string or a number as canonical JSON text, redacted where it names the session.
    fn canonical<'a>(&self, json: &mut Json<'a>) -> Result<Option<Cow<'a, str>>, Malformed> {
        if json.kind()? == Kind::Number {
            return Ok(Some(match canonical(json.number()?) {
                Cow::Borrowed(number) => String::from_utf8_lossy(number),
                Cow::Owned(number) => Cow::Owned(String::from_utf8_lossy(&number).into_owned()),
            }));
        }
        let start = json.offset();
        let text = json.text()?;
        let said = text.to_str();
        if self.session.is_some_and(|s| s.len() >= 8 && said.contains(s)) && !self.key.show_ids {
            return Ok(Some(Cow::Owned(format!("\"p_{:016x}\"", self.key.hash(b'p', said.as_bytes())))));
        }
        // Without escapes there is one way only to write it.
        let written = json.slice(start, json.offset()).trim_ascii_start();
        match std::str::from_utf8(written) {
            Ok(written) if !text.escaped => Ok(Some(Cow::Borrowed(written))),
            _ => Ok(serde_json::to_string(&said).ok().map(Cow::Owned)),
        }
    }

    /// Takes a progress token and keeps its hash.
    fn token(&mut self, json: &mut Json<'_>, seen: &mut Members) -> Result<u128, Malformed> {
        let start = json.offset();
        let kind = json.kind()?;
        let digest = json.value()?;
        let text = json.slice(start, json.offset()).trim_ascii();
        if !matches!(kind, Kind::Number | Kind::String) {
            return Ok(digest);
        }
        let mut again = Json::new(text, self.key.sip());
        let token = self.canonical(&mut again)?;
        seen.token = Some(token.map_or(0, |token| self.key.hash(b't', token.as_bytes())));
        seen.token_end.get_or_insert(json.offset());
        Ok(digest)
    }

    /// Small ids repeat in every session and are shared; long ones are mostly unique.
    fn names_or_new(&self, text: &str) -> Arc<str> {
        if text.len() <= 4 { self.names.get(text) } else { text.into() }
    }

    fn hashed(&self, purpose: u8, text: Option<Arc<str>>) -> Option<u64> {
        text.map(|t| self.key.hash(purpose, t.as_bytes()))
    }

    /// Takes a string, or passes over any other value.
    fn string<'a>(&self, json: &mut Json<'a>) -> Result<Option<Text<'a>>, Malformed> {
        if json.kind()? == Kind::String {
            return json.text().map(Some);
        }
        json.value().map(|_| None)
    }
}
