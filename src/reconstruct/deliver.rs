//! Correlating what was delivered: which request a response answers, which requests the server sent.

use super::{
    build::Builder,
    clock::{self, Clock},
};
use crate::{
    evidence::{Locus, Part},
    model::{Content, Direction, EventFact, EventId, Message, MessageKind, Receipt, Reply, Terminal, Time},
};
use std::sync::Arc;

/// How many requests of one id are looked at for one that another recorder saw.
const MOST_OTHERS: usize = 64;

/// Where and how a message arrived.
#[derive(Clone, Copy)]
pub(super) struct Arrival {
    at: Locus,
    time: Option<Time>,
    stream: Option<u32>,
    event_id: Option<EventId>,
    receipt: Receipt,
}

impl Builder<'_> {
    /// Delivers everything that an exchange carried in either direction.
    pub(super) fn deliveries(&mut self, index: u32, stream: Option<u32>) {
        let exchange = self.exchange(index);
        for message in exchange.messages().iter().filter(|m| m.is_reply()) {
            let receipt = if exchange.accepted() { Receipt::Proven } else { Receipt::Unknown };
            let at = Arrival { at: Locus::request(index), time: exchange.sent, stream: None, event_id: None, receipt };
            self.answer(message, Direction::Server, at);
        }
        match exchange.response.content() {
            Some(Content::Messages(messages)) => {
                for message in messages {
                    let (time, receipt) = (Clock::answer(exchange), Clock::whole_receipt(exchange));
                    let at = Arrival { at: Locus::response(index), time, stream, event_id: None, receipt };
                    self.take(message, at);
                }
            }
            Some(Content::Events(log)) => {
                for (event, message) in &log.messages {
                    let Some(fact) = log.events.get(*event as usize).filter(|e| EventFact::is_message(e)) else {
                        continue;
                    };
                    let at = Arrival {
                        at: Locus::event(index, *event),
                        time: self.run.clock.event(self.run.exchanges, index, *event),
                        stream,
                        event_id: fact.explicit_id(),
                        receipt: self.run.clock.receipt(self.run.exchanges, index, *event),
                    };
                    self.take(message, at);
                }
            }
            _ => {}
        }
    }

    /// Takes one message that came from the server.
    fn take(&mut self, message: &Message, at: Arrival) {
        match message.kind {
            MessageKind::Response | MessageKind::Error => self.answer(message, Direction::Client, at),
            MessageKind::Request => self.server_request(message, at),
            MessageKind::Notification if message.is("notifications/cancelled") => {
                self.cancel(message, Direction::Server, at.at, at.time);
            }
            MessageKind::Notification | MessageKind::Other => {}
        }
    }

    /// A response: to the request of its own POST first, then to the newest one of that id that was sent before it.
    fn answer(&mut self, message: &Message, direction: Direction, at: Arrival) {
        let terminal = Terminal {
            kind: if message.kind == MessageKind::Error { Reply::Error } else { Reply::Result },
            payload: message.payload,
            stream: at.stream,
            at: at.at,
            time: at.time,
            event_id: at.event_id,
            redelivery: false,
            receipt: at.receipt,
        };
        let request = message.id.as_ref().and_then(|id| self.request_of(id, direction, &at));
        let Some(number) = request else {
            self.session.orphans.push((message.id.clone(), terminal));
            return;
        };
        let request = &mut self.session.requests[number as usize];
        if let Some(detail) = &message.detail
            && detail.creates_task
        {
            request.task = request.task.or(detail.task);
        }
        request.terminals.push(terminal.clone());
        self.receive(number, &terminal);
    }

    fn request_of(&self, id: &Arc<str>, direction: Direction, at: &Arrival) -> Option<u32> {
        let refusal = self.exchange(at.at.exchange).status.is_some_and(|status| status >= 400);
        if refusal && direction == Direction::Client && at.at.part == Part::Response {
            return self.refused(id, at.at.exchange);
        }
        let same = self.by_id.get(&(direction, Arc::clone(id)))?;
        let requests = &self.session.requests;
        let exchange = at.at.exchange;
        let newest = |known: usize| known.checked_sub(1).and_then(|last| same.get(last));
        let until = newest(same.partition_point(|r| requests[*r as usize].at.exchange <= exchange));
        let own = until.filter(|r| requests[**r as usize].at.exchange == exchange && direction == Direction::Client);
        // They are in order of sending.
        let before = |r: &u32| {
            let sent = &requests[*r as usize];
            match (sent.time, at.time) {
                (Some(sent), Some(arrived)) => sent <= arrived,
                _ => sent.at.exchange < exchange || at.stream.is_some(),
            }
        };
        // Two recorders' clocks disagree: then the first request of that id is the least surprising.
        let other_clock = |r: &&u32| {
            let sent = self.exchange(requests[**r as usize].at.exchange);
            sent.at.source != self.exchange(exchange).at.source
        };
        // The id of a request of this very POST, in the other type: an answer to that one, under a wrong id.
        if own.is_none() && direction == Direction::Client && self.answers_own_in_other_type(id, exchange) {
            return None;
        }
        let sent = || newest(same.partition_point(before));
        own.or_else(sent).or_else(|| same.iter().take(MOST_OTHERS).find(other_clock)).copied()
    }

    /// The request that a 4xx or 5xx body answers: one of its own exchange, whatever id servers put there.
    fn refused(&self, id: &str, exchange: u32) -> Option<u32> {
        let mut own = self.requests_of(exchange);
        let only = (own.len() == 1).then_some(own.start);
        own.find(|number| &*self.session.requests[*number].id == id).or(only).map(|number| number as u32)
    }

    /// An open request of the exchange has the same id but for its type: `"1"` and `1`.
    fn answers_own_in_other_type(&self, id: &str, exchange: u32) -> bool {
        let other = match id.strip_prefix('"').and_then(|i| i.strip_suffix('"')) {
            Some(text) => text.to_owned(),
            None => format!("\"{id}\""),
        };
        let same = self.by_id.get(&(Direction::Client, other.into())).map_or(&[][..], Vec::as_slice);
        same.iter()
            .rev()
            .map(|r| &self.session.requests[*r as usize])
            .any(|r| r.at.exchange == exchange && r.terminals.is_empty())
    }

    /// A request from the server, unless it is the second delivery of one that is known.
    fn server_request(&mut self, message: &Message, at: Arrival) {
        let Some(id) = message.id.clone() else { return };
        let what = (id, message.method.clone(), message.payload);
        if self.memory.server_requests.insert(what) {
            let number = self.request(message, Direction::Server, at.at, at.time);
            self.session.requests[number as usize].stream = at.stream;
        }
    }

    /// The stream that a resumed body's content names: that of the one open request which it answers or reports on.
    pub(super) fn by_content(&mut self, index: u32) -> Option<u32> {
        let exchange = self.exchange(index);
        let log = clock::log(exchange)?;
        let mut found: Option<u32> = None;
        let replies = log.messages.iter().filter(|(_, m)| m.is_reply()).filter_map(|(_, m)| m.id.as_ref());
        let by_id = replies.filter_map(|id| self.by_id.get(&(Direction::Client, Arc::clone(id)))?.last().copied());
        let by_token = log.tokens.iter().filter_map(|(_, token)| self.by_token.get(token)?.last().copied());
        for request in by_id.chain(by_token) {
            let facts = &self.session.requests[request as usize];
            let open = !self.is_answered(request, index) && facts.at.exchange < index;
            if !open || facts.direction == Direction::Server || found == Some(request) {
                continue;
            }
            if found.is_some() {
                return None;
            }
            found = Some(request);
        }
        found.map(|request| self.stream_of_request(request))
    }
}
