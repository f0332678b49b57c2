//! Session ids, cursors and event ids, reduced once at reading to keyed hashes and a shape.
//!
//! Rules see nothing else. The hash *is* the pseudonym that is printed, so that rows, shards and reports agree.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{fmt, str::FromStr, sync::Arc};

/// How an event id is built, as far as known SDKs and stores build them (protocol.md, SDK servers).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// Nothing is known about the form.
    #[default]
    Opaque,
    /// A bare decimal: a counter over all streams, or rmcp's standalone stream.
    Decimal,
    /// `<stream>_<index>`: the Go SDK.
    Go,
    /// `<index>/<http request>`: rmcp's local sessions.
    Slash,
    /// `base64(session):base64(stream):<seq>`: the C# SDK.
    Colon,
    /// `<stream>_<13 digit ms>_<random>`: the TypeScript example store.
    Stamp,
    /// `<uuid>_<uuid>`: the Java SDK.
    Uuids,
    /// Some other text that ends in a decimal counter.
    Suffix,
}

/// One event id as a pair of namespace and counter; two ids are equal exactly where both are.
///
/// The counter is split off only where it is a canonical decimal (no leading zero, below 2³²−1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId {
    /// Keyed hash of what remains without the counter, or of the whole text.
    pub space: u64,
    /// The counter plus one; 0 where the id has none.
    counter: u32,
}

impl EventId {
    /// An id from its parts. A counter of `u32::MAX` cannot be held and is treated as absent.
    pub fn new(space: u64, counter: Option<u32>) -> Self {
        Self { space, counter: counter.map_or(0, |c| c.wrapping_add(1)) }
    }

    /// The counter, where the id ends (or begins) with one.
    pub fn counter(self) -> Option<u32> {
        self.counter.checked_sub(1)
    }
}

impl fmt::Display for EventId {
    /// The pseudonym: `c_` and 16 hex digits, then `:` and the counter if there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c_{:016x}", self.space)?;
        self.counter().map_or(Ok(()), |c| write!(f, ":{c}"))
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for EventId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "a cursor pseudonym is c_ and 16 hex digits, then perhaps : and a counter";
        let rest = text.strip_prefix("c_").ok_or(WRONG)?;
        let (hex, counter) = rest.split_once(':').map_or((rest, None), |(h, c)| (h, Some(c)));
        let space = u64::from_str_radix(hex, 16).map_err(|_| WRONG)?;
        let counter = counter.map(str::parse).transpose().map_err(|_| WRONG)?;
        Ok(Self::new(space, counter))
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// The value of a `Last-Event-ID` request header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The id itself.
    pub id: EventId,
    /// How it is built.
    #[serde(default)]
    pub shape: Shape,
    /// Keyed hash of the part that names a stream, for shapes that have one (step `format` of cursor resolution).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<u64>,
    /// Hash of the session that the cursor's own text names (the C# SDK encodes it).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names_session: Option<u64>,
    /// The cursor is the text of the session id that it was sent with (the Java SDK's final responses).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_session_id: bool,
    /// Other spellings that a mangled header might stand for: trimmed, percent-decoded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub normalised: Vec<EventId>,
    /// The real text; kept only where the user asked for real ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Arc<str>>,
}

/// The value of an `Mcp-Session-Id` header, or of a legacy `sessionId` query parameter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionId {
    /// Keyed hash of the text.
    #[serde(with = "pseudonym")]
    pub hash: u64,
    /// It has characters outside visible ASCII (0x21 to 0x7E).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bad_charset: bool,
    /// It looks like a placeholder that a sanitiser wrote (`REDACTED`, `***`, `xxxx`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub placeholder: bool,
    /// The real text; kept only where the user asked for real ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Arc<str>>,
}

impl PartialEq for SessionId {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}

impl Eq for SessionId {}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s_{:016x}", self.hash)
    }
}

/// Session hashes as `s_` and 16 hex digits.
mod pseudonym {
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

    pub fn serialize<S: Serializer>(hash: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("s_{hash:016x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
        text.strip_prefix("s_")
            .and_then(|hex| u64::from_str_radix(hex, 16).ok())
            .ok_or_else(|| D::Error::custom("a session pseudonym is s_ and 16 hex digits"))
    }
}
