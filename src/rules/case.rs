//! Questions that several rules ask of a session; each answers from facts and changes nothing.

mod ledger;
mod streams;

pub use ledger::Ledger;
pub use streams::{Completion, Streams};

use super::{Case, Evidence, Finding, Party, Rule, Severity};
use crate::{
    evidence::Locus,
    model::{
        Body, Direction, End, EventId, EventLog, Exchange, Leg, Method, Request, RequestState, Resolved, Resumption,
        Shape, Side, Stream, Terminal, Time, Transport,
    },
    reconstruct::clock,
};
use std::borrow::Cow;

/// Microseconds in a second.
pub const SECOND: i64 = 1_000_000;

/// Milliseconds as microseconds, with room for a few times as much.
fn micros(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX).min(i64::MAX / 16_000) * 1000
}

/// When a body that carries nothing more was last heard of.
pub fn last_heard(exchange: &Exchange) -> Option<Time> {
    exchange.ended.or(exchange.head).or(exchange.sent)
}

/// Two records of one exchange, in two files of the run: no two requests start within a millisecond in both.
pub fn is_recorded_twice(a: &Exchange, b: &Exchange) -> bool {
    let together = a.sent.zip(b.sent).is_some_and(|(a, b)| b.since(a).unsigned_abs() <= 1000);
    a.at.source != b.at.source && together
}

/// The resume was made by GET, as the protocol wants it.
pub fn by_get(resumption: &Resumption, exchange: &Exchange) -> bool {
    exchange.method == Method::Get
        && resumption.cursor.id == exchange.cursor.as_ref().map_or(resumption.cursor.id, |c| c.id)
}

/// The stream that a resume is known to mean.
fn meant(resumption: &Resumption) -> Option<u32> {
    let known =
        matches!(resumption.resolved, Resolved::Exact | Resolved::Format | Resolved::Content | Resolved::Temporal);
    resumption.stream.filter(|_| known)
}

