//! HTTP/2 on one connection: its streams are exchanges.

mod block;
mod direction;

use super::{
    body::Body,
    exchange::{Exchange, Finished, Message, Progress},
    frames::{Event, Torn},
    peers::Peers,
    run::Run,
};
use crate::{
    model::{End, Missing, Side},
    wire::{
        http2::{FrameHead, kind},
        tcp::{Close, Delivery, Part, Place, Stamp},
    },
};
use block::Fields;
use direction::Direction;
use std::collections::{BTreeMap, VecDeque};

/// Most streams of one connection that are open at a time.
const MOST_STREAMS: usize = 4096;

/// Complete exchanges that wait for the client's acknowledgement.
const MOST_WAITING: usize = 64;

/// The conversation on one connection.
pub struct Http2 {
    client: Direction,
    server: Direction,
    streams: BTreeMap<u32, Exchange>,
    done: VecDeque<Exchange>,
    closer: Option<(Side, Stamp)>,
    /// The present place in the server's stream.
    answers: Option<Place>,
    /// The first and the last stream whose request was seen.
    asked: Option<(u32, u32)>,
    /// Something could not be read; it is said once for each connection.
    is_partial: bool,
    port: u16,
}

impl Http2 {
    /// A conversation with the server on `port`; `is_whole` where the capture holds its beginning. `upgraded` is the
    /// HTTP/1 request that asked for HTTP/2 and is answered on stream 1.
    pub fn new(is_whole: bool, port: u16, upgraded: Option<Exchange>) -> Self {
        let upgraded_stream = upgraded.as_ref().map(|_| (1, 1));
        Self {
            client: Direction::new(true, !is_whole),
            server: Direction::new(false, !is_whole),
            streams: upgraded.map(|exchange| (1, exchange)).into_iter().collect(),
            done: VecDeque::new(),
            closer: None,
            answers: None,
            asked: upgraded_stream,
            is_partial: !is_whole,
            port,
        }
    }

    /// Takes the next stretch of one side's stream; `other` is the present place in the other side's.
    pub fn take(&mut self, side: Side, delivery: &Delivery<'_>, other: Option<Place>, run: &mut Run<'_>) {
        if side == Side::Client {
            self.answers = other;
        }
        let bytes = match delivery.part {
            Part::Hole(length) | Part::Cut(length) => {
                return self.tear(side, length, delivery.offset.saturating_add_unsigned(length));
            }
            Part::Bytes(bytes) => bytes,
        };
        let mut at = 0;
        while at < bytes.len() || self.direction(side).frames.is_due() {
            let (used, event) = self.direction(side).frames.step(&bytes[at..], at == 0);
            at += used;
            let upto = delivery.offset.saturating_add(at as i64);
            match event {
                Event::Nothing => {}
                Event::Data(stream, piece) => self.grow(side, stream, piece, upto, delivery.ready, run),
                Event::DataEnd(stream, is_end) => {
                    if is_end {
                        self.end(side, stream, upto, delivery.ready);
                    }
                }
                Event::Frame(head, payload) => self.frame(side, head, &payload, upto, delivery, run),
                Event::Lost => self.lose(side, i64::MAX),
            }
        }
    }

    /// Takes note of who was the first to close.
    pub fn saw_close(&mut self, side: Side, stamp: Stamp) {
        self.closer.get_or_insert((side, stamp));
    }

    /// One side has closed its direction, and all that it sent before has been taken.
    pub fn close(&mut self, side: Side, how: Close, stamp: Stamp) {
        if side == Side::Client && how == Close::Fin {
            return;
        }
        let (by, stamp) = self.closer.unwrap_or((side, stamp));
        self.cut_all(Some((by, stamp.micros)));
    }

    /// The capture ends, or this connection is given up.
    pub fn finish(&mut self, run: &mut Run<'_>) {
        let by = self.closer.map(|(side, stamp)| (side, stamp.micros));
        self.cut_all(by);
        if self.is_partial {
            let message = format!("an HTTP/2 connection to port {} could be read in part only", self.port);
            run.account.caveat("h2-unsupported", message);
        }
    }

