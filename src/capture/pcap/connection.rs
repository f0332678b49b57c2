//! One TCP connection: its two streams, and what is made of what they carry.

use super::{
    conversation::{Conversation, Turn},
    early::{Early, Verdict},
    exchange::Exchange,
    http2::Http2,
    opaque::Opaque,
    peers::Peers,
    run::Run,
};
use crate::{
    model::Side,
    wire::{
        http1::PREFACE,
        tcp::{Close, Delivery, Held, Part, Place, Segment, Stamp, Stream},
    },
};
use std::net::IpAddr;

/// An address with its port.
pub type Endpoint = (IpAddr, u16);

/// What a connection carries.
enum Protocol {
    Early(Early),
    Http1 {
        client: usize,
        talk: Box<Conversation>,
        peers: Box<Peers>,
    },
    Http2 {
        client: usize,
        talk: Box<Http2>,
        peers: Box<Peers>,
    },
    /// Nothing that is looked at: no bytes are kept and none are put in order.
    Opaque,
}

/// A connection that may still bring something.
struct Live {
    streams: [Stream; 2],
    closed: [bool; 2],
    protocol: Protocol,
}

/// One TCP connection.
pub struct Connection {
    /// Its number in the file, from 0, as Wireshark counts.
    pub number: u32,
    /// How often its addresses and ports have been used before.
    pub generation: u32,
    /// The packet that was seen last.
    pub last_frame: u32,
    ends: [Endpoint; 2],
    /// Sequence number before the first byte of each direction, as it was first seen.
    base: [Option<u32>; 2],
    opener: Option<usize>,
    live: Option<Box<Live>>,
}

/// What the parts of a live connection share while a packet is taken.
struct Scene {
    ends: [Endpoint; 2],
    opener: Option<usize>,
    number: u32,
    generation: u32,
}

impl Scene {
    fn peers(&self, client: usize) -> Peers {
        Peers::new(self.ends[client], self.ends[1 - client], self.number, self.generation)
    }
}

impl Connection {
    /// A connection of which no packet was taken yet.
    pub fn new(ends: [Endpoint; 2], number: u32, generation: u32) -> Self {
        let protocol = Protocol::Early(Early::default());
        let live = Live { streams: Default::default(), closed: [false; 2], protocol };
        let (base, opener, live) = ([None; 2], None, Some(Box::new(live)));
        Self { number, generation, last_frame: 0, ends, base, opener, live }
    }

    /// This segment opens another connection between the same ends.
    pub fn is_followed_by(&self, direction: usize, segment: &Segment<'_>) -> bool {
        let opens = segment.syn && segment.ack.is_none();
        opens && self.base[direction].is_some_and(|base| base != segment.seq)
    }

    /// It is over, or carries nothing that is read.
    pub fn is_spent(&self) -> bool {
        self.live.is_none()
    }

    /// Takes a segment.
    pub fn take(
        &mut self,
        direction: usize,
        segment: &Segment<'_>,
        stamp: Stamp,
        held: &mut Held,
        opaque: &mut Opaque,
        run: &mut Run<'_>,
    ) {
        self.last_frame = stamp.frame;
        let before = segment.seq.wrapping_sub((!segment.syn).into());
        self.base[direction].get_or_insert(before);
        if segment.syn {
            let opener = if segment.ack.is_some() { 1 - direction } else { direction };
            self.opener.get_or_insert(opener);
        }
        let scene = self.scene();
        let Some(live) = &mut self.live else { return };
        live.take(direction, segment, stamp, &scene, held, opaque, run);
        if live.is_over() {
            self.end(held, opaque, run);
        }
    }

    /// Nothing more will come: hands over all that it holds.
    pub fn end(&mut self, held: &mut Held, opaque: &mut Opaque, run: &mut Run<'_>) {
        let scene = self.scene();
        if let Some(mut live) = self.live.take() {
            live.end(&scene, held, opaque, run);
        }
    }

    fn scene(&self) -> Scene {
        let Self { ends, opener, number, generation, .. } = *self;
        Scene { ends, opener, number, generation }
    }
}

