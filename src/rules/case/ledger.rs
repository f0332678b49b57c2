//! What rules look up over and over in one session, prepared once so that each question is answered in constant time:
//! sessions with hundreds of thousands of resumes or requests are real.

use super::streams::Streams;
use crate::{
    model::{Direction, EventKind, Exchange, Id128, Method, Receipt, Request, RequestState, Session, Time},
    reconstruct::Capture,
};
use std::{collections::HashMap, sync::Arc};

/// What makes two requests equal: who asks, the method, and the parameters.
type Question = (Direction, Arc<str>, Id128);

/// The prepared answers of one session.
pub struct Ledger {
    /// Exchanges that carry the session id and were accepted.
    accepted: Vec<u32>,
    /// Exchanges in order of their start, as far as that is known.
    sent: Vec<(Time, u32)>,
    /// GETs in order of their start, as far as that is known.
    gets: Vec<(Time, u32)>,
    /// GETs without cursor.
    bare: Vec<u32>,
    /// Those in order of their start, as far as that is known.
    bare_sent: Vec<(Time, u32)>,
    /// Requests that ask the same, in order.
    equal: HashMap<Question, Vec<u32>>,
    /// By method and name: the last of the client's requests that was answered (its exchange).
    answered: HashMap<(Arc<str>, Option<Arc<str>>), u32>,
    /// The client's last DELETE that ended the session.
    pub(super) deletion: Option<u32>,
    /// By request: its first answer that is not provably lost (index in its terminals).
    answers: Vec<Option<u32>>,
    /// By progress token: when progress was last reported with it.
    progress: HashMap<u64, Time>,
    /// Streams, their connections and their resumes.
    pub(super) streams: Streams,
}

impl Ledger {
    /// Prepares a session.
    pub fn new(capture: &Capture, session: &Session) -> Self {
        let exchange = |x: u32| &capture.exchanges[x as usize];
        let gets = || session.exchanges.iter().copied().filter(|x| exchange(*x).method == Method::Get);
        let mut equal: HashMap<Question, Vec<u32>> = HashMap::new();
        for (number, request) in session.requests.iter().enumerate() {
            equal.entry(question(request)).or_default().push(number as u32);
        }
        let mut answered = HashMap::new();
        let answers = |r: &&Request| r.direction == Direction::Client && r.state == RequestState::Answered;
        for request in session.requests.iter().filter(answers) {
            answered.insert((Arc::clone(&request.method), request.name.clone()), request.at.exchange);
        }
        let deletes = |x: &Exchange| x.method == Method::Delete && (x.accepted() || x.status == Some(404));
        let accepts = |x: &Exchange| x.session.is_some() && x.accepted();
        let mut ledger = Self {
            accepted: session.exchanges.iter().copied().filter(|x| accepts(exchange(*x))).collect(),
            sent: session.exchanges.iter().filter_map(|x| Some((exchange(*x).sent?, *x))).collect(),
            gets: gets().filter_map(|x| Some((exchange(x).sent?, x))).collect(),
            bare: gets().filter(|x| exchange(*x).cursor.is_none()).collect(),
            bare_sent: gets()
                .filter(|x| exchange(*x).cursor.is_none())
                .filter_map(|x| Some((exchange(x).sent?, x)))
                .collect(),
            equal,
            answered,
            deletion: session.exchanges.iter().rev().copied().find(|x| deletes(exchange(*x))),
            answers: session.requests.iter().map(first_answer).collect(),
            progress: HashMap::new(),
            streams: Streams::default(),
        };
        if !session.resumptions.is_empty() {
            ledger.progress = progress(capture, session);
        }
        ledger.streams = Streams::new(capture, session, &ledger);
        ledger
    }

    /// The first exchange after another one that carries the session id and was accepted.
    pub fn accepted_after(&self, exchange: u32) -> Option<u32> {
        self.accepted.get(self.accepted.partition_point(|x| *x <= exchange)).copied()
    }

    /// The first exchange after another one that was sent at a time or later.
    pub fn sent_after(&self, exchange: u32, from: Time) -> Option<u32> {
        first_after(&self.sent, exchange, from)
    }

    /// The first GET after an exchange that was sent at a time or later.
    pub fn get_after(&self, exchange: u32, from: Time) -> Option<u32> {
        first_after(&self.gets, exchange, from)
    }

    /// The first GET without cursor after an exchange.
    pub fn bare_after(&self, exchange: u32) -> Option<u32> {
        self.bare.get(self.bare.partition_point(|x| *x <= exchange)).copied()
    }

    /// The first GET without cursor after an exchange that was sent at a time or later.
    pub fn bare_since(&self, exchange: u32, from: Time) -> Option<u32> {
        first_after(&self.bare_sent, exchange, from)
    }

    /// The last GET without cursor before an exchange.
    pub fn bare_before(&self, exchange: u32) -> Option<u32> {
        let before = self.bare.partition_point(|x| *x < exchange);
        before.checked_sub(1).and_then(|last| self.bare.get(last)).copied()
    }

    /// The first request after another one that asks the same.
    pub fn asked_again(&self, session: &Session, request: &Request) -> Option<u32> {
        let same = self.equal.get(&question(request))?;
        let until = same.partition_point(|r| session.requests[*r as usize].at.exchange <= request.at.exchange);
        same.get(until).copied()
    }

    /// The exchange of the last of the client's requests with a method and name that was answered.
    pub fn last_answered(&self, request: &Request) -> Option<u32> {
        self.answered.get(&(Arc::clone(&request.method), request.name.clone())).copied()
    }

    /// The first answer of a request that is not provably lost: index in its terminals.
    pub fn answer(&self, request: u32) -> Option<usize> {
        self.answers.get(request as usize).copied().flatten().map(|a| a as usize)
    }

    /// When progress was last reported with a token.
    pub fn last_progress(&self, token: u64) -> Option<Time> {
        self.progress.get(&token).copied()
    }
}

fn first_after(sorted: &[(Time, u32)], exchange: u32, from: Time) -> Option<u32> {
    sorted.get(sorted.partition_point(|(sent, x)| *sent < from || *x <= exchange)).map(|(_, x)| *x)
}

fn question(request: &Request) -> Question {
    (request.direction, Arc::clone(&request.method), request.arguments)
}

fn first_answer(request: &Request) -> Option<u32> {
    request.terminals.iter().position(|t| t.receipt != Receipt::Disproven).map(|a| a as u32)
}

fn progress(capture: &Capture, session: &Session) -> HashMap<u64, Time> {
    let mut progress: HashMap<u64, Time> = HashMap::new();
    for leg in session.streams.iter().flat_map(|s| &s.legs) {
        let Some(log) = crate::reconstruct::clock::log(capture.exchange(leg.exchange)) else { continue };
        let reports = log.events.iter().enumerate().filter(|(_, e)| e.kind == EventKind::Progress);
        for event in reports.map(|(event, _)| event as u32) {
            let Some((token, time)) = log.token_of(event).zip(capture.event_time(leg.exchange, event)) else {
                continue;
            };
            progress.entry(token).and_modify(|last| *last = (*last).max(time)).or_insert(time);
        }
    }
    progress
}
