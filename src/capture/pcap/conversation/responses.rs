//! The server's half of a conversation: each response answers an exchange, and may have to wait for it.

use super::{Conversation, Stalled, Turn};
use crate::{
    capture::pcap::{
        body::Body,
        exchange::{Exchange, Message},
        half::{Event, Torn},
        head::Head,
        run::Run,
    },
    model::{End, Missing},
    wire::{
        http1::{Framing, ResponseHead, tokens},
        tcp::{Delivery, Part, Stamp},
    },
};

impl Conversation {
    /// Reads a stretch of the server's stream; how many of its bytes belong to what follows HTTP/1. Where a response
    /// begins whose request is not there yet it waits, unless it `must_go`.
    pub(super) fn read_response(&mut self, delivery: &Delivery<'_>, must_go: bool, run: &mut Run<'_>) -> usize {
        let bytes = match delivery.part {
            Part::Hole(length) | Part::Cut(length) => {
                self.tear_response(delivery, length, run);
                return 0;
            }
            Part::Bytes(bytes) => bytes,
        };
        let mut at = 0;
        while at < bytes.len() && self.turn == Turn::Goes {
            let is_early = self.answering >= self.exchanges.len() && !must_go;
            if is_early && self.responses.would_begin(&bytes[at..]) {
                self.stall(delivery, at);
                return 0;
            }
            let offset = delivery.offset.saturating_add(at as i64);
            let (used, event) = self.responses.step(&bytes[at..], at == 0, offset, delivery.own);
            at += used;
            let upto = delivery.offset.saturating_add(at as i64);
            self.answered_upto = upto;
            match event {
                Event::Nothing => {}
                Event::Head(head) => self.begin_response(head, delivery.ready, upto, run),
                Event::Body(piece) => {
                    let is_over = self.responses.has_ended();
                    self.grow_response(piece, upto, delivery.ready, run);
                    if is_over {
                        self.end_response(upto, delivery.ready);
                    }
                }
                Event::End => self.end_response(upto, delivery.ready),
                Event::Broken => self.lose_response(Missing::Undecodable),
            }
        }
        bytes.len() - at
    }

    /// Keeps a stretch, from `at` on, until its request is there.
    pub(super) fn stall(&mut self, delivery: &Delivery<'_>, at: usize) {
        let (bytes, hole): (Option<Box<[u8]>>, u64) = match delivery.part {
            Part::Bytes(bytes) => (Some(bytes.get(at..).unwrap_or_default().into()), 0),
            Part::Hole(length) | Part::Cut(length) => (None, length),
        };
        self.stalled_bytes += bytes.as_ref().map_or(0, |b| b.len()) + size_of::<Stalled>();
        let offset = delivery.offset.saturating_add(at as i64);
        self.stalled.push_back(Stalled { offset, bytes, hole, own: delivery.own, ready: delivery.ready });
    }

    /// Reads what waited, as far as its requests are there, or all of it if it `must_go`.
    pub(super) fn unstall(&mut self, must_go: bool, run: &mut Run<'_>) {
        if self.stalled.is_empty() || (self.answering >= self.exchanges.len() && !must_go) {
            return;
        }
        self.stalled_bytes = 0;
        for stalled in std::mem::take(&mut self.stalled) {
            let part = stalled.bytes.as_deref().map_or(Part::Hole(stalled.hole), Part::Bytes);
            let Stalled { offset, own, ready, .. } = stalled;
            let delivery = Delivery { offset, part, own, ready };
            if self.stalled.is_empty() {
                self.read_response(&delivery, must_go, run);
            } else {
                self.stall(&delivery, 0);
            }
        }
    }

    fn begin_response(&mut self, bytes: Vec<u8>, ready: Stamp, upto: i64, run: &mut Run<'_>) {
        let Some(head) = ResponseHead::read(&bytes) else { return self.responses.lose() };
        let (first, from) = self.responses.began;
        if matches!(head.status, 100 | 102..200) {
            self.responses.frame(Framing::None);
            return;
        }
        self.find_request(from, run);
        let method = self.exchanges.get(self.answering).map_or("", Exchange::method);
        let framing = Framing::of_response(method, &head);
        if head.status == 101 {
            self.turn = Turn::Upgraded;
            if tokens(&head.fields, "upgrade").iter().any(|protocol| protocol == "h2c") {
                // The request is answered in HTTP/2, on stream 1.
                self.turn = Turn::Http2;
                return;
            }
        } else if method.eq_ignore_ascii_case("CONNECT") && framing == Framing::None {
            self.turn = Turn::Tunnel;
        }
        let body = Body::new(&head.fields, &run.context.limits);
        drop(head);
        let message = Message::new(Head::Bytes(bytes), first, ready, body);
        if let Some(exchange) = self.exchanges.get_mut(self.answering) {
            exchange.response = Some(message);
        }
        if self.responses.frame(framing) {
            self.end_response(upto, ready);
        }
    }

