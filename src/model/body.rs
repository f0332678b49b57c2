//! Bodies: what was captured of them, and what an event stream held.

use super::{EventId, Message, Time};
use bitflags::bitflags;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Why a body, or its rest, is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// The recorder does not say why, or its format has no bodies.
    NotRecorded,
    /// The recorder passed the stream through without storing it.
    Streamed,
    /// The recorder stopped at a size limit.
    SizeLimit,
    /// The capture cut packets short (snaplen) or lost them.
    Hole,
    /// The capture, or the file, ended while the body was still arriving.
    CaptureEnd,
    /// A sanitiser removed it.
    Sanitised,
    /// The content coding could not be undone.
    Undecodable,
    /// The connection ended before the body did; what had arrived is there.
    CutOff,
    /// The exchange failed before a body could arrive.
    Failed,
}

/// What was captured of a body. An empty body and one that was not recorded must never be confused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body<T> {
    /// Nobody knows what it held.
    NotCaptured(Missing),
    /// It was captured, and held nothing.
    Empty,
    /// Its beginning was captured.
    Partial(T, Missing),
    /// It was captured from the first byte to the last.
    Complete(T),
}

impl<T> Body<T> {
    /// What was captured, whole or in part.
    pub fn content(&self) -> Option<&T> {
        match self {
            Self::Partial(content, _) | Self::Complete(content) => Some(content),
            Self::NotCaptured(_) | Self::Empty => None,
        }
    }

    /// Captured to its last byte: [`Body::Empty`] or [`Body::Complete`].
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Empty | Self::Complete(_))
    }

    /// A part that should be there is known to be missing from the *capture*, as against cut off on the wire.
    pub fn lacks(&self) -> Option<Missing> {
        match self {
            Self::NotCaptured(why) | Self::Partial(_, why) => Some(*why),
            Self::Empty | Self::Complete(_) => None,
        }
    }
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The client, or what stands on its side of the recorder.
    Client,
    /// The server, or what stands on its side of the recorder.
    Server,
    /// The recorder does not say.
    Unknown,
}

/// How a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// By the rules of its framing: last chunk, content-length, END_STREAM.
    Clean,
    /// Before that, by one side.
    Abrupt(Side),
    /// It had not ended when the capture did.
    Open,
    /// The recorder does not say.
    Unknown,
}

/// What the response body was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// An event stream.
    Events(Box<EventLog>),
    /// One JSON-RPC message, or the members of a batch.
    Messages(Vec<Message>),
    /// Neither.
    Other(OtherKind),
}

/// A body that is neither an event stream nor JSON-RPC, as far as rules ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherKind {
    /// Length in bytes.
    pub size: u64,
    /// It begins like an HTML page.
    pub html: bool,
    /// It is JSON, though no JSON-RPC.
    pub json: bool,
    /// It speaks of a session that is not known (rules.md, unknown-session-not-404, hint words).
    pub session_words: bool,
    /// It says that something is already there or busy.
    pub busy_words: bool,
    /// It says that a session header is missing.
    pub missing_session_words: bool,
}

/// What the `data` of one SSE block was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// No `data` line: nothing is dispatched, the cursor may move.
    #[default]
    None,
    /// `data` with an empty value: priming or keep-alive.
    Empty,
    /// A progress notification; its token is in [`EventLog::tokens`].
    Progress,
    /// Any other JSON-RPC message; it is in [`EventLog::messages`].
    Message,
    /// A batch; its members are in [`EventLog::messages`].
    Batch,
    /// `{}`: a replayed priming event of some stores.
    EmptyObject,
    /// `endpoint`: the legacy transport announces its POST address.
    Endpoint,
    /// Data of an event type that clients do not read as JSON-RPC (`ping`, `prime`, `close`, vendor names).
    Vendor,
    /// As `Vendor`, but JSON-RPC stands in it, kept in [`EventLog::messages`]. Clients ignore it.
    Misnamed,
    /// Data of a `message` event that is no JSON-RPC.
    Undecodable,
}

bitflags! {
    /// Yes-or-no facts of an SSE block.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(transparent)]
    pub struct EventFlags: u16 {
        /// An `id` field with a value stands in the block.
        const HAS_ID = 1;
        /// An `id` field without value: the cursor is reset.
        const RESETS_ID = 1 << 1;
        /// A `retry` field with a valid value; values are in [`EventLog::retries`].
        const HAS_RETRY = 1 << 2;
        /// The event type is `message` or absent.
        const IS_MESSAGE_TYPE = 1 << 3;
        /// The id cannot travel in a header: NUL, non-Latin-1, outer space, or above 4 KiB.
        const UNUSABLE_ID = 1 << 4;
        /// The block holds comments only.
        const COMMENT_ONLY = 1 << 5;
        /// The id is the text of the session id.
        const ID_IS_SESSION = 1 << 6;
        /// The event type is `error`.
        const IS_ERROR_TYPE = 1 << 7;
    }
}