impl Live {
    fn is_over(&self) -> bool {
        self.closed == [true; 2] || matches!(self.protocol, Protocol::Opaque)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of the reader that a packet touches")]
    fn take(
        &mut self,
        direction: usize,
        segment: &Segment<'_>,
        stamp: Stamp,
        scene: &Scene,
        held: &mut Held,
        opaque: &mut Opaque,
        run: &mut Run<'_>,
    ) {
        let Self { streams, protocol, .. } = self;
        let [this, other] = match direction {
            0 => {
                let [a, b] = streams;
                [a, b]
            }
            _ => {
                let [a, b] = streams;
                [b, a]
            }
        };
        if let Some(ack) = segment.ack {
            other.acknowledge(ack);
        }
        let place = other.place();
        if segment.fin || segment.rst {
            protocol.saw_close(direction, stamp);
        }
        let received = this.receive(segment, stamp, held, &mut |delivery| {
            protocol.deliver(direction, &delivery, place, scene, opaque, run);
        });
        if received.conflict {
            protocol.note_conflict(stamp, run);
        }
        self.unstall(scene, held, opaque, run);
        self.note_closed(direction, stamp, run);
        self.settle(false, run);
    }

    /// Gives up waiting for requests where too many responses wait for them.
    fn unstall(&mut self, scene: &Scene, held: &mut Held, opaque: &mut Opaque, run: &mut Run<'_>) {
        let Protocol::Http1 { client, talk, .. } = &self.protocol else { return };
        if talk.stalls_too_long() {
            let client = *client;
            self.flush(client, scene, held, opaque, run);
            if let Protocol::Http1 { talk, .. } = &mut self.protocol {
                talk.go(run);
            }
        }
    }

    fn flush(&mut self, direction: usize, scene: &Scene, held: &mut Held, opaque: &mut Opaque, run: &mut Run<'_>) {
        let place = self.streams[1 - direction].place();
        let protocol = &mut self.protocol;
        self.streams[direction].flush(held, &mut |delivery| {
            protocol.deliver(direction, &delivery, place, scene, opaque, run);
        });
    }

    fn note_closed(&mut self, direction: usize, stamp: Stamp, run: &mut Run<'_>) {
        let Some(how) = self.streams[direction].closed() else { return };
        if !self.closed[direction] {
            self.protocol.close(direction, how, stamp, run);
        }
        self.closed[direction] = true;
        if how == Close::Reset {
            self.closed = [true; 2];
        }
    }

    fn settle(&mut self, is_last: bool, run: &mut Run<'_>) {
        match &mut self.protocol {
            Protocol::Http1 { client, talk, peers } => {
                talk.settle(self.streams[1 - *client].acknowledged(), is_last, peers, run);
            }
            Protocol::Http2 { client, talk, peers } => {
                talk.settle(self.streams[1 - *client].acknowledged(), is_last, peers, run);
            }
            Protocol::Early(_) | Protocol::Opaque => {}
        }
    }

    fn end(&mut self, scene: &Scene, held: &mut Held, opaque: &mut Opaque, run: &mut Run<'_>) {
        for direction in 0..2 {
            self.flush(direction, scene, held, opaque, run);
            self.note_closed(direction, Stamp::default(), run);
        }
        match &mut self.protocol {
            Protocol::Http1 { talk, .. } => talk.finish(run),
            Protocol::Http2 { talk, .. } => talk.finish(run),
            Protocol::Early(early) => note_missed(early, 0, run),
            Protocol::Opaque => {}
        }
        self.settle(true, run);
    }
}

impl Protocol {
    fn saw_close(&mut self, direction: usize, stamp: Stamp) {
        match self {
            Self::Http1 { client, talk, .. } => talk.saw_close(side(direction, *client), stamp),
            Self::Http2 { client, talk, .. } => talk.saw_close(side(direction, *client), stamp),
            Self::Early(_) | Self::Opaque => {}
        }
    }

    fn note_conflict(&self, stamp: Stamp, run: &mut Run<'_>) {
        if let Self::Http1 { .. } | Self::Http2 { .. } = self {
            let frame = stamp.frame;
            let message = format!("packet {frame} repeats bytes with another content; those seen first are read");
            run.account.caveat("conflicting-retransmission", message);
        }
    }

    fn close(&mut self, direction: usize, how: Close, stamp: Stamp, run: &mut Run<'_>) {
        match self {
            Self::Http1 { client, talk, .. } => talk.close(side(direction, *client), how, stamp, run),
            Self::Http2 { client, talk, .. } => talk.close(side(direction, *client), how, stamp),
            Self::Early(_) | Self::Opaque => {}
        }
    }