    pub(super) fn begin_torn_response(&mut self, bytes: Vec<u8>, ready: Stamp, why: Missing, run: &mut Run<'_>) {
        let (first, from) = self.responses.began;
        if ResponseHead::read(&bytes).is_none_or(|head| matches!(head.status, 100..200)) {
            return;
        }
        self.find_request(from, run);
        if let Some(exchange) = self.exchanges.get_mut(self.answering) {
            exchange.response = Some(Message::torn(bytes, first, ready, why));
            if why == Missing::Hole {
                exchange.close(End::Unknown, None);
                self.answering += 1;
            }
        }
    }

    /// Moves on to the exchange that a response at this offset answers; one without request where there is none.
    ///
    /// After a loss the order of messages proves nothing. But a client that does not pipeline has read all earlier
    /// responses when it asks, and its packet says so: it acknowledges exactly the bytes before its answer.
    fn find_request(&mut self, from: i64, run: &mut Run<'_>) {
        if self.is_torn {
            let asked = |exchanges: &std::collections::VecDeque<Exchange>, i: usize| exchanges.get(i)?.asked;
            while let Some(next) = asked(&self.exchanges, self.answering + 1)
                && next <= from
                && asked(&self.exchanges, self.answering).is_none_or(|this| this < next)
            {
                self.leave_unanswered();
            }
            if asked(&self.exchanges, self.answering).is_some_and(|this| this > from) {
                let entry = run.entry();
                self.exchanges.insert(self.answering, Exchange::new(entry));
                return;
            }
        }
        if self.answering >= self.exchanges.len() {
            let entry = run.entry();
            self.exchanges.push_back(Exchange::new(entry));
            self.answering = self.exchanges.len() - 1;
        }
    }

    /// The present exchange's response was lost by the capture, or is waited for no longer.
    pub(super) fn leave_unanswered(&mut self) {
        if let Some(exchange) = self.exchanges.get_mut(self.answering)
            && exchange.response.is_none()
        {
            exchange.unanswered = Missing::Hole;
            exchange.close(End::Unknown, None);
            exchange.is_over = true;
        }
        self.answering += 1;
    }

    fn grow_response(&mut self, piece: &[u8], upto: i64, ready: Stamp, run: &mut Run<'_>) {
        if let Some(response) = self.answer()
            && response.body.push(piece, upto, ready)
        {
            let frame = ready.frame;
            run.account.caveat("limit-reached", format!("a response body reaches --limit body at packet {frame}"));
        }
    }

    fn end_response(&mut self, upto: i64, ready: Stamp) {
        if let Some(response) = self.answer() {
            response.upto = Some(upto);
        }
        if let Some(exchange) = self.exchanges.get_mut(self.answering) {
            exchange.close(End::Clean, ready.micros);
        }
        self.answering += 1;
    }

    fn lose_response(&mut self, why: Missing) {
        if let Some(exchange) = self.exchanges.get_mut(self.answering)
            && let Some(response) = &mut exchange.response
        {
            response.body.lose(why);
            exchange.close(End::Unknown, None);
            self.answering += 1;
        }
    }

    fn tear_response(&mut self, delivery: &Delivery<'_>, length: u64, run: &mut Run<'_>) {
        self.is_torn = true;
        match self.responses.tear(length) {
            Torn::Between => {}
            Torn::Head(head) => self.begin_torn_response(head, delivery.ready, Missing::Hole, run),
            Torn::Body => {
                if let Some(response) = self.answer() {
                    response.body.lose(Missing::Hole);
                }
                if self.responses.has_ended() {
                    self.end_response(delivery.offset.saturating_add_unsigned(length), delivery.ready);
                }
            }
            Torn::Rest => self.lose_response(Missing::Hole),
        }
    }

    fn answer(&mut self) -> Option<&mut Message> {
        self.exchanges.get_mut(self.answering)?.response.as_mut()
    }
}
