//! What the builder knows of streams, requests and cursors so far, so that the next resume is resolved without a look
//! at all that came before it: sessions with hundreds of thousands of resumes are real.

use super::{build::Builder, clock};
use crate::model::{EventId, Exchange, Id128, Receipt, Terminal, Time};
use foldhash::{HashMap, HashSet};
use std::sync::Arc;

/// One stream, over the connections seen so far.
#[derive(Debug)]
pub(super) struct Progress {
    /// The cursor that a client holds.
    pub held: Option<EventId>,
    /// An event had an id of its own.
    pub has_cursor: bool,
    /// No connection has a part that the capture lacks.
    pub seen_all: bool,
    /// How many of its first requests are known to be answered.
    answered: usize,
}

impl Default for Progress {
    fn default() -> Self {
        Self { held: None, has_cursor: false, seen_all: true, answered: 0 }
    }
}

/// Cursors and what they were found to mean.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// By cursor: how many of its deliveries were looked at, and the streams that they were on, with what they carried.
    pub owners: HashMap<EventId, (usize, Vec<(u32, u64)>)>,
    /// By cursor: the last resume that found a stream for it.
    pub resolved: HashMap<EventId, u32>,
    /// By the part of an id that names a stream: the one stream that uses it; none where several do.
    pub names: HashMap<u64, Option<u32>>,
    /// Streams with a cursor that were not complete when last looked at.
    pub unfinished: Vec<u32>,
    /// By request: when the first answer that may have arrived did; without a time, the exchange that brought it.
    received: HashMap<u32, (Option<Time>, Option<u32>)>,
    /// The server's requests that were delivered: id, method, payload. What comes again is no new request.
    pub server_requests: HashSet<(Arc<str>, Option<Arc<str>>, Id128)>,
}

/// How many unfinished streams are looked at for the only one that a cursor could mean.
const MOST_UNFINISHED: usize = 64;

impl Builder<'_> {
    /// Takes note of a new connection of a stream.
    pub(super) fn follow(&mut self, stream: u32, exchange: &Exchange) {
        let progress = &mut self.progress[stream as usize];
        progress.seen_all &= exchange.response.lacks().is_none() || clock::ended_on_wire(exchange);
        let Some(log) = clock::log(exchange) else { return };
        progress.held = log.effective_ids().last().flatten().or(progress.held);
        if !progress.has_cursor && log.events.iter().any(|e| e.explicit_id().is_some()) {
            progress.has_cursor = true;
            self.memory.unfinished.push(stream);
        }
        for name in &log.streams {
            let owner = self.memory.names.entry(*name).or_insert(Some(stream));
            *owner = owner.filter(|known| *known == stream);
        }
    }

    /// Takes note of an answer.
    pub(super) fn receive(&mut self, request: u32, terminal: &Terminal) {
        if terminal.receipt == Receipt::Disproven {
            return;
        }
        let (time, exchange) = self.memory.received.entry(request).or_default();
        match terminal.time {
            Some(arrived) => *time = Some(time.map_or(arrived, |known| known.min(arrived))),
            None => *exchange = Some(exchange.map_or(terminal.at.exchange, |known| known.min(terminal.at.exchange))),
        }
    }

    /// The request was refused, or answered before an exchange began (and the answer not provably lost).
    pub(super) fn is_answered(&self, request: u32, index: u32) -> bool {
        if self.session.requests[request as usize].refused.is_some() {
            return true;
        }
        let Some((time, exchange)) = self.memory.received.get(&request) else { return false };
        let sent = self.exchange(index).sent;
        time.is_some_and(|arrived| sent.is_none_or(|sent| arrived <= sent)) || exchange.is_some_and(|x| x < index)
    }

    /// The first request of a stream that was not answered when an exchange began.
    pub(super) fn first_open(&mut self, stream: u32, index: u32) -> Option<u32> {
        let requests = &self.session.streams[stream as usize].requests;
        let mut answered = self.progress[stream as usize].answered;
        while requests.get(answered).is_some_and(|r| self.is_answered(*r, index)) {
            answered += 1;
        }
        let open = requests.get(answered).copied();
        self.progress[stream as usize].answered = answered;
        open
    }

    /// Step 5 of resolution: the only stream with a cursor, unfinished, whose connection has ended. Where very many
    /// streams are unfinished, none of them is the only one that could be meant.
    pub(super) fn by_time(&mut self, index: u32) -> Option<u32> {
        let sent = self.exchange(index).sent?;
        let (mut found, mut at) = (None, 0);
        while let Some(&stream) = self.memory.unfinished.get(at) {
            if at == MOST_UNFINISHED {
                return None;
            }
            let has_requests = !self.session.streams[stream as usize].requests.is_empty();
            if has_requests && self.first_open(stream, index).is_none() {
                self.memory.unfinished.swap_remove(at);
                continue;
            }
            at += 1;
            let last = self.session.streams[stream as usize].legs.last();
            if last.and_then(|leg| leg.ended).is_some_and(|ended| ended <= sent) {
                if found.is_some() {
                    return None;
                }
                found = Some(stream);
            }
        }
        found
    }
}
