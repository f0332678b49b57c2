//! Streams with their legs, and resumptions: what a cursor was sent for and what came of it.

use super::{Cursor, EventId, Time};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What opened a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpenedBy {
    /// A POST with requests: it carries their answers.
    Post,
    /// A GET without cursor: the standalone stream.
    Get,
    /// Only a resumption of it was captured.
    Resume,
}

/// How one connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LegEnd {
    /// By the rules of its framing.
    Clean,
    /// Before that.
    Abrupt,
    /// Not before the capture did.
    Open,
    /// The recorder does not say.
    Unknown,
}

/// One connection of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leg {
    /// Index of the exchange in the run's list.
    pub exchange: u32,
    /// The cursor that it was resumed with.
    pub cursor: Option<EventId>,
    /// The status that answered it.
    pub status: Option<u16>,
    /// How many SSE blocks it delivered.
    pub events: u32,
    /// How many JSON-RPC messages it delivered.
    pub messages: u32,
    /// How it ended.
    pub end: LegEnd,
    /// When it began.
    pub started: Option<Time>,
    /// When it ended, if that is known.
    pub ended: Option<Time>,
}

/// One logical stream: what a POST with requests, or a GET without cursor, opened, over all its connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// A label that is unique within the session: `p` or `g` or `r` and an ordinal.
    pub label: String,
    /// What opened it.
    pub opened_by: OpenedBy,
    /// The requests that it carries answers for (indices in the session).
    pub requests: Vec<u32>,
    /// Its connections, in order.
    pub legs: Vec<Leg>,
}

/// How a cursor was matched with a stream (reconstruction.md, six steps).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resolved {
    /// An event of that stream carried this id.
    Exact,
    /// The form of the id names the stream.
    Format,
    /// What the resumed connection delivered names the stream.
    Content,
    /// It is the only stream that could be meant.
    Temporal,
    /// Several streams carried this id.
    Ambiguous,
    /// Another session issued it.
    OtherSession,
    /// A legacy HTTP+SSE stream issued it (or the reverse).
    Legacy,
    /// Nothing in the capture knows it.
    Unknown,
}

/// What the guard would have done with a resume; the first that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Advice {
    /// No session id goes with the cursor.
    #[serde(rename = "refuse: no session")]
    NoSession,
    /// The request is terminal.
    #[serde(rename = "refuse: terminal")]
    Terminal,
    /// No event of the request or stream had an id.
    #[serde(rename = "refuse: no cursor")]
    NoCursor,
    /// Resume.
    #[serde(rename = "allow")]
    Allow,
}

/// The guard's reading of the answer to a resume, in the seed document's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// 200, and the body is not empty.
    ContinuationValid,
    /// 200 and empty, and the request was terminal before.
    TerminalAlreadyObservedNoAction,
    /// 200 and empty, and the request is not terminal: this proves nothing.
    AmbiguousEmptyReplayEscalateToRetry,
    /// 404 or 409.
    BufferEvictedRetryFromScratch,
    /// Anything else.
    UnexpectedStatus,
}

/// What a resumption was, refined by the protocol; the first that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No answer, or its body was not captured.
    Unknown,
    /// 4xx.
    Rejected,
    /// Not ended, and no message yet.
    Open,
    /// The guard refuses it, or what was delivered belongs elsewhere.
    Invalid,
    /// It continued the stream.
    Valid,
    /// No message, but a new id or, under 2025-11-25, `retry`: the server invites to come again.
    Polling,
    /// It did not.
    Failed,
}

/// What the client did after a resumption; the first that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Next {
    /// It resumed the same stream again.
    ResumedAgain,
    /// The request was answered.
    WentOn,
    /// It sent an equal request again.
    Retried,
    /// It initialized again.
    Reinitialized,
    /// It ended the session.
    Closed,
    /// It used the session for other things and never came back.
    GaveUp,
    /// The capture shows nothing more.
    NothingCaptured,
}

/// One exchange that carried `Last-Event-ID`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumption {
    /// Index of the exchange in the run's list.
    pub exchange: u32,
    /// The cursor.
    pub cursor: Cursor,
    /// The stream that is meant (index in the session).
    pub stream: Option<u32>,
    /// How that was found out.
    pub resolved: Resolved,
    /// The session and stream that own the cursor, where another session does (indices in the run and in that session).
    pub owner: Option<(u32, u32)>,
    /// The status that answered it.
    pub status: Option<u16>,
    /// JSON-RPC messages that the resumed connection delivered.
    pub replayed: u32,
    /// The answers among them: request, and which of its deliveries (indices in the session).
    pub answers: Vec<(u32, u32)>,
    /// What the guard would have done; none where nobody can know.
    pub guard: Option<Advice>,
    /// How the guard reads the answer; none where there was none or its body was not captured.
    pub outcome: Option<Outcome>,
    /// What it was.
    pub verdict: Verdict,
    /// What the client did then.
    pub next: Next,
}

macro_rules! shown_as_serialised {
    ($($name:ty),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.serialize(f)
            }
        }
    )*};
}

shown_as_serialised!(OpenedBy, LegEnd, Resolved, Advice, Outcome, Verdict, Next);
