//! Streams as rules ask of them: what a client holds after each connection, what was answered or open at each resume.

use super::{ledger::Ledger, meant};
use crate::{
    model::{
        Direction, End, EventId, Exchange, Leg, Method, Missing, OpenedBy, Receipt, Request, Session, Stream, Terminal,
        Time,
    },
    reconstruct::{Capture, clock},
};
use foldhash::HashMap;
use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap},
};

/// What is prepared of the streams of a session.
#[derive(Default)]
pub struct Streams {
    /// By exchange: the stream that it is a connection of.
    of: HashMap<u32, u32>,
    /// By stream: the cursor that a client holds after each connection that moved it.
    held: Vec<Vec<(u32, EventId)>>,
    /// By stream: the last `retry` of each connection that sent one, in milliseconds.
    retries: Vec<Vec<(u32, u64)>>,
    /// The largest `retry` of the session up to each connection that sent a larger one.
    most_retry: Vec<(u32, u64)>,
    /// By stream: its last connection that was not refused.
    last: Vec<Option<u32>>,
    /// By stream: how it was completed.
    completions: Vec<Option<Completion>>,
    /// By stream: the exchanges that resumed it by GET.
    resumes: Vec<Vec<u32>>,
    /// The resumes by GET of which it is not known what stream they mean.
    unknown: Vec<u32>,
    /// By resume: the first request of the stream that was open.
    open: HashMap<u32, u32>,
    /// By resume whose stream is not known: the first request of all that was open, its connection ended.
    stranded: HashMap<u32, u32>,
    /// Connections that were not captured whole.
    unseen: Unseen,
}

/// The answers that made a stream complete.
pub struct Completion {
    /// The last of its requests.
    pub request: u32,
    /// Which answer of that request: index in its terminals.
    pub answer: usize,
    /// Every answer was provably received.
    pub proven: bool,
    /// When the last answer came; of those without time, the last exchange.
    time: Option<Time>,
    untimed: Option<u32>,
    /// The exchanges that brought the answers, in order.
    brought_by: Vec<u32>,
}

/// The last moments of connections of which something was not captured.
#[derive(Default)]
struct Unseen {
    latest: Option<u32>,
    until: Option<Time>,
    without_end: bool,
}

impl Streams {
    pub(super) fn new(capture: &Capture, session: &Session, ledger: &Ledger) -> Self {
        let exchange = |x: u32| &capture.exchanges[x as usize];
        let mut streams = Self { resumes: vec![Vec::new(); session.streams.len()], ..Self::default() };
        for (number, stream) in session.streams.iter().enumerate() {
            let (mut held, mut retries) = (Vec::new(), Vec::new());
            for leg in &stream.legs {
                streams.of.insert(leg.exchange, number as u32);
                streams.unseen.add(exchange(leg.exchange), leg);
                let Some(log) = clock::log(exchange(leg.exchange)) else { continue };
                held.extend(log.effective_ids().last().flatten().map(|id| (leg.exchange, id)));
                retries.extend(log.retries.last().map(|(_, ms)| (leg.exchange, *ms)));
            }
            let last = stream.legs.iter().rev().find(|leg| leg.status.is_none_or(|s| s < 300));
            streams.last.push(last.map(|leg| leg.exchange));
            streams.held.push(held);
            streams.most_retry.extend(&retries);
            streams.retries.push(retries);
            streams.completions.push(completion(session, stream, ledger));
        }
        streams.most_retry.sort_unstable();
        let mut most = 0;
        for (_, ms) in &mut streams.most_retry {
            most = most.max(*ms);
            *ms = most;
        }
        streams.resumes(capture, session, ledger);
        streams
    }

