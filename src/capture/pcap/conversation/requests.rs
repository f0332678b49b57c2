//! The client's half of a conversation: each request begins an exchange.

use super::{Conversation, MOST_OPEN};
use crate::{
    capture::pcap::{
        body::Body,
        exchange::{Exchange, Message},
        half::Torn,
        head::Head,
        run::Run,
    },
    model::Missing,
    wire::{
        http1::{Framing, RequestHead},
        tcp::{Delivery, Stamp},
    },
};

impl Conversation {
    pub(super) fn begin_request(&mut self, bytes: Vec<u8>, ready: Stamp, upto: i64, run: &mut Run<'_>) {
        let Some(head) = RequestHead::read(&bytes) else {
            // Not even a target can be made out; the server answers it all the same.
            let entry = run.entry();
            self.exchanges.push_back(Exchange::new(entry));
            return self.requests.lose();
        };
        let framing = Framing::of_request(&head);
        let body = Body::new(&head.fields, &run.context.limits);
        drop(head);
        let message = Message::new(Head::Bytes(bytes), self.requests.began.0, ready, body);
        let entry = self.open(message, run);
        self.asking = Some(entry);
        if self.requests.frame(framing) {
            self.end_request(upto);
        }
    }

    pub(super) fn begin_torn_request(&mut self, bytes: Vec<u8>, why: Missing, run: &mut Run<'_>) {
        // Without a whole request line there is neither an address nor anything else to tell.
        if RequestHead::read(&bytes).is_some() {
            let message = Message::torn(bytes, self.requests.began.0, self.requests.began.0, why);
            self.open(message, run);
        }
    }

    fn open(&mut self, message: Message, run: &mut Run<'_>) -> u32 {
        let asked = self.server.zip(message.first.ack).map(|(server, ack)| server.offset_of(ack));
        let entry = run.entry();
        self.exchanges.push_back(Exchange { asked, request: Some(message), ..Exchange::new(entry) });
        if self.exchanges.len() > self.answering.saturating_add(MOST_OPEN) {
            let message =
                format!("more than {MOST_OPEN} requests of a connection are open at a time; the oldest are given up");
            run.account.caveat("limit-reached", message);
            self.is_torn = true;
            self.leave_unanswered();
        }
        entry
    }

    pub(super) fn grow_request(&mut self, piece: &[u8], upto: i64, ready: Stamp, run: &mut Run<'_>) {
        if let Some(request) = self.asking()
            && request.body.push(piece, upto, ready)
        {
            let frame = ready.frame;
            run.account.caveat("limit-reached", format!("a request body reaches --limit body at packet {frame}"));
        }
    }

    pub(super) fn end_request(&mut self, upto: i64) {
        if let Some(request) = self.asking() {
            request.upto = Some(upto);
            request.close();
        }
        self.asking = None;
    }

    pub(super) fn lose_request(&mut self, why: Missing) {
        if let Some(request) = self.asking() {
            request.body.lose(why);
            request.close();
        }
        self.asking = None;
    }

    pub(super) fn tear_request(&mut self, delivery: &Delivery<'_>, length: u64, run: &mut Run<'_>) {
        self.is_torn = true;
        match self.requests.tear(length) {
            Torn::Between => {}
            Torn::Head(head) => self.begin_torn_request(head, Missing::Hole, run),
            Torn::Body => {
                if let Some(request) = self.asking() {
                    request.body.lose(Missing::Hole);
                }
                if self.requests.has_ended() {
                    self.end_request(delivery.offset.saturating_add_unsigned(length));
                }
            }
            Torn::Rest => self.lose_request(Missing::Hole),
        }
    }

    fn asking(&mut self) -> Option<&mut Message> {
        let entry = self.asking?;
        self.exchanges.iter_mut().rev().find(|e| e.entry == entry)?.request.as_mut()
    }
}
