//! One HTTP exchange as facts: the row that everything above the readers works on.

use super::{Body, Content, Cursor, End, Era, HeaderFacts, Message, SessionId, Time};
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// From where a capture saw the traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Vantage {
    /// In the client: what was captured, the client received.
    Client,
    /// In a proxy between the two.
    Proxy,
    /// At the server.
    Server,
    /// Nobody knows.
    #[default]
    Unknown,
}

impl fmt::Display for Vantage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Client => "client",
            Self::Proxy => "proxy",
            Self::Server => "server",
            Self::Unknown => "unknown",
        })
    }
}

/// The request method, as far as MCP uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Sends messages.
    Post,
    /// Opens or resumes a stream.
    Get,
    /// Ends a session.
    Delete,
    /// JSON-RPC that was recorded without HTTP (mcpsnoop, JSON-RPC lines): message rules only.
    Message,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Post => "POST",
            Self::Get => "GET",
            Self::Delete => "DELETE",
            Self::Message => "MESSAGE",
        })
    }
}

/// Where in its file an exchange stands, and on which wire it was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Address {
    /// Index of the file in the run's list of inputs. In rows: keyed hash of the file's name and first bytes.
    pub source: u32,
    /// Ordinal of the exchange within its file, from 0, in file order.
    pub entry: u32,
    /// Offset of the entry in the unpacked file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Number of the packet that begins the request, from 1, as Wireshark numbers them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<u32>,
    /// Number of the TCP connection, from 0, as Wireshark numbers them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_stream: Option<u32>,
    /// Keyed hash of the server's address and port on this hop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<u64>,
    /// Keyed hash of the client's address (without port).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<u64>,
    /// Keyed hash of the connection (both addresses and ports, and its generation).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection: Option<u64>,
}

/// One HTTP exchange: serde-serialisable facts and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// Where it stands.
    pub at: Address,
    /// From where it was seen.
    #[serde(default)]
    pub vantage: Vantage,
    /// When the request was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Time>,
    /// When the head of the response arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Time>,
    /// When the response ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Time>,
    /// Scheme, authority and path, without query; secret-looking segments are pseudonyms.
    pub endpoint: Arc<str>,
    /// The method.
    pub method: Method,
    /// The status; none where no answer was captured (also status 0 and -1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// `Mcp-Session-Id` of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// `Mcp-Session-Id` of the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issued: Option<SessionId>,
    /// The legacy transport's `sessionId` query parameter, or, on its GET, that of the announced `endpoint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legacy_session: Option<Box<SessionId>>,
    /// For the GET of a legacy stream: the POST endpoint that its first event announced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announces: Option<Arc<str>>,
    /// `Last-Event-ID` of the request; an empty one counts as absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Box<Cursor>>,
    /// What the other headers say.
    #[serde(default)]
    pub headers: HeaderFacts,
    /// The request's JSON-RPC messages; a batch has several. A body that is no JSON-RPC is complete and has none.
    pub request: Body<Vec<Message>>,
    /// The response's body.
    pub response: Body<Content>,
    /// How the response ended.
    pub end: End,
    /// The request body was a JSON array.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub batch: bool,
    /// The request body was sent and is no JSON-RPC.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign_body: bool,
    /// Nanoseconds-exact capture order is known only within one connection; this recorder's times are coarse (1 s).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coarse_times: bool,
}

impl Exchange {
    /// The request's messages, as far as they were captured.
    pub fn messages(&self) -> &[Message] {
        self.request.content().map_or(&[], Vec::as_slice)
    }

    /// The revision that this exchange itself declares: `_meta`, else the version header; not a negotiated one.
    pub fn declared_era(&self) -> Option<Era> {
        let meta = self.messages().iter().find_map(|m| {
            let detail = m.detail.as_ref()?;
            detail.version_in_meta.then_some(detail.protocol_version.as_deref()?)
        });
        meta.or(self.headers.protocol_version.as_deref()).and_then(Era::of_version)
    }

    /// The exchange speaks 2026-07-28 (protocol.md): by its body's `_meta`, or by its version header. That revision has
    /// no GET and no DELETE; one whose header claims it is a modern client's old habit.
    pub fn is_modern(&self) -> bool {
        let initializes = self.messages().iter().any(|m| m.is("initialize"));
        !initializes && self.method != Method::Message && self.declared_era() >= Some(Era::Modern2026)
    }

    /// The answer was 2xx.
    pub fn accepted(&self) -> bool {
        self.status.is_some_and(|s| (200..300).contains(&s))
    }
}