    /// Hands over what is complete, as [`super::conversation::Conversation::settle`] does.
    pub fn settle(&mut self, acknowledged: Option<i64>, is_last: bool, peers: &mut Peers, run: &mut Run<'_>) {
        while let Some(front) = self.done.front() {
            let end = front.response.as_ref().and_then(|m| m.upto);
            let is_proven = acknowledged.is_none_or(|upto| end.is_none_or(|end| end <= upto));
            if !is_proven && !is_last && self.done.len() <= MOST_WAITING {
                break;
            }
            let address = peers.address(run.context);
            let Some(exchange) = self.done.pop_front() else { break };
            (run.sink)(Finished { exchange, address, authority: peers.authority().to_owned(), acknowledged });
        }
    }

    fn direction(&mut self, side: Side) -> &mut Direction {
        if side == Side::Client { &mut self.client } else { &mut self.server }
    }

    fn frame(
        &mut self,
        side: Side,
        head: FrameHead,
        payload: &[u8],
        upto: i64,
        delivery: &Delivery<'_>,
        run: &mut Run<'_>,
    ) {
        match head.kind {
            kind::HEADERS | kind::PUSH_PROMISE | kind::CONTINUATION => {
                let Some(begun) = self.direction(side).collect(head, payload, delivery.own) else { return };
                let fields = match self.direction(side).decode(&begun.block) {
                    Some(fields) => fields,
                    None => return self.is_partial = true,
                };
                if begun.head.kind == kind::PUSH_PROMISE {
                    return;
                }
                self.is_partial |= fields.is_torn;
                self.head(side, begun.head.stream, fields, begun.first, delivery.ready, run);
                if begun.head.ends_stream() {
                    self.end(side, begun.head.stream, upto, delivery.ready);
                }
            }
            kind::RST_STREAM => self.reset(side, head.stream, delivery.ready),
            kind::GOAWAY => {
                let last = payload.first_chunk().copied().map_or(u32::MAX, u32::from_be_bytes) & 0x7fff_ffff;
                let refused: Vec<u32> = self.streams.range(last.saturating_add(1)..).map(|(id, _)| *id).collect();
                for stream in refused.into_iter().filter(|_| side == Side::Server) {
                    self.reset(side, stream, delivery.ready);
                }
            }
            _ => {}
        }
    }

    /// Takes a request's or a response's fields. A second block of one message holds trailers.
    fn head(&mut self, side: Side, stream: u32, fields: Fields, first: Stamp, ready: Stamp, run: &mut Run<'_>) {
        let known = self.streams.get(&stream);
        let is_known =
            known.is_some_and(|e| if side == Side::Client { e.request.is_some() } else { e.response.is_some() });
        if is_known || fields.is_interim() {
            return;
        }
        if known.is_none() && self.streams.len() >= MOST_STREAMS {
            self.is_partial = true;
            return;
        }
        match side {
            Side::Client => self.asked = self.asked.map_or(Some((stream, stream)), |(first, _)| Some((first, stream))),
            // What was in flight when the client dropped the stream, or what the server pushes: nobody asked for it.
            _ if known.is_none() && self.is_unasked(stream) => return,
            _ => {}
        }
        let exchange = self.streams.entry(stream).or_insert_with(|| Exchange::new(run.entry()));
        let is_torn = fields.is_torn;
        let head = if side == Side::Client { fields.request() } else { fields.response() };
        let Some(head) = head else { return };
        let body = Body::new(&head.fields(), &run.context.limits);
        let mut message = Message::new(head, first, ready, body);
        message.is_head_torn = is_torn;
        if side == Side::Client {
            exchange.asked = self.answers.zip(first.ack).map(|(place, ack)| place.offset_of(ack));
        }
        let slot = if side == Side::Client { &mut exchange.request } else { &mut exchange.response };
        *slot = Some(message);
    }

