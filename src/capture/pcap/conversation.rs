//! HTTP/1 on one connection: which response answers which request, and how each ended.

mod requests;
mod responses;

use super::{
    exchange::{Exchange, Finished},
    half::{Event, Half},
    peers::Peers,
    run::Run,
};
use crate::{
    model::{End, Missing, Side},
    wire::tcp::{Close, Delivery, Part, Place, Stamp},
};
use std::collections::VecDeque;

/// Bytes of responses that wait for their request; beyond that the request is lost.
const LONGEST_STALL: usize = 1 << 20;

/// Requests that may be open at a time; more are no client's.
const MOST_OPEN: usize = 4096;

/// Complete exchanges that wait for the client's acknowledgement, and the bytes of them.
const MOST_WAITING: usize = 64;
const LARGEST_WAITING: usize = 8 << 20;

/// What becomes of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It goes on as HTTP/1.
    Goes,
    /// What follows in both directions is a tunnel: another protocol of its own.
    Tunnel,
    /// What follows is HTTP/2.
    Http2,
    /// What follows is neither (WebSocket).
    Upgraded,
}

/// Part of a response that came before its request was there.
struct Stalled {
    offset: i64,
    bytes: Option<Box<[u8]>>,
    hole: u64,
    own: Stamp,
    ready: Stamp,
}

/// The conversation on one connection.
pub struct Conversation {
    requests: Half,
    responses: Half,
    exchanges: VecDeque<Exchange>,
    /// Index of the exchange that the next response, or the present one, belongs to.
    answering: usize,
    stalled: VecDeque<Stalled>,
    stalled_bytes: usize,
    /// The entry whose request is arriving.
    asking: Option<u32>,
    /// Offset in the server's stream behind the last byte that was taken.
    answered_upto: i64,
    /// Something was lost, so the n-th response need not answer the n-th request.
    is_torn: bool,
    /// Who closed first, and with which packet.
    closer: Option<(Side, Stamp)>,
    turn: Turn,
    server: Option<Place>,
}

impl Conversation {
    /// A conversation; `is_whole` where the capture holds the connection's beginning.
    pub fn new(is_whole: bool) -> Self {
        Self {
            requests: Half::new(true, !is_whole),
            responses: Half::new(false, !is_whole),
            exchanges: VecDeque::new(),
            answering: 0,
            stalled: VecDeque::new(),
            stalled_bytes: 0,
            asking: None,
            answered_upto: 0,
            is_torn: !is_whole,
            closer: None,
            turn: Turn::Goes,
            server: None,
        }
    }

    /// Takes the next stretch of the client's stream. `server` is the present place in the server's.
    pub fn request(&mut self, delivery: &Delivery<'_>, server: Option<Place>, run: &mut Run<'_>) -> Turn {
        self.server = server;
        match delivery.part {
            Part::Hole(length) | Part::Cut(length) => self.tear_request(delivery, length, run),
            Part::Bytes(bytes) => {
                let mut at = 0;
                while at < bytes.len() && self.turn == Turn::Goes {
                    let offset = delivery.offset.saturating_add(at as i64);
                    let (used, event) = self.requests.step(&bytes[at..], at == 0, offset, delivery.own);
                    at += used;
                    let upto = delivery.offset.saturating_add(at as i64);
                    match event {
                        Event::Nothing => {}
                        Event::Head(head) => self.begin_request(head, delivery.ready, upto, run),
                        Event::Body(piece) => {
                            let is_over = self.requests.has_ended();
                            self.grow_request(piece, upto, delivery.ready, run);
                            if is_over {
                                self.end_request(upto);
                            }
                        }
                        Event::End => self.end_request(upto),
                        Event::Broken => self.lose_request(Missing::Undecodable),
                    }
                }
            }
        }
        self.unstall(false, run);
        self.turn
    }

    /// Takes the next stretch of the server's stream; the number of bytes that belong to what follows HTTP/1.
    pub fn response(&mut self, delivery: &Delivery<'_>, run: &mut Run<'_>) -> (Turn, usize) {
        if !self.stalled.is_empty() {
            self.stall(delivery, 0);
            self.unstall(false, run);
            return (self.turn, 0);
        }
        let left = self.read_response(delivery, false, run);
        (self.turn, left)
    }

    /// So much of the server's stream waits for requests that these must be lost.
    pub fn stalls_too_long(&self) -> bool {
        self.stalled_bytes > LONGEST_STALL
    }

