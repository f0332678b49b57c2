//! JSON-RPC messages, one a line, without anything that says who sent them.

use super::Line;
use crate::{
    capture::{RawBody, RawExchange},
    model::{End, Time},
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{borrow::Cow, collections::HashMap};

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sender {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// The members that tell a message's kind.
#[derive(Deserialize)]
struct Head<'m> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'m RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'m, str>>,
    #[serde(borrow, default)]
    id: Option<&'m RawValue>,
    #[serde(borrow, default)]
    result: Option<&'m RawValue>,
    #[serde(borrow, default)]
    error: Option<&'m RawValue>,
}

/// Requests that only servers send.
const SERVER_METHODS: [&str; 12] = [
    "sampling/createMessage",
    "elicitation/create",
    "roots/list",
    "notifications/progress",
    "notifications/message",
    "notifications/resources/updated",
    "notifications/resources/list_changed",
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/elicitation/complete",
    "notifications/tasks/status",
    "notifications/subscriptions/acknowledged",
];

/// The most requests whose answers are awaited.
const MOST_AWAITED: usize = 65_536;

/// What was said so far, as far as it tells who says what comes next.
#[derive(Default)]
pub struct Talk {
    /// How many requests with an id await an answer, by their sender.
    awaited: HashMap<(Sender, Box<str>), u32>,
}

impl Talk {
    /// Who sent a message: clients send what only servers do not, servers answer, unless the only request of that id
    /// is the server's own.
    fn sender(&mut self, head: &Head<'_>) -> Sender {
        match &head.method {
            Some(method) => {
                let sender = if SERVER_METHODS.contains(&&**method) { Sender::Server } else { Sender::Client };
                if let Some(id) = head.id.filter(|_| self.awaited.len() < MOST_AWAITED) {
                    *self.awaited.entry((sender, id.get().into())).or_default() += 1;
                }
                sender
            }
            None => {
                let id = head.id.map_or("null", RawValue::get);
                [Sender::Client, Sender::Server].into_iter().find(|asker| self.take(*asker, id)).map_or(
                    Sender::Server,
                    |asker| match asker {
                        Sender::Client => Sender::Server,
                        Sender::Server => Sender::Client,
                    },
                )
            }
        }
    }

    fn take(&mut self, asker: Sender, id: &str) -> bool {
        let key = (asker, Box::from(id));
        let Some(count) = self.awaited.get_mut(&key) else { return false };
        *count -= 1;
        if *count == 0 {
            self.awaited.remove(&key);
        }
        true
    }
}

/// Reads one line: a message, or an array of them.
pub fn line(text: &[u8], talk: &mut Talk, sink: &mut dyn FnMut(&mut RawExchange<'_>)) -> Line {
    if text.starts_with(b"[") {
        let Ok(members) = serde_json::from_slice::<Vec<&RawValue>>(text) else { return Line::Foreign };
        let senders: Option<Vec<Sender>> =
            members.iter().map(|m| Some(talk.sender(&parse(m.get().as_bytes())?))).collect();
        let Some(senders) = senders.filter(|s| !s.is_empty()) else { return Line::Foreign };
        // A batch has one sender; other arrays are logs.
        if senders.windows(2).all(|w| w[0] == w[1]) {
            sink(&mut exchange(text, senders[0], "jsonrpc:", None));
        } else {
            for (member, sender) in members.iter().zip(senders) {
                sink(&mut exchange(member.get().as_bytes(), sender, "jsonrpc:", None));
            }
        }
        return Line::Read;
    }
    match parse(text) {
        Some(head) => {
            sink(&mut exchange(text, talk.sender(&head), "jsonrpc:", None));
            Line::Read
        }
        None => Line::Foreign,
    }
}

/// Who sent the message that `text` is; none where it is no message.
pub fn sender(text: &[u8], talk: &mut Talk) -> Option<Sender> {
    parse(text).map(|head| talk.sender(&head))
}

fn parse(text: &[u8]) -> Option<Head<'_>> {
    let head: Head<'_> = serde_json::from_slice(text).ok()?;
    let speaks = head.jsonrpc.is_some() || head.id.is_some();
    (speaks && (head.method.is_some() || head.result.is_some() || head.error.is_some())).then_some(head)
}

/// A message as an exchange of which only one half exists.
pub fn exchange<'m>(
    text: &'m [u8],
    sender: Sender,
    url: impl Into<Cow<'m, str>>,
    time: Option<Time>,
) -> RawExchange<'m> {
    let mut raw = RawExchange::new("MESSAGE", url);
    let json = || vec![("content-type".into(), "application/json".into())];
    raw.no_headers = true;
    raw.sent = time;
    match sender {
        Sender::Client => {
            raw.request_headers = json();
            raw.request_body = RawBody::Whole(text.into());
        }
        Sender::Server => {
            raw.status = Some(200);
            raw.response_headers = json();
            raw.response_body = RawBody::Whole(text.into());
            (raw.head, raw.ended, raw.end) = (time, time, End::Clean);
        }
    }
    raw
}
