//! What exchanges make up: sessions, their requests in both directions, and why a session ended.

use super::{Direction, Era, Id128, Resumption, SessionId, Stream, Time};
use crate::evidence::Locus;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which transport a session speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Streamable HTTP with sessions, 2025-03-26 to 2025-11-25.
    Streamable,
    /// HTTP+SSE with two endpoints, 2024-11-05.
    LegacySse,
    /// Stateless, 2026-07-28.
    Modern,
    /// JSON-RPC or events recorded without HTTP.
    Messages,
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionEnd {
    /// An accepted DELETE (or one answered 404: it was gone already).
    Deleted,
    /// A 404 that was not taken back by a later acceptance.
    Gone,
    /// The capture ended first.
    CaptureEnd,
    /// A new `initialize` of the same client, after which it was not used.
    Superseded,
}

/// Name and version of a client or server, for display only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Implementation {
    /// The name that it gives itself.
    pub name: Arc<str>,
    /// Its version.
    pub version: Arc<str>,
}

/// How a request stands at the end; the first that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestState {
    /// The POST that carried it was refused (HTTP 400 or above), or sent elsewhere (307, 308).
    Rejected,
    /// A result or an error was delivered for it.
    Answered,
    /// The sender cancelled it.
    Cancelled,
    /// None of these.
    Open,
}

/// What kind of terminal response it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// A result.
    Result,
    /// An error.
    Error,
}

/// Whether the receiver of an event got it (rules.md, Conventions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Receipt {
    /// By viewpoint, by a later cursor, by TCP acknowledgement, or by what it did next.
    Proven,
    /// The connection ended before it was acknowledged.
    Disproven,
    /// Only sending is known.
    Unknown,
}

/// One delivery of a terminal response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Result or error.
    pub kind: Reply,
    /// Digest of the payload.
    pub payload: Id128,
    /// The stream that it was delivered on (index in the session), none for a JSON answer or a client's POST.
    pub stream: Option<u32>,
    /// Where it stands.
    pub at: Locus,
    /// When it arrived, as well as the capture can say.
    pub time: Option<Time>,
    /// The explicit id of its event.
    pub event_id: Option<super::EventId>,
    /// An earlier delivery for the same request exists.
    pub redelivery: bool,
    /// Whether the other side received it.
    pub receipt: Receipt,
}

/// One request: (session, direction, typed id, occurrence).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The id as JSON text.
    pub id: Arc<str>,
    /// Who sent it.
    pub direction: Direction,
    /// How many requests of the same id and direction came before it in this session.
    pub occurrence: u32,
    /// The method.
    pub method: Arc<str>,
    /// The tool or prompt that it names.
    pub name: Option<Arc<str>>,
    /// Digest of the parameters without `_meta`.
    pub arguments: Id128,
    /// Digest of all parameters.
    pub payload: Id128,
    /// Its progress token: keyed hash.
    pub token: Option<u64>,
    /// Where it was sent.
    pub at: Locus,
    /// When it was sent.
    pub time: Option<Time>,
    /// The revision that holds for it.
    pub era: Era,
    /// How it stands at the end.
    pub state: RequestState,
    /// Every delivery of a terminal response, in order.
    pub terminals: Vec<Terminal>,
    /// The HTTP status that refused its POST, or sent it elsewhere.
    pub refused: Option<u16>,
    /// The refusal was the first half of an authentication retry.
    pub auth_retry: bool,
    /// Where and when its sender cancelled it.
    pub cancelled: Option<(Locus, Option<Time>)>,
    /// The stream that its POST opened or that carried it (index in the session).
    pub stream: Option<u32>,
    /// The task that its result created: keyed hash.
    pub task: Option<u64>,
    /// It retries an `input_required` result (2026-07-28).
    pub input_retry: bool,
    /// Running it twice may matter (reconstruction.md, SideEffecting): no read method, no tool known to be harmless.
    pub side_effecting: bool,
}

impl Request {
    /// The first delivery of its answer.
    pub fn first_terminal(&self) -> Option<&Terminal> {
        self.terminals.first()
    }

    /// It is answered, refused or cancelled.
    pub fn is_settled(&self) -> bool {
        self.state != RequestState::Open
    }
}

/// One session: what a session id names, or, without ids, what one client did between two `initialize`.
#[derive(Clone, Debug)]
pub struct Session {
    /// The session id, if there is one.
    pub id: Option<SessionId>,
    /// The hash that names the session in reports: of the id, or of endpoint, client scope and ordinal.
    pub label: u64,
    /// The endpoint (of a legacy session: that of its GET).
    pub endpoint: Arc<str>,
    /// The transport.
    pub transport: Transport,
    /// The negotiated revision; 2025-03-26 where nothing tells.
    pub era: Era,
    /// Hash of what tells its client from others (authorization, address and User-Agent).
    pub client_scope: u64,
    /// What the client calls itself.
    pub client: Option<Implementation>,
    /// What the server calls itself.
    pub server: Option<Implementation>,
    /// When its first exchange was sent.
    pub started: Option<Time>,
    /// When its last exchange ended, or was last heard of.
    pub ended: Option<Time>,
    /// Why it ended.
    pub end: SessionEnd,
    /// The exchange that ended it, for `Deleted` and `Gone`.
    pub ended_by: Option<u32>,
    /// Its `initialize` was captured with its answer (or it needs none).
    pub complete_from_start: bool,
    /// Several `initialize` answers of the capture issued this id (a sanitiser's placeholder).
    pub placeholder: bool,
    /// Indices of its exchanges in the run's list, in order of start.
    pub exchanges: Vec<u32>,
    /// Its requests in both directions, in order.
    pub requests: Vec<Request>,
    /// Its streams, in order of their first leg.
    pub streams: Vec<Stream>,
    /// Every exchange that carried a cursor, in order.
    pub resumptions: Vec<Resumption>,
    /// Responses that answer no request of this session, with their typed id (none: absent or null).
    pub orphans: Vec<(Option<Arc<str>>, Terminal)>,
}