impl<'c> Case<'c> {
    /// One exchange of the run.
    pub fn exchange(&self, index: u32) -> &'c Exchange {
        &self.capture.exchanges[index as usize]
    }

    /// The log of an exchange's event stream.
    pub fn log(&self, index: u32) -> Option<&'c EventLog> {
        clock::log(self.exchange(index))
    }

    /// One request of the session.
    pub fn request(&self, index: u32) -> &'c Request {
        &self.session.requests[index as usize]
    }

    /// One stream of the session.
    pub fn stream(&self, index: u32) -> &'c Stream {
        &self.session.streams[index as usize]
    }

    /// A finding of this session, with its primary evidence.
    pub fn finding(
        &self,
        rule: &Rule,
        party: Party,
        message: String,
        at: Locus,
        what: impl Into<Cow<'static, str>>,
    ) -> Finding {
        Finding::new(rule, party, message, Evidence { at, what: what.into() }).in_session(self.index)
    }

    /// Resumption exists in this session's transport: Streamable HTTP with sessions.
    pub fn is_streamable(&self) -> bool {
        self.session.transport == Transport::Streamable
    }

    /// Every resume by GET, with its exchange.
    pub fn resumes(&self) -> impl Iterator<Item = (&'c Resumption, &'c Exchange)> {
        let all = self.session.resumptions.iter().map(|r| (r, self.exchange(r.exchange)));
        all.filter(|(r, x)| by_get(r, x))
    }

    /// The stream that a resume is known to mean; none where that is ambiguous or unknown.
    pub fn meant(&self, resumption: &Resumption) -> Option<(u32, &'c Stream)> {
        let stream = meant(resumption)?;
        Some((stream, self.stream(stream)))
    }

    /// The first answer of a request that is not provably lost.
    pub fn answer(&self, request: u32) -> Option<&'c Terminal> {
        self.request(request).terminals.get(self.ledger.answer(request)?)
    }

    /// The answers that had made a POST stream complete before an exchange began.
    pub fn completed_before(&self, stream: u32, exchange: u32) -> Option<&Completion> {
        self.ledger.streams.completed_before(self.capture, stream, exchange)
    }

    /// The delivery of an answer lies before the start of an exchange.
    pub fn is_before(&self, terminal: &Terminal, exchange: u32) -> bool {
        streams::is_before(terminal, exchange, self.exchange(exchange).sent)
    }

    /// The request was open when an exchange began: sent, not answered, not refused, not cancelled.
    pub fn is_open_at(&self, request: u32, exchange: u32) -> bool {
        streams::is_open_at(self.session, &self.ledger, request, exchange, self.exchange(exchange).sent)
    }

    /// The first request of the client's that was open when an exchange began.
    pub fn first_open(&self, exchange: u32) -> Option<u32> {
        let client = |r: &u32| self.request(*r).direction == Direction::Client;
        (0..self.session.requests.len() as u32).filter(client).find(|r| self.is_open_at(*r, exchange))
    }

    /// The first request of the stream that was open when an exchange began: sent, not answered, not refused, not cancelled.
    pub fn open_request(&self, stream: &Stream, exchange: u32) -> Option<u32> {
        let resume = stream.legs.binary_search_by_key(&exchange, |leg| leg.exchange).is_ok_and(|at| {
            stream.legs[at].cursor.is_some() && self.resumption(exchange).is_some_and(|r| meant(r).is_some())
        });
        if resume {
            return self.ledger.streams.open_at(exchange);
        }
        stream.requests.iter().copied().find(|r| self.is_open_at(*r, exchange))
    }

    /// The resumption that an exchange is.
    pub fn resumption(&self, exchange: u32) -> Option<&'c Resumption> {
        let at = self.session.resumptions.binary_search_by_key(&exchange, |r| r.exchange).ok()?;
        self.session.resumptions.get(at)
    }

    /// A client's request that was open at a resume whose stream is not known, and whose connection had ended by then.
    pub fn stranded_request(&self, resume: u32) -> Option<u32> {
        self.ledger.streams.stranded_at(resume)
    }

    /// The session id was accepted (2xx) by a later exchange.
    pub fn accepted_after(&self, exchange: u32) -> Option<u32> {
        self.ledger.accepted_after(exchange)
    }

    /// The first GET of the session after an exchange that was sent at a time or later.
    pub fn get_after(&self, exchange: u32, from: Time) -> Option<u32> {
        self.ledger.get_after(exchange, from)
    }

    /// The first GET without cursor after an exchange.
    pub fn bare_after(&self, exchange: u32) -> Option<u32> {
        self.ledger.bare_after(exchange)
    }

    /// The first GET without cursor after an exchange that was sent at a time or later.
    pub fn bare_since(&self, exchange: u32, from: Time) -> Option<u32> {
        self.ledger.bare_since(exchange, from)
    }

    /// The exchanges that resumed a stream by GET, in order.
    pub fn resumes_of(&self, stream: u32) -> &[u32] {
        self.ledger.streams.resumes_of(stream)
    }

    /// The resumes by GET of which it is not known what stream they mean, in order.
    pub fn unknown_resumes(&self) -> &[u32] {
        self.ledger.streams.unknown_resumes()
    }

    /// The last connection of a stream that was not refused.
    pub fn last_accepted_leg(&self, stream: u32) -> Option<u32> {
        self.ledger.streams.last_accepted(stream)
    }

    /// The stream that an exchange is a connection of.
    pub fn stream_of(&self, exchange: u32) -> Option<u32> {
        self.ledger.streams.of(exchange)
    }

    /// The last GET without cursor before an exchange.
    pub fn bare_before(&self, exchange: u32) -> Option<u32> {
        self.ledger.bare_before(exchange)
    }

    /// The first exchange of the session after another one that was sent at a time or later.
    pub fn sent_after(&self, exchange: u32, from: Time) -> Option<u32> {
        self.ledger.sent_after(exchange, from)
    }

    /// When the session was last used by the client, DELETE included.
    pub fn last_use(&self) -> Option<Time> {
        self.session.exchanges.iter().rev().find_map(|x| self.exchange(*x).sent)
    }

    /// The client's DELETE that ended the session.
    pub fn deletion(&self) -> Option<u32> {
        self.ledger.deletion
    }

    /// All that the stream carried was captured to its end on the wire: nothing of it is unknown.
    pub fn is_captured(&self, stream: &Stream) -> bool {
        stream.legs.iter().all(|leg| self.leg_is_captured(leg))
    }

    /// As [`Case::is_captured`], for one connection.
    pub fn leg_is_captured(&self, leg: &Leg) -> bool {
        let exchange = self.exchange(leg.exchange);
        exchange.response.is_whole()
            || exchange.response.content().is_some() && clock::ended_on_wire(exchange)
            || exchange.status.is_some_and(|s| s >= 400)
    }

    /// Every event stream of the session that could have carried an answer after an exchange began was captured.
    pub fn streams_are_captured_since(&self, exchange: u32) -> bool {
        self.ledger.streams.are_captured_since(exchange, self.exchange(exchange).sent)
    }

    /// The cursor that a client holds at the end of a connection.
    pub fn held_cursor(&self, leg: &Leg) -> Option<EventId> {
        self.log(leg.exchange)?.effective_ids().last().flatten()
    }

    /// The cursor that a client holds after all connections of a stream before an exchange.
    pub fn held_before(&self, stream: u32, exchange: u32) -> Option<EventId> {
        self.ledger.streams.held_before(stream, exchange)
    }

    /// The largest `retry` that the session saw before an exchange, in microseconds.
    pub fn most_retry_before(&self, exchange: u32) -> i64 {
        micros(self.ledger.streams.most_retry_before(exchange).unwrap_or(0))
    }

    /// How long a client waits at most, by the last `retry` of a stream, in microseconds.
    pub fn retry_of(&self, stream: u32) -> Option<i64> {
        self.ledger.streams.retry_before(stream, u32::MAX).map(micros)
    }

    /// The client itself closed the connection of an exchange, and nothing suggests that it was made to.
    pub fn client_closed(&self, exchange: u32) -> bool {
        self.exchange(exchange).end == End::Abrupt(Side::Client)
    }

    /// An equal request was sent again later: same method, name and arguments. Gives its index.
    pub fn sent_again(&self, request: &Request) -> Option<u32> {
        self.ledger.asked_again(self.session, request)
    }

    /// The exchange of the client's last request with the same method and name that was answered.
    pub fn last_answered(&self, request: &Request) -> Option<u32> {
        self.ledger.last_answered(request)
    }

    /// When progress was last reported with a token, on any connection.
    pub fn last_progress(&self, token: u64) -> Option<Time> {
        self.ledger.last_progress(token)
    }

    /// The same client initialized again after an exchange.
    pub fn reinitialized_after(&self, exchange: u32) -> Option<u32> {
        self.capture.initialized_after(&self.session.endpoint, self.session.client_scope, exchange)
    }

    /// A request as it is spoken of in messages: `request 2 (tools/call slow)`.
    pub fn name_of(&self, request: u32) -> String {
        let request = self.request(request);
        match &request.name {
            Some(name) => format!("request {} ({} {})", request.id, request.method, name),
            None => format!("request {} ({})", request.id, request.method),
        }
    }

    /// The request was answered in the end, cancelled or refused.
    pub fn is_settled(&self, request: u32) -> bool {
        self.request(request).state != RequestState::Open
    }

    /// The severity of a finding about a loss: an error where the request stays open for good.
    pub fn loss(&self, request: u32) -> Severity {
        if self.is_settled(request) { Severity::Warning } else { Severity::Error }
    }

    /// The capture lacks an event stream of this session that began before an exchange, and ids of this form may stand in
    /// several streams: whose the cursor is was not seen for certain.
    pub fn owner_is_uncertain(&self, resumption: &Resumption) -> bool {
        let may_repeat = matches!(resumption.cursor.shape, Shape::Decimal | Shape::Slash | Shape::Suffix)
            || resumption.cursor.is_session_id;
        let legs = self.session.streams.iter().flat_map(|s| &s.legs);
        let unseen = |leg: &Leg| {
            leg.exchange < resumption.exchange && matches!(self.exchange(leg.exchange).response, Body::NotCaptured(_))
        };
        may_repeat && legs.into_iter().any(unseen)
    }
}
