//! Questions that several rules ask of a session; each answers from facts and changes nothing.

use super::{Case, Evidence, Finding, Party, Rule, Severity};
use crate::{
    evidence::Locus,
    model::{
        Body, Direction, End, EventLog, Exchange, Leg, Method, Missing, OpenedBy, Receipt, Request, RequestState,
        Resolved, Resumption, Shape, Side, Stream, Terminal, Time, Transport,
    },
    reconstruct::clock,
};
use std::borrow::Cow;

/// Microseconds in a second.
pub const SECOND: i64 = 1_000_000;

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

    /// The POST stream that a resume is known to mean; none where that is ambiguous or unknown.
    pub fn meant(&self, resumption: &Resumption) -> Option<(u32, &'c Stream)> {
        let known =
            matches!(resumption.resolved, Resolved::Exact | Resolved::Format | Resolved::Content | Resolved::Temporal);
        let stream = resumption.stream.filter(|_| known)?;
        Some((stream, self.stream(stream)))
    }

    /// The delivery of an answer lies before the start of an exchange.
    pub fn is_before(&self, terminal: &Terminal, exchange: u32) -> bool {
        match (terminal.time, self.exchange(exchange).sent) {
            (Some(arrived), Some(sent)) => arrived <= sent && terminal.at.exchange != exchange,
            _ => terminal.at.exchange < exchange,
        }
    }

    /// The first answer to a request that may have reached the client before an exchange began.
    pub fn answer_before(&self, request: &'c Request, exchange: u32) -> Option<&'c Terminal> {
        request.terminals.iter().find(|t| self.is_before(t, exchange) && t.receipt != Receipt::Disproven)
    }

    /// The answers to all requests of a POST stream, where all were answered before an exchange began.
    pub fn all_answered_before(&self, stream: &Stream, exchange: u32) -> Option<Vec<(u32, &'c Terminal)>> {
        if stream.opened_by != OpenedBy::Post || stream.requests.is_empty() {
            return None;
        }
        stream.requests.iter().map(|r| Some((*r, self.answer_before(self.request(*r), exchange)?))).collect()
    }

    /// A request of the stream that was open when an exchange began: sent, not answered, not refused, not cancelled.
    pub fn open_request(&self, stream: &Stream, exchange: u32) -> Option<u32> {
        stream.requests.iter().copied().find(|r| self.is_open_at(self.request(*r), exchange))
    }

    /// The request was open when an exchange began.
    pub fn is_open_at(&self, request: &Request, exchange: u32) -> bool {
        let cancelled = request.cancelled.is_some_and(|(at, _)| at.exchange < exchange);
        let answered = request.terminals.iter().any(|t| self.is_before(t, exchange) && t.receipt != Receipt::Disproven);
        request.at.exchange < exchange && request.refused.is_none() && !cancelled && !answered
    }

    /// A client's request that was open when an exchange began and whose connection had ended by then.
    pub fn stranded_request(&self, exchange: u32) -> Option<u32> {
        let sent = self.exchange(exchange).sent;
        self.session
            .requests
            .iter()
            .position(|request| {
                let post = self.exchange(request.at.exchange);
                let ended = post.ended.zip(sent).is_some_and(|(ended, sent)| ended <= sent);
                request.direction == Direction::Client && self.is_open_at(request, exchange) && ended
            })
            .map(|r| r as u32)
    }

    /// The session id was accepted (2xx) by a later exchange.
    pub fn accepted_after(&self, exchange: u32) -> Option<u32> {
        let later = self.session.exchanges.iter().copied().filter(|x| *x > exchange);
        later.into_iter().find(|x| {
            let facts = self.exchange(*x);
            facts.session.is_some() && facts.accepted()
        })
    }

    /// When the session was last used by the client, DELETE included.
    pub fn last_use(&self) -> Option<Time> {
        self.session.exchanges.iter().rev().find_map(|x| self.exchange(*x).sent)
    }

    /// The client's DELETE that ended the session.
    pub fn deletion(&self) -> Option<u32> {
        let deletes = |x: &&u32| {
            let exchange = self.exchange(**x);
            exchange.method == Method::Delete && (exchange.accepted() || exchange.status == Some(404))
        };
        self.session.exchanges.iter().rev().find(deletes).copied()
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

    /// The connection was still open when the capture ended, and what it had carried by then was captured.
    fn is_being_captured(&self, leg: &Leg) -> bool {
        let exchange = self.exchange(leg.exchange);
        let kept = exchange.response.is_whole() || exchange.response.content().is_some();
        exchange.end == End::Open && kept && matches!(exchange.response.lacks(), None | Some(Missing::CaptureEnd))
    }

    /// Every event stream of the session that could have carried an answer after an exchange began was captured.
    pub fn streams_are_captured_since(&self, exchange: u32) -> bool {
        self.session
            .streams
            .iter()
            .flat_map(|s| &s.legs)
            .filter(|leg| {
                leg.exchange >= exchange
                    || leg.ended.is_none_or(|e| self.exchange(exchange).sent.is_none_or(|sent| e >= sent))
            })
            .all(|leg| self.leg_is_captured(leg) || self.is_being_captured(leg))
    }

    /// The cursor that a client holds at the end of a connection.
    pub fn held_cursor(&self, leg: &Leg) -> Option<crate::model::EventId> {
        self.log(leg.exchange)?.effective_ids().last().flatten()
    }

    /// The cursor that a client holds after all connections of a stream before an exchange.
    pub fn held_before(&self, stream: &Stream, exchange: u32) -> Option<crate::model::EventId> {
        stream.legs.iter().rev().filter(|leg| leg.exchange < exchange).find_map(|leg| self.held_cursor(leg))
    }

    /// The last `retry` of a stream before an exchange, in milliseconds.
    pub fn retry_before(&self, stream: &Stream, exchange: u32) -> Option<u64> {
        let legs = stream.legs.iter().rev().filter(|leg| leg.exchange < exchange);
        legs.into_iter().find_map(|leg| self.log(leg.exchange)?.retries.last().map(|(_, ms)| *ms))
    }

    /// The client itself closed the connection of an exchange, and nothing suggests that it was made to.
    pub fn client_closed(&self, exchange: u32) -> bool {
        self.exchange(exchange).end == End::Abrupt(Side::Client)
    }

    /// An equal request was sent again later: same method, name and arguments. Gives its index.
    pub fn sent_again(&self, request: &Request) -> Option<u32> {
        let equal = |other: &Request| {
            other.direction == request.direction
                && other.at.exchange > request.at.exchange
                && other.arguments == request.arguments
                && other.method == request.method
        };
        self.session.requests.iter().position(equal).map(|r| r as u32)
    }

    /// The same client initialized again after an exchange.
    pub fn reinitialized_after(&self, exchange: u32) -> Option<u32> {
        self.capture
            .sessions
            .iter()
            .filter(|s| s.endpoint == self.session.endpoint && s.client_scope == self.session.client_scope)
            .filter_map(|s| s.exchanges.first().copied())
            .filter(|x| *x > exchange && crate::reconstruct::initializes(self.exchange(*x)))
            .min()
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
