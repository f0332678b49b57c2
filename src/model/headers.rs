//! What the headers of an exchange say, as far as rules ask; the values themselves are dropped.

use bitflags::bitflags;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A revision of the protocol. The order is that of release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Era {
    /// HTTP+SSE with two endpoints.
    #[serde(rename = "2024-11-05")]
    Legacy2024,
    /// The first Streamable HTTP; batches are legal.
    #[serde(rename = "2025-03-26")]
    March2025,
    /// Batches are gone, the version header arrives.
    #[serde(rename = "2025-06-18")]
    June2025,
    /// Priming events, polling, resumption always by GET.
    #[serde(rename = "2025-11-25")]
    November2025,
    /// Stateless: no sessions, no GET, no resumption.
    #[serde(rename = "2026-07-28")]
    Modern2026,
}

impl Era {
    /// The revision that a version text names: the newest one that is not younger, since dates order as text.
    pub fn of_version(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let dated = bytes.len() >= 10
            && bytes[..10].iter().enumerate().all(|(i, b)| match i {
                4 | 7 => *b == b'-',
                _ => b.is_ascii_digit(),
            });
        let all = [Self::Modern2026, Self::November2025, Self::June2025, Self::March2025];
        dated.then(|| all.into_iter().find(|era| era.as_str() <= &text[..10]).unwrap_or(Self::Legacy2024))
    }

    /// The date that names the revision.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Legacy2024 => "2024-11-05",
            Self::March2025 => "2025-03-26",
            Self::June2025 => "2025-06-18",
            Self::November2025 => "2025-11-25",
            Self::Modern2026 => "2026-07-28",
        }
    }
}

/// The kind of a `Content-Type`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaType {
    /// No such header.
    #[default]
    Absent,
    /// `text/event-stream`.
    EventStream,
    /// `application/json` or `+json`.
    Json,
    /// `text/html`.
    Html,
    /// `text/plain`.
    Plain,
    /// Anything else.
    Other,
}

bitflags! {
    /// Yes-or-no facts of the headers.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(transparent)]
    pub struct HeaderFlags: u32 {
        /// `Accept` of the request covers `text/event-stream` (also by a wildcard).
        const ACCEPTS_SSE = 1;
        /// `Accept` of the request covers `application/json` (also by a wildcard).
        const ACCEPTS_JSON = 1 << 1;
        /// The request has an `Accept` header.
        const HAS_ACCEPT = 1 << 2;
        /// The request has an `Authorization` header.
        const HAS_AUTH = 1 << 3;
        /// The request has an `Origin` other than the endpoint's own.
        const CROSS_ORIGIN = 1 << 4;
        /// `Access-Control-Expose-Headers` names the session header, or is `*`.
        const EXPOSES_SESSION = 1 << 5;
        /// The response bears a gateway's mark (`Via`, `CF-Ray`, `X-Amz-Cf-Id`, `X-Cache`, `Server` of a known proxy …).
        const GATEWAY_MARK = 1 << 6;
        /// The response has `Retry-After`.
        const RETRY_AFTER = 1 << 7;
        /// The response has `WWW-Authenticate`.
        const WWW_AUTHENTICATE = 1 << 8;
        /// `Mcp-Method` is present (2026-07-28).
        const HAS_MCP_METHOD = 1 << 9;
        /// `Mcp-Method` differs from the body's method.
        const MCP_METHOD_DIFFERS = 1 << 10;
        /// `Mcp-Name` is present (2026-07-28).
        const HAS_MCP_NAME = 1 << 11;
        /// `Mcp-Name` differs from the body's name.
        const MCP_NAME_DIFFERS = 1 << 12;
        /// The response announces a length of 0.
        const ZERO_LENGTH = 1 << 13;
        /// The request says that it is a tunnelled GET (`X-HTTP-Method-Override`).
        const METHOD_OVERRIDE = 1 << 14;
        /// Header values of this exchange were removed by a sanitiser (`REDACTED` and the like).
        const SANITISED = 1 << 15;
        /// The recorder kept no headers at all (logs).
        const NO_HEADERS = 1 << 16;
        /// The response is a redirect with a `Location`.
        const LOCATION = 1 << 17;
        /// `X-Accel-Buffering: no`.
        const NO_BUFFERING = 1 << 18;
        /// The response came from a cache or a service worker.
        const FROM_CACHE = 1 << 19;
    }
}

/// Facts of the headers of both halves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeaderFacts {
    /// Yes-or-no facts.
    #[serde(skip_serializing_if = "HeaderFlags::is_empty")]
    pub flags: HeaderFlags,
    /// `Content-Type` of the response.
    pub content_type: MediaType,
    /// `MCP-Protocol-Version` of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<Arc<str>>,
    /// Keyed hash of `Authorization`; tells clients apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<u64>,
    /// `User-Agent`, for display and as part of a client scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<Arc<str>>,
    /// Keyed hash of `Server`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<u64>,
    /// Keyed hash of `X-Powered-By`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub powered_by: Option<u64>,
}

impl HeaderFacts {
    /// The flag is set.
    pub fn has(&self, flag: HeaderFlags) -> bool {
        self.flags.contains(flag)
    }
}
