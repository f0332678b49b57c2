//! What became of it all: request states, verdicts of resumptions, what the client did next, why the session ended.

use super::{build::Builder, clock};
use crate::model::{
    Advice, Body, Content, End, Era, EventFlags, Exchange, MediaType, Method, Next, OpenedBy, RequestState, Resumption,
    SessionEnd, Verdict,
};
use foldhash::HashMap;

impl Builder<'_> {
    /// The last pass, once everything was delivered.
    pub(super) fn settle(&mut self) {
        self.settle_requests();
        self.settle_end();
        self.settle_answers();
        for number in 0..self.session.resumptions.len() {
            self.session.resumptions[number].verdict = self.verdict(&self.session.resumptions[number]);
        }
        self.settle_next();
    }

    fn settle_requests(&mut self) {
        let mut accepted_later: HashMap<(std::sync::Arc<str>, u128), u32> = HashMap::default();
        for request in self.session.requests.iter().filter(|r| r.refused.is_none()) {
            accepted_later.insert((request.id.clone(), request.payload.0), request.at.exchange);
        }
        for request in &mut self.session.requests {
            request.terminals.sort_by_key(|t| (t.time.is_none(), t.time, t.at));
            for (i, terminal) in request.terminals.iter_mut().enumerate() {
                terminal.redelivery = i > 0;
            }
            let repeated =
                accepted_later.get(&(request.id.clone(), request.payload.0)).is_some_and(|x| *x > request.at.exchange);
            request.auth_retry = matches!(request.refused, Some(401 | 403)) && repeated;
            request.state = if request.refused.is_some() {
                RequestState::Rejected
            } else if !request.terminals.is_empty() {
                RequestState::Answered
            } else if request.cancelled.is_some() {
                RequestState::Cancelled
            } else {
                RequestState::Open
            };
        }
    }

    /// Start, end, and why.
    fn settle_end(&mut self) {
        let mut gone = None;
        let mut deleted = None;
        for &index in &self.seed.exchanges {
            let exchange = self.exchange(index);
            self.session.started = self.session.started.or(exchange.sent);
            self.session.ended = self.session.ended.max(exchange.ended.or(exchange.head).or(exchange.sent));
            match exchange.status {
                Some(200..300 | 404) if exchange.method == Method::Delete => deleted = Some(index),
                Some(404)
                    if exchange.session.is_some()
                        && !exchange.is_modern()
                        && !self.run.usual.is_from_gateway(exchange) =>
                {
                    gone = gone.or(Some(index));
                }
                Some(200..300) if exchange.session.is_some() => gone = None,
                _ => {}
            }
        }
        let last = self.seed.exchanges.last().copied().unwrap_or(0);
        let initialized = self.run.initialized.get(&(self.seed.endpoint.clone(), self.seed.scope));
        (self.session.end, self.session.ended_by) = match (deleted, gone) {
            (Some(by), _) => (SessionEnd::Deleted, Some(by)),
            (None, Some(by)) => (SessionEnd::Gone, Some(by)),
            _ if initialized.is_some_and(|by| *by > last) => (SessionEnd::Superseded, initialized.copied()),
            _ => (SessionEnd::CaptureEnd, None),
        };
    }

    /// Which answers each resumed connection delivered.
    fn settle_answers(&mut self) {
        let by_exchange: HashMap<u32, usize> =
            self.session.resumptions.iter().enumerate().map(|(number, r)| (r.exchange, number)).collect();
        if by_exchange.is_empty() {
            return;
        }
        for (request, facts) in self.session.requests.iter().enumerate() {
            for (delivery, terminal) in facts.terminals.iter().enumerate() {
                if let Some(number) = by_exchange.get(&terminal.at.exchange) {
                    self.session.resumptions[*number].answers.push((request as u32, delivery as u32));
                }
            }
        }
    }

    fn verdict(&self, resumption: &Resumption) -> Verdict {
        let exchange = self.exchange(resumption.exchange);
        let streams = exchange.headers.content_type == MediaType::EventStream;
        let Some(status) = resumption.status else { return Verdict::Unknown };
        if (400..500).contains(&status) {
            return Verdict::Rejected;
        }
        if status == 200 && streams && matches!(exchange.response, Body::NotCaptured(_)) {
            return Verdict::Unknown;
        }
        let silent = resumption.replayed == 0 && resumption.answers.is_empty();
        if silent && streams && (exchange.end == End::Open || !clock::ended_on_wire(exchange)) {
            return if exchange.end == End::Open { Verdict::Open } else { Verdict::Unknown };
        }
        let refused = matches!(resumption.guard, Some(advice) if advice != Advice::Allow);
        let elsewhere = resumption.answers.iter().any(|(request, _)| {
            let home = self.session.requests[*request as usize].stream;
            exchange.method == Method::Get && home.is_some() && resumption.stream.is_some() && home != resumption.stream
        });
        if refused || elsewhere {
            return Verdict::Invalid;
        }
        let standalone = resumption.stream.is_some_and(|s| self.session.streams[s as usize].opened_by == OpenedBy::Get);
        if status == 200 && streams && standalone {
            return Verdict::Valid;
        }
        if silent {
            let invites = matches!(exchange.response.content(), Some(Content::Events(log))
                if log.events.iter().any(|e| e.explicit_id().is_some_and(|id| id != resumption.cursor.id))
                    || self.session.era >= Era::November2025 && log.events.iter().any(|e| e.flags.contains(EventFlags::HAS_RETRY)));
            return if status == 200 && streams && invites { Verdict::Polling } else { Verdict::Failed };
        }
        if status >= 500 || !(200..300).contains(&status) || (!streams && exchange.method == Method::Get) {
            return Verdict::Failed;
        }
        Verdict::Valid
    }

    fn settle_next(&mut self) {
        let last_resume: HashMap<u32, u32> =
            self.session.resumptions.iter().filter_map(|r| Some((r.stream?, r.exchange))).collect();
        let mut calls: HashMap<(u128, &str), u32> = HashMap::default();
        for request in &self.session.requests {
            calls.insert((request.arguments.0, &request.method), request.at.exchange);
        }
        let deleted = self.seed.exchanges.iter().rev().find(|x| self.exchange(**x).method == Method::Delete).copied();
        let used = self.seed.exchanges.last().copied().unwrap_or(0);
        let initialized = self.run.initialized.get(&(self.seed.endpoint.clone(), self.seed.scope)).copied();
        // Of the requests of a stream: all were answered, and the last one that asks the same as one of them.
        let mut streams: HashMap<u32, (bool, Option<u32>)> = HashMap::default();
        let next: Vec<Next> = self
            .session
            .resumptions
            .iter()
            .map(|resumption| {
                let after = |other: Option<u32>| other.is_some_and(|x| x > resumption.exchange);
                let asked = resumption.stream.map(|s| {
                    *streams.entry(s).or_insert_with(|| {
                        let requests = self.session.streams[s as usize].requests.iter();
                        let requests: Vec<_> = requests.map(|r| &self.session.requests[*r as usize]).collect();
                        let answered = !requests.is_empty() && requests.iter().all(|r| !r.terminals.is_empty());
                        let again = requests.iter().filter_map(|r| calls.get(&(r.arguments.0, &*r.method))).max();
                        (answered, again.copied())
                    })
                });
                let (answered, again) = asked.unwrap_or_default();
                if after(resumption.stream.and_then(|s| last_resume.get(&s)).copied()) {
                    Next::ResumedAgain
                } else if answered {
                    Next::WentOn
                } else if after(again) {
                    Next::Retried
                } else if after(initialized) {
                    Next::Reinitialized
                } else if after(deleted) {
                    Next::Closed
                } else if used > resumption.exchange {
                    Next::GaveUp
                } else {
                    Next::NothingCaptured
                }
            })
            .collect();
        for (resumption, next) in self.session.resumptions.iter_mut().zip(next) {
            resumption.next = next;
        }
    }
}

/// An exchange that was answered with an accepted event stream.
pub fn is_open_stream(exchange: &Exchange) -> bool {
    exchange.accepted() && exchange.headers.content_type == MediaType::EventStream
}