    /// Reads what waits for requests although they are not there.
    pub fn go(&mut self, run: &mut Run<'_>) {
        self.unstall(true, run);
    }

    /// Takes out the exchange that a change to HTTP/2 leaves to be answered there.
    pub fn upgraded(&mut self) -> Option<Exchange> {
        self.exchanges.remove(self.answering)
    }

    /// Takes note of who was the first to close.
    pub fn saw_close(&mut self, side: Side, stamp: Stamp) {
        self.closer.get_or_insert((side, stamp));
    }

    /// One side has closed its direction, and all that it sent before has been taken.
    pub fn close(&mut self, side: Side, how: Close, stamp: Stamp, run: &mut Run<'_>) {
        if side == Side::Client && how == Close::Fin {
            if let Some(head) = self.requests.torn_head() {
                self.begin_torn_request(head, Missing::CutOff, run);
            }
            self.lose_request(Missing::CutOff);
            self.unstall(false, run);
            return;
        }
        self.unstall(true, run);
        if let Some(head) = self.responses.torn_head() {
            self.begin_torn_response(head, stamp, Missing::CutOff, run);
        }
        let upto = self.answered_upto;
        for i in 0..self.exchanges.len() {
            let closed = self.blame(i, Some((side, stamp)));
            let Some(exchange) = self.exchanges.get_mut(i) else { break };
            let by_client = closed.is_some_and(|(by, _)| by == Side::Client);
            if i == self.answering
                && self.responses.ends_with_connection()
                && how == Close::Fin
                && !by_client
                && let Some(response) = &mut exchange.response
            {
                response.upto = Some(upto);
                exchange.close(End::Unknown, stamp.micros);
            }
            exchange.cut(closed);
        }
        self.asking = None;
        self.answering = self.exchanges.len();
    }

    /// The capture ends, or this connection is given up.
    pub fn finish(&mut self, run: &mut Run<'_>) {
        self.unstall(true, run);
        let why = if self.closer.is_some() { Missing::CutOff } else { Missing::CaptureEnd };
        if let Some(head) = self.requests.torn_head() {
            self.begin_torn_request(head, why, run);
        }
        if let Some(head) = self.responses.torn_head() {
            self.begin_torn_response(head, Stamp::default(), why, run);
        }
        for i in 0..self.exchanges.len() {
            let closed = self.blame(i, None);
            if let Some(exchange) = self.exchanges.get_mut(i) {
                exchange.cut(closed);
            }
        }
    }

    /// Hands over what is complete. `acknowledged` is how far the client has acknowledged the server's stream, where
    /// its packets are in the capture; `is_last` where no more packets of this connection will come.
    pub fn settle(&mut self, acknowledged: Option<i64>, is_last: bool, peers: &mut Peers, run: &mut Run<'_>) {
        while let Some(front) = self.exchanges.front() {
            if !front.is_complete() {
                break;
            }
            let end = front.response.as_ref().and_then(|m| m.upto);
            let is_proven = acknowledged.is_none_or(|upto| end.is_none_or(|end| end <= upto));
            if !is_proven && !is_last && !self.waits_too_long() {
                break;
            }
            let address = peers.address(run.context);
            let Some(exchange) = self.exchanges.pop_front() else { break };
            (run.sink)(Finished { exchange, address, authority: peers.authority().to_owned(), acknowledged });
            self.answering = self.answering.saturating_sub(1);
        }
    }

    fn waits_too_long(&self) -> bool {
        let complete = self.exchanges.iter().take(MOST_WAITING + 1).filter(|e| e.is_complete());
        let (count, size) = complete.fold((0, 0), |(count, size), e| (count + 1, size + e.size()));
        count > MOST_WAITING || size > LARGEST_WAITING
    }

    /// Who ended an exchange, and when: who closed first, unless that was before the response began (a client may
    /// close its direction once it has asked), else who closes now.
    fn blame(&self, i: usize, now: Option<(Side, Stamp)>) -> Option<(Side, Option<i64>)> {
        let began = self.exchanges.get(i).and_then(|e| e.response.as_ref()).map(|m| m.first.frame);
        let first = self.closer.filter(|(_, stamp)| began.is_none_or(|frame| frame <= stamp.frame));
        first.or(now).map(|(side, stamp)| (side, stamp.micros))
    }
}
