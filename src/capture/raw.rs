//! What a reader hands over: one HTTP exchange as bytes, with what its recorder knew about it.
//!
//! Readers own the lies of their formats: they decide what a missing body means, how the response ended and which
//! times can be trusted. [`super::digest`] then turns a [`RawExchange`] into facts, the same way for every format.

use crate::model::{Address, End, Missing, Time, Vantage};
use std::borrow::Cow;

/// Header lines in the order and case of the recorder; duplicates are kept.
pub type Headers<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// A body as bytes, transfer and content codings undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawBody<'a> {
    /// Nobody knows what it held.
    NotCaptured(Missing),
    /// All of it; empty bytes are an empty body.
    Whole(Cow<'a, [u8]>),
    /// Its beginning, and why the rest is not there.
    Cut(Cow<'a, [u8]>, Missing),
}

impl RawBody<'_> {
    /// A body that was captured and held nothing.
    pub const EMPTY: Self = Self::Whole(Cow::Borrowed(&[]));

    /// The bytes that were captured.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::NotCaptured(_) => &[],
            Self::Whole(bytes) | Self::Cut(bytes, _) => bytes,
        }
    }
}

/// An event that a recorder kept beside or instead of the bytes (`_eventSourceMessages` and the like).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedEvent<'a> {
    /// When it arrived.
    pub time: Option<Time>,
    /// Its type; empty means `message`.
    pub name: Cow<'a, str>,
    /// The *sticky* last event id at that moment; empty means none or unknown, never a reset.
    pub id: Cow<'a, str>,
    /// Its data; none where a sanitiser removed it.
    pub data: Option<Cow<'a, str>>,
}

/// One HTTP exchange as its recorder saw it.
#[derive(Clone, Debug)]
pub struct RawExchange<'a> {
    /// Where it stands; `source` is filled in by the walk.
    pub at: Address,
    /// From where it was seen, where the reader knows better than the file as a whole.
    pub vantage: Vantage,
    /// The request method as sent.
    pub method: Cow<'a, str>,
    /// The absolute URL; scheme `http` where the recorder does not say.
    pub url: Cow<'a, str>,
    /// Request headers. Pseudo-headers (`:path`) may be among them and are ignored.
    pub request_headers: Headers<'a>,
    /// The request body.
    pub request_body: RawBody<'a>,
    /// The status; none where no response was captured. 1xx answers are not handed over.
    pub status: Option<u16>,
    /// Response headers.
    pub response_headers: Headers<'a>,
    /// The response body.
    pub response_body: RawBody<'a>,
    /// Events that the recorder kept beside the bytes. Used for times where the bytes are there, else as the body.
    pub recorded_events: Vec<RecordedEvent<'a>>,
    /// When the request was sent (its first byte).
    pub sent: Option<Time>,
    /// When the head of the response arrived.
    pub head: Option<Time>,
    /// When the response ended; none where that is unknown.
    pub ended: Option<Time>,
    /// How it ended.
    pub end: End,
    /// For recorders with times inside bodies: bytes of the decoded body up to this offset had arrived at that time.
    /// In order of offset.
    pub marks: Vec<(u64, Time)>,
    /// Bytes of the decoded response body that the client provably received (TCP acknowledgements).
    pub acknowledged: Option<u64>,
    /// The recorder keeps no headers (logs): their absence proves nothing.
    pub no_headers: bool,
    /// Its clock counts whole seconds only.
    pub coarse_times: bool,
    /// A byte-losing recorder rebuilt the body: line structure is a guess.
    pub rebuilt: bool,
    /// The response came from a cache or a service worker.
    pub from_cache: bool,
}

impl<'a> RawExchange<'a> {
    /// An exchange of which nothing but method and URL is known yet: nothing captured, nothing ended.
    pub fn new(method: impl Into<Cow<'a, str>>, url: impl Into<Cow<'a, str>>) -> Self {
        Self {
            at: Address::default(),
            vantage: Vantage::Unknown,
            method: method.into(),
            url: url.into(),
            request_headers: Vec::new(),
            request_body: RawBody::NotCaptured(Missing::NotRecorded),
            status: None,
            response_headers: Vec::new(),
            response_body: RawBody::NotCaptured(Missing::NotRecorded),
            recorded_events: Vec::new(),
            sent: None,
            head: None,
            ended: None,
            end: End::Unknown,
            marks: Vec::new(),
            acknowledged: None,
            no_headers: false,
            coarse_times: false,
            rebuilt: false,
            from_cache: false,
        }
    }
}

/// The first value of a header, by case-insensitive name.
pub fn header<'h>(headers: &'h Headers<'_>, name: &str) -> Option<&'h str> {
    headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_ref())
}