    /// Goes through the resumes in order: what was open at each of them.
    fn resumes(&mut self, capture: &Capture, session: &Session, ledger: &Ledger) {
        let at = |x: u32| &capture.exchanges[x as usize];
        let mut settled = vec![0_usize; session.streams.len()];
        let mut waiting = Waiting::default();
        for resumption in session.resumptions.iter().filter(|r| at(r.exchange).method == Method::Get) {
            let exchange = resumption.exchange;
            let open = |r: u32| is_open_at(session, ledger, r, exchange, at(exchange).sent);
            if let Some(stream) = resumption.stream {
                self.resumes[stream as usize].push(exchange);
            }
            let Some(stream) = meant(resumption) else {
                self.unknown.push(exchange);
                let request = waiting.first(capture, session, exchange, open);
                self.stranded.extend(request.map(|r| (exchange, r)));
                continue;
            };
            let requests = &session.streams[stream as usize].requests;
            let settled = &mut settled[stream as usize];
            while requests.get(*settled).is_some_and(|r| !open(*r)) {
                *settled += 1;
            }
            self.open.extend(requests.get(*settled).map(|r| (exchange, *r)));
        }
    }

    /// The stream that an exchange is a connection of.
    pub fn of(&self, exchange: u32) -> Option<u32> {
        self.of.get(&exchange).copied()
    }

    /// The last connection of a stream that was not refused.
    pub fn last_accepted(&self, stream: u32) -> Option<u32> {
        self.last.get(stream as usize).copied().flatten()
    }

    /// The cursor that a client holds after all connections of a stream before an exchange.
    pub fn held_before(&self, stream: u32, exchange: u32) -> Option<EventId> {
        last_before(&self.held[stream as usize], exchange)
    }

    /// The last `retry` of a stream before an exchange, in milliseconds.
    pub fn retry_before(&self, stream: u32, exchange: u32) -> Option<u64> {
        last_before(&self.retries[stream as usize], exchange)
    }

    /// The largest `retry` of the session before an exchange, in milliseconds.
    pub fn most_retry_before(&self, exchange: u32) -> Option<u64> {
        last_before(&self.most_retry, exchange)
    }

    /// The answers that had made a POST stream complete before an exchange began.
    pub fn completed_before(&self, capture: &Capture, stream: u32, exchange: u32) -> Option<&Completion> {
        let sent = capture.exchange(exchange).sent;
        let completion = self.completions.get(stream as usize)?.as_ref()?;
        let in_time = match (completion.time, sent) {
            (Some(time), Some(sent)) => time <= sent && completion.brought_by.binary_search(&exchange).is_err(),
            _ => completion.brought_by.last().is_some_and(|x| *x < exchange),
        };
        (in_time && completion.untimed.is_none_or(|x| x < exchange)).then_some(completion)
    }

    /// The first request of the meant stream that was open at a resume; none too where the exchange is no resume.
    pub fn open_at(&self, resume: u32) -> Option<u32> {
        self.open.get(&resume).copied()
    }

    /// The first request of all that was open at a resume of a stream that is not known, its connection ended.
    pub fn stranded_at(&self, resume: u32) -> Option<u32> {
        self.stranded.get(&resume).copied()
    }

    /// The exchanges that resumed a stream by GET, in order.
    pub fn resumes_of(&self, stream: u32) -> &[u32] {
        self.resumes.get(stream as usize).map_or(&[], Vec::as_slice)
    }

    /// The resumes by GET of which it is not known what stream they mean, in order.
    pub fn unknown_resumes(&self) -> &[u32] {
        &self.unknown
    }

    /// Every connection that could have carried something after a moment was captured.
    pub fn are_captured_since(&self, exchange: u32, sent: Option<Time>) -> bool {
        let Unseen { latest, until, without_end } = self.unseen;
        let later = latest.is_some_and(|x| x >= exchange);
        let reaches = without_end || until.is_some_and(|until| sent.is_none_or(|sent| until >= sent));
        !later && !reaches
    }
}

fn last_before<T: Copy>(list: &[(u32, T)], exchange: u32) -> Option<T> {
    let before = list.partition_point(|(x, _)| *x < exchange);
    before.checked_sub(1).and_then(|last| list.get(last)).map(|(_, what)| *what)
}