    fn message(&mut self, side: Side, stream: u32) -> Option<&mut Message> {
        let exchange = self.streams.get_mut(&stream)?;
        let message = if side == Side::Client { &mut exchange.request } else { &mut exchange.response };
        message.as_mut().filter(|m| m.progress == Progress::Arriving)
    }

    fn grow(&mut self, side: Side, stream: u32, piece: &[u8], upto: i64, ready: Stamp, run: &mut Run<'_>) {
        match self.message(side, stream) {
            Some(message) => {
                if message.body.push(piece, upto, ready) {
                    let message = format!("a body reaches --limit body at packet {}", ready.frame);
                    run.account.caveat("limit-reached", message);
                }
            }
            None => self.is_partial |= !self.is_unasked(stream),
        }
    }

    /// A stream that is over, or one of the server's own.
    fn is_unasked(&self, stream: u32) -> bool {
        stream.is_multiple_of(2) || self.asked.is_some_and(|(first, last)| (first..=last).contains(&stream))
    }

    fn end(&mut self, side: Side, stream: u32, upto: i64, ready: Stamp) {
        if let Some(message) = self.message(side, stream) {
            message.upto = Some(upto);
            message.close();
        }
        if side == Side::Server
            && let Some(exchange) = self.streams.get_mut(&stream)
        {
            // Without a head there is nothing that could be said to have ended.
            let end = if exchange.response.is_some() { End::Clean } else { End::Unknown };
            if exchange.response.is_none() {
                exchange.unanswered = Missing::Hole;
                exchange.is_over = true;
            }
            exchange.close(end, ready.micros);
        }
        self.retire(stream);
    }

    fn reset(&mut self, side: Side, stream: u32, ready: Stamp) {
        if let Some(exchange) = self.streams.get_mut(&stream) {
            exchange.cut(Some((side, ready.micros)));
        }
        self.retire(stream);
    }

    fn retire(&mut self, stream: u32) {
        if self.streams.get(&stream).is_some_and(Exchange::is_complete) {
            self.done.extend(self.streams.remove(&stream));
        }
    }

    fn cut_all(&mut self, by: Option<(Side, Option<i64>)>) {
        for (_, mut exchange) in std::mem::take(&mut self.streams) {
            exchange.cut(by);
            self.done.push_back(exchange);
        }
    }

    fn tear(&mut self, side: Side, length: u64, upto: i64) {
        match self.direction(side).frames.tear(length) {
            Torn::Nothing => {}
            Torn::Data(stream) => {
                if let Some(message) = self.message(side, stream) {
                    message.body.lose(Missing::Hole);
                }
            }
            Torn::Frame(kind::HEADERS | kind::PUSH_PROMISE | kind::CONTINUATION) => {
                self.direction(side).tear();
                self.is_partial = true;
            }
            Torn::Frame(_) => {}
            Torn::Rest => self.lose(side, upto),
        }
    }

    /// The place in one direction is lost, up to an offset: what its messages still hold, and how they end, is unknown.
    /// Requests that the client made when it had read beyond that are answered behind it.
    fn lose(&mut self, side: Side, upto: i64) {
        self.is_partial = true;
        self.direction(side).tear();
        let is_behind = |e: &Exchange| side == Side::Server && e.response.is_none() && e.asked >= Some(upto);
        let streams: Vec<u32> = self.streams.iter().filter(|(_, e)| !is_behind(e)).map(|(id, _)| *id).collect();
        for stream in streams {
            if let Some(message) = self.message(side, stream) {
                message.body.lose(Missing::Hole);
                if side == Side::Client {
                    message.close();
                }
            }
            if side == Side::Server
                && let Some(exchange) = self.streams.get_mut(&stream)
            {
                exchange.unanswered = Missing::Hole;
                exchange.is_over = true;
                exchange.close(End::Unknown, None);
            }
            self.retire(stream);
        }
    }
}