/// One SSE block in 32 bytes. It begins where the previous one ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventFact {
    /// Offset in the decoded body just behind the block's blank line.
    pub end: u32,
    /// Line of the block's first line within the decoded body, from 1.
    pub line: u32,
    #[serde(rename = "id", default, skip_serializing_if = "is_zero")]
    space: u64,
    /// 64-bit digest of a message (method and payload), or of other data; 0 where there is none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub payload: u64,
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    counter: Option<std::num::NonZeroU32>,
    /// Yes-or-no facts.
    #[serde(default, skip_serializing_if = "EventFlags::is_empty")]
    pub flags: EventFlags,
    /// What the data was.
    #[serde(default)]
    pub kind: EventKind,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl EventFact {
    /// A block that ends at `end` and begins on `line`, with its explicit id if it has one.
    pub fn new(end: u32, line: u32, id: Option<EventId>, flags: EventFlags, kind: EventKind, payload: u64) -> Self {
        let counter = id.and_then(EventId::counter).and_then(|c| std::num::NonZeroU32::new(c + 1));
        let flags = if id.is_some() { flags | EventFlags::HAS_ID } else { flags };
        Self { end, line, space: id.map_or(0, |id| id.space), payload, counter, flags, kind }
    }

    /// The same block in a body that has so many bytes and lines before.
    pub fn moved(self, bytes: u32, lines: u32) -> Self {
        Self { end: self.end.saturating_add(bytes), line: self.line.saturating_add(lines), ..self }
    }

    /// The id that stands in this block; an id inherited from an earlier block is not explicit.
    pub fn explicit_id(&self) -> Option<EventId> {
        self.flags.contains(EventFlags::HAS_ID).then(|| EventId::new(self.space, self.counter.map(|c| c.get() - 1)))
    }

    /// What its data tells it from other events by: the digest, and 0 for priming in all its spellings, of which stores
    /// replay one for another.
    pub fn distinction(&self) -> u64 {
        match self.kind {
            EventKind::None | EventKind::Empty | EventKind::EmptyObject => 0,
            _ => self.payload,
        }
    }

    /// It delivers at least one JSON-RPC message to a conforming client.
    pub fn is_message(&self) -> bool {
        matches!(self.kind, EventKind::Progress | EventKind::Message | EventKind::Batch)
    }
}

/// The undispatched rest of a body that ended inside a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tail {
    /// Offset in the decoded body where the block begins.
    pub start: u32,
    /// Offset where the body ends.
    pub end: u32,
    /// Line of the block's first line, from 1.
    pub line: u32,
    /// The id that stands in it; by the standard it never counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<EventId>,
    /// The message that its data would be, where the data is complete JSON-RPC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// It holds data, complete or not (as against only an `id` or a comment).
    pub has_data: bool,
}

/// Everything that one event stream body held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventLog {
    /// The blocks, in order.
    pub events: Vec<EventFact>,
    /// Messages other than progress, each with the ordinal of its event; members of a batch share one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<(u32, Message)>,
    /// Progress tokens (keyed hashes): each holds from its event's ordinal until the next entry.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<(u32, u64)>,
    /// When each block was complete, in order; empty where the recorder keeps no times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<Time>,
    /// `retry` values in milliseconds, each with the ordinal of its event.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retries: Vec<(u32, u64)>,
    /// Keyed hashes of the parts of ids that name a stream, for shapes that have one; without repeats.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<u64>,
    /// Real texts of explicit ids by ordinal; kept only where the user asked for real ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub id_texts: Vec<(u32, Arc<str>)>,
    /// What followed the last blank line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<Box<Tail>>,
    /// How many leading blocks the client has provably received (TCP acknowledgements); none where nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<u32>,
    /// The blocks were rebuilt from a recorder that loses bytes (`--trace-ascii`) or offsets (`_eventSourceMessages`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rebuilt: bool,
    /// Length of the decoded body in bytes.
    pub size: u64,
}

impl EventLog {
    /// The messages of one event other than progress, in order.
    pub fn messages_of(&self, event: u32) -> impl Iterator<Item = &Message> {
        let from = self.messages.partition_point(|(e, _)| *e < event);
        self.messages[from..].iter().take_while(move |(e, _)| *e == event).map(|(_, m)| m)
    }

    /// The progress token of a progress event.
    pub fn token_of(&self, event: u32) -> Option<u64> {
        let at = self.tokens.partition_point(|(e, _)| *e <= event);
        at.checked_sub(1).map(|i| self.tokens[i].1)
    }

    /// The block's range of bytes in the decoded body.
    pub fn range(&self, event: u32) -> std::ops::Range<u32> {
        let i = event as usize;
        let start = i.checked_sub(1).and_then(|p| self.events.get(p)).map_or(0, |e| e.end);
        start..self.events.get(i).map_or(start, |e| e.end)
    }

    /// When the block was complete, if the recorder says.
    pub fn time_of(&self, event: u32) -> Option<Time> {
        self.times.get(event as usize).copied()
    }

    /// The cursor that a client holds after each block: explicit ids stick, an empty `id:` resets.
    pub fn effective_ids(&self) -> impl Iterator<Item = Option<EventId>> {
        self.events.iter().scan(None, |held, event| {
            if event.flags.contains(EventFlags::RESETS_ID) {
                *held = None;
            } else if let Some(id) = event.explicit_id() {
                *held = Some(id);
            }
            Some(*held)
        })
    }

    /// How many JSON-RPC messages it delivers.
    pub fn message_count(&self) -> usize {
        let progress = self.events.iter().filter(|e| e.kind == EventKind::Progress).count();
        progress
            + self
                .messages
                .iter()
                .filter(|(e, _)| self.events.get(*e as usize).is_some_and(EventFact::is_message))
                .count()
    }
}