fn completion(session: &Session, stream: &Stream, ledger: &Ledger) -> Option<Completion> {
    if stream.opened_by != OpenedBy::Post {
        return None;
    }
    let mut completion = Completion {
        request: *stream.requests.last()?,
        answer: 0,
        proven: true,
        time: None,
        untimed: None,
        brought_by: Vec::with_capacity(stream.requests.len()),
    };
    for &request in &stream.requests {
        completion.answer = ledger.answer(request)?;
        let answer: &Terminal = session.requests[request as usize].terminals.get(completion.answer)?;
        completion.proven &= answer.receipt == Receipt::Proven;
        completion.brought_by.push(answer.at.exchange);
        match answer.time {
            Some(time) => completion.time = completion.time.max(Some(time)),
            None => completion.untimed = completion.untimed.max(Some(answer.at.exchange)),
        }
    }
    completion.brought_by.sort_unstable();
    completion.brought_by.dedup();
    Some(completion)
}

/// The delivery of an answer lies before the start of an exchange.
pub(super) fn is_before(terminal: &Terminal, exchange: u32, sent: Option<Time>) -> bool {
    match (terminal.time, sent) {
        (Some(arrived), Some(sent)) => arrived <= sent && terminal.at.exchange != exchange,
        _ => terminal.at.exchange < exchange,
    }
}

/// The request was open when an exchange began: sent, not answered, not refused, not cancelled.
pub(super) fn is_open_at(session: &Session, ledger: &Ledger, request: u32, exchange: u32, sent: Option<Time>) -> bool {
    let facts: &Request = &session.requests[request as usize];
    let cancelled = facts.cancelled.is_some_and(|(at, _)| at.exchange < exchange);
    let answer = ledger.answer(request).and_then(|a| facts.terminals.get(a));
    let answered = answer.is_some_and(|t| is_before(t, exchange, sent));
    facts.at.exchange < exchange && facts.refused.is_none() && !cancelled && !answered
}

impl Unseen {
    fn add(&mut self, exchange: &Exchange, leg: &Leg) {
        let content = exchange.response.content().is_some();
        let captured = exchange.response.is_whole()
            || content && clock::ended_on_wire(exchange)
            || exchange.status.is_some_and(|s| s >= 400);
        // Still open when the capture ended, and what it had carried by then was captured.
        let so_far = exchange.end == End::Open
            && (exchange.response.is_whole() || content)
            && matches!(exchange.response.lacks(), None | Some(Missing::CaptureEnd));
        if !captured && !so_far {
            self.latest = self.latest.max(Some(leg.exchange));
            self.until = self.until.max(leg.ended);
            self.without_end |= leg.ended.is_none();
        }
    }
}

/// Client requests whose connections have ended, while resumes are gone through in order.
#[derive(Default)]
struct Waiting {
    /// How many requests of the session were looked at.
    seen: usize,
    /// Those whose connection has not ended yet, by its end.
    ending: BinaryHeap<Reverse<(Time, u32)>>,
    /// Those whose connection has ended, and that were open when last looked at.
    ended: BTreeSet<u32>,
}

impl Waiting {
    fn first(
        &mut self,
        capture: &Capture,
        session: &Session,
        exchange: u32,
        open: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let sent = capture.exchange(exchange).sent?;
        while let Some(request) = session.requests.get(self.seen) {
            // The client's requests come first, in order of their POSTs.
            if request.direction == Direction::Client && request.at.exchange >= exchange {
                break;
            }
            if request.direction == Direction::Client
                && let Some(ended) = capture.exchange(request.at.exchange).ended
            {
                self.ending.push(Reverse((ended, self.seen as u32)));
            }
            self.seen += 1;
        }
        while let Some(Reverse((_, request))) = self.ending.peek().filter(|next| next.0.0 <= sent).copied() {
            self.ending.pop();
            self.ended.insert(request);
        }
        // What is settled once stays settled.
        while let Some(&request) = self.ended.first() {
            if open(request) {
                return Some(request);
            }
            self.ended.remove(&request);
        }
        None
    }
}
