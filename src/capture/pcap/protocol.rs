//! What a connection carries, once that is clear: each protocol gets its part of the streams.

use super::{
    connection::Endpoint,
    conversation::{Conversation, Turn},
    early::{Early, Verdict},
    exchange::Exchange,
    http2::Http2,
    peers::Peers,
    run::Run,
};
use crate::{
    model::Side,
    wire::{
        http1::PREFACE,
        tcp::{Close, Delivery, Part, Place, Stamp},
    },
};

/// What a connection carries.
pub enum Protocol {
    /// It is not clear yet.
    Early(Early),
    /// HTTP/1.
    Http1 {
        /// The direction of the requests.
        client: usize,
        /// What is said.
        talk: Box<Conversation>,
        /// By whom.
        peers: Box<Peers>,
    },
    /// HTTP/2.
    Http2 {
        /// The direction of the requests.
        client: usize,
        /// What is said.
        talk: Box<Http2>,
        /// By whom.
        peers: Box<Peers>,
    },
    /// Nothing that is looked at: no bytes are kept and none are put in order.
    Opaque,
}

/// What the parts of a live connection share while a packet is taken.
pub struct Scene {
    /// Address and port of each direction's sender.
    pub ends: [Endpoint; 2],
    /// The direction that opened the connection, where the capture holds that.
    pub opener: Option<usize>,
    /// The connection's number.
    pub number: u32,
    /// How often its addresses and ports have been used before.
    pub generation: u32,
}

impl Scene {
    fn peers(&self, client: usize) -> Peers {
        Peers::new(self.ends[client], self.ends[1 - client], self.number, self.generation)
    }
}

impl Protocol {
    /// Takes note of who was the first to close.
    pub fn saw_close(&mut self, direction: usize, stamp: Stamp) {
        match self {
            Self::Http1 { client, talk, .. } => talk.saw_close(side(direction, *client), stamp),
            Self::Http2 { client, talk, .. } => talk.saw_close(side(direction, *client), stamp),
            Self::Early(_) | Self::Opaque => {}
        }
    }

    /// Says that bytes were repeated with another content.
    pub fn note_conflict(&self, stamp: Stamp, run: &mut Run<'_>) {
        if let Self::Http1 { .. } | Self::Http2 { .. } = self {
            let frame = stamp.frame;
            let message = format!("packet {frame} repeats bytes with another content; those seen first are read");
            run.account.caveat("conflicting-retransmission", message);
        }
    }

    /// One direction is closed, and all that it carried was delivered.
    pub fn close(&mut self, direction: usize, how: Close, stamp: Stamp, run: &mut Run<'_>) {
        match self {
            Self::Http1 { client, talk, .. } => talk.close(side(direction, *client), how, stamp, run),
            Self::Http2 { client, talk, .. } => talk.close(side(direction, *client), how, stamp),
            Self::Early(_) | Self::Opaque => {}
        }
    }

    /// Takes the next stretch of one direction; `other` is the present place in the other one.
    pub fn deliver(
        &mut self,
        direction: usize,
        delivery: &Delivery<'_>,
        other: Option<Place>,
        scene: &Scene,
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
                            self.deliver(k.direction, &delivery, other, scene, run);
                        }
                        self.deliver(direction, delivery, other, scene, run);
                    }
                    Verdict::Tls => {
                        let port = match scene.opener {
                            Some(opener) => scene.ends[1 - opener].1,
                            None => scene.ends[0].1.min(scene.ends[1].1),
                        };
                        run.opaque.tls(port);
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
                    self.follow(turn, direction, delivery, left, client, scene, run);
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
            self.deliver(direction, &rest, None, scene, run);
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

/// Says that a connection carried what cannot be read because it began before the capture.
pub fn note_missed(early: &Early, frame: u32, run: &mut Run<'_>) {
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
