//! The document of `show`, schema `sessions/1`: what happened, session by session.
//!
//! Members and their order are a promise (README, "The JSON of show"); they may be added to, never renamed.

mod resolve;
pub mod table;

pub use resolve::sessions;

use crate::{
    audit::{report::Caveat, stamp::Stamp},
    model::{
        Advice, Direction, Era, LegEnd, Next, OpenedBy, Outcome, Reply, RequestState, Resolved, SessionEnd, Transport,
        Verdict,
    },
};
use serde::{Deserialize, Serialize};

/// The name of the schema.
pub const SCHEMA: &str = "sessions/1";

/// What a capture holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sessions {
    /// [`SCHEMA`].
    pub schema: String,
    /// The sessions, in order of their start.
    pub sessions: Vec<Session>,
    /// What the capture does not show.
    pub caveats: Vec<Caveat>,
}

/// One session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its pseudonym.
    pub session: String,
    /// The real session id, where the user asked for real ids.
    pub session_id: Option<String>,
    /// Scheme, authority and path.
    pub endpoint: String,
    /// The transport.
    pub transport: Transport,
    /// The negotiated revision.
    pub era: Era,
    /// What the client calls itself.
    pub client: Option<Implementation>,
    /// What the server calls itself.
    pub server: Option<Implementation>,
    /// When it began.
    pub started: Option<Stamp>,
    /// When it was last heard of.
    pub ended: Option<Stamp>,
    /// Why it ended.
    pub end: SessionEnd,
    /// Its beginning was captured.
    pub complete_from_start: bool,
    /// Its requests in both directions; a repeated one again with the next occurrence.
    pub requests: Vec<Request>,
    /// Its streams.
    pub streams: Vec<Stream>,
    /// Every request that carried `Last-Event-ID`.
    pub resumptions: Vec<Resumption>,
}

/// Name and version that a program gives itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Implementation {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
}

/// A place in a capture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file.
    pub file: String,
    /// Ordinal of the exchange within the file, from 0.
    pub entry: u32,
    /// Ordinal of the SSE block within the body, from 0.
    pub event: Option<u32>,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Its id as JSON text.
    pub id: String,
    /// Who sent it.
    pub direction: Direction,
    /// How many requests of the same id and direction came before it.
    pub occurrence: u32,
    /// Its method.
    pub method: String,
    /// The tool or prompt that it names.
    pub name: Option<String>,
    /// How it stands at the end.
    pub state: RequestState,
    /// Where it was sent.
    pub opened_at: Place,
    /// Every delivery of a terminal response, in order.
    pub terminals: Vec<Terminal>,
}

/// One delivery of a terminal response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terminal {
    /// Result or error.
    pub kind: Reply,
    /// The stream that it came on; none for a JSON answer.
    pub stream: Option<String>,
    /// Where it stands.
    pub at: Place,
    /// An earlier delivery exists.
    pub redelivery: bool,
}

/// One stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// Its label, unique within the session.
    pub stream: String,
    /// What opened it.
    pub opened_by: OpenedBy,
    /// Ids of the requests that it carries answers for.
    pub requests: Vec<String>,
    /// Its connections.
    pub legs: Vec<Leg>,
}

/// What was captured of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BodyState {
    /// From the first byte to the last.
    Complete,
    /// It held nothing.
    Empty,
    /// Its beginning.
    Partial,
    /// Nobody knows what it held.
    NotCaptured,
}

/// One connection of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leg {
    /// The file.
    pub file: String,
    /// Ordinal of the exchange within the file, from 0.
    pub entry: u32,
    /// The cursor that it was resumed with: its pseudonym, or its text where the user asked for real ids.
    pub cursor: Option<String>,
    /// The status that answered it.
    pub status: Option<u16>,
    /// SSE blocks that it delivered.
    pub events: u32,
    /// JSON-RPC messages that it delivered.
    pub messages: u32,
    /// What was captured of its body.
    pub body: BodyState,
    /// How it ended.
    pub end: LegEnd,
}

/// One request that carried `Last-Event-ID`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumption {
    /// The file.
    pub file: String,
    /// Ordinal of the exchange within the file, from 0.
    pub entry: u32,
    /// The cursor: its pseudonym, or its text where the user asked for real ids.
    pub cursor: String,
    /// The stream that is meant.
    pub stream: Option<String>,
    /// How that was found out.
    pub resolved: Resolved,
    /// The status that answered it.
    pub status: Option<u16>,
    /// JSON-RPC messages that the resumed connection delivered.
    pub replayed: u32,
    /// What the guard would have done; none where nobody can know.
    pub guard: Option<Advice>,
    /// How the guard reads the answer.
    pub outcome: Option<Outcome>,
    /// What it was.
    pub verdict: Verdict,
    /// What the client did then.
    pub next: Next,
}