    fn deliver(
        &mut self,
        direction: usize,
        delivery: &Delivery<'_>,
        other: Option<Place>,
        scene: &Scene,
        opaque: &mut Opaque,
        run: &mut Run<'_>,
    ) {
        match self {
            Self::Opaque => {}
            Self::Early(early) => {
                let verdict = early.look(direction, delivery, scene.opener);
                let is_whole = scene.opener.is_some() && !early.is_torn;
                if verdict != Verdict::Unclear {
                    note_missed(early, delivery.own.frame, run);
                }
                match verdict {
                    Verdict::Unclear => {}
                    Verdict::Http1(client) | Verdict::Http2(client) => {
                        let kept = std::mem::take(&mut early.kept);
                        *self = match verdict {
                            Verdict::Http2(_) => Self::http2(client, is_whole || is_preface(delivery), None, scene),
                            _ => Self::http1(client, is_whole, scene),
                        };
                        for k in kept {
                            let part = Part::Bytes(&k.bytes);
                            let delivery = Delivery { offset: k.offset, part, own: k.own, ready: k.ready };
                            self.deliver(k.direction, &delivery, other, scene, opaque, run);
                        }
                        self.deliver(direction, delivery, other, scene, opaque, run);
                    }
                    Verdict::Tls => {
                        let port = match scene.opener {
                            Some(opener) => scene.ends[1 - opener].1,
                            None => scene.ends[0].1.min(scene.ends[1].1),
                        };
                        opaque.tls(port);
                        *self = Self::Opaque;
                    }
                    Verdict::Other => *self = Self::Opaque,
                }
            }
            Self::Http2 { client, talk, .. } => {
                note_loss(delivery, run);
                talk.take(side(direction, *client), delivery, other, run);
            }
            Self::Http1 { client, talk, .. } => {
                let client = *client;
                note_loss(delivery, run);
                let (turn, left) = if direction == client {
                    (talk.request(delivery, other, run), 0)
                } else {
                    talk.response(delivery, run)
                };
                if turn != Turn::Goes {
                    self.follow(turn, direction, delivery, left, client, scene, opaque, run);
                }
            }
        }
    }

    /// The connection changes its protocol; the last `left` bytes of the delivery are of the new one.
    #[expect(clippy::too_many_arguments, reason = "the parts of the reader that a packet touches")]
    fn follow(
        &mut self,
        turn: Turn,
        direction: usize,
        delivery: &Delivery<'_>,
        left: usize,
        client: usize,
        scene: &Scene,
        opaque: &mut Opaque,
        run: &mut Run<'_>,
    ) {
        let Self::Http1 { talk, peers, .. } = self else { return };
        let upgraded = if turn == Turn::Http2 { talk.upgraded() } else { None };
        talk.finish(run);
        talk.settle(None, true, peers, run);
        *self = match turn {
            Turn::Http2 => Self::http2(client, true, upgraded, scene),
            Turn::Tunnel | Turn::Goes => Self::Early(Early::default()),
            Turn::Upgraded => Self::Opaque,
        };
        if let Part::Bytes(bytes) = delivery.part
            && left > 0
        {
            let at = bytes.len().saturating_sub(left);
            let part = Part::Bytes(bytes.get(at..).unwrap_or_default());
            let offset = delivery.offset.saturating_add(at as i64);
            let rest = Delivery { offset, part, ..*delivery };
            self.deliver(direction, &rest, None, scene, opaque, run);
        }
    }

    fn http2(client: usize, is_whole: bool, upgraded: Option<Exchange>, scene: &Scene) -> Self {
        let talk = Box::new(Http2::new(is_whole, scene.ends[1 - client].1, upgraded));
        Self::Http2 { client, talk, peers: Box::new(scene.peers(client)) }
    }

    fn http1(client: usize, is_whole: bool, scene: &Scene) -> Self {
        let talk = Box::new(Conversation::new(is_whole));
        Self::Http1 { client, talk, peers: Box::new(scene.peers(client)) }
    }
}

fn side(direction: usize, client: usize) -> Side {
    if direction == client { Side::Client } else { Side::Server }
}

/// HTTP/2 begins here, whatever was before.
fn is_preface(delivery: &Delivery<'_>) -> bool {
    matches!(delivery.part, Part::Bytes(bytes) if bytes.starts_with(PREFACE))
}

fn note_missed(early: &Early, frame: u32, run: &mut Run<'_>) {
    if early.missed {
        let upto = if frame == 0 { "its end".into() } else { format!("packet {frame}") };
        let message =
            format!("a connection began before the capture; what it carried up to {upto} has no head to read it by");
        run.account.caveat("tcp-hole", message);
    }
}

fn note_loss(delivery: &Delivery<'_>, run: &mut Run<'_>) {
    let frame = delivery.own.frame;
    match delivery.part {
        Part::Bytes(_) => {}
        Part::Hole(length) => {
            let place = if frame == 0 { "at the end of a connection".into() } else { format!("before packet {frame}") };
            let message = format!("{length} bytes {place} are not in the capture; nothing is joined over them");
            run.account.caveat("tcp-hole", message);
        }
        Part::Cut(length) => {
            let message = format!("the snap length cut packets: {length} bytes are lacking in packet {frame}");
            run.account.caveat("body-truncated", message);
        }
    }
}
