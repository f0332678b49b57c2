//! One TCP connection: its two streams, and what is made of what they carry.

use super::{
    early::Early,
    protocol::{Protocol, Scene, note_missed},
    run::Run,
    traces::Traces,
};
use crate::wire::{
    ip::Packet,
    tcp::{Close, Held, Segment, Stamp, Stream},
};
use std::net::IpAddr;

/// An address with its port.
pub type Endpoint = (IpAddr, u16);

/// A connection that may still bring something.
struct Live {
    streams: [Stream; 2],
    closed: [bool; 2],
    protocol: Protocol,
    traces: Traces,
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

impl Connection {
    /// A connection of which no packet was taken yet.
    pub fn new(ends: [Endpoint; 2], number: u32, generation: u32) -> Self {
        let protocol = Protocol::Early(Early::default());
        let live = Live { streams: Default::default(), closed: [false; 2], protocol, traces: Traces::default() };
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

    /// It has not carried anything that is read.
    pub fn is_idle(&self) -> bool {
        self.live.as_ref().is_some_and(|live| matches!(live.protocol, Protocol::Early(_)))
    }

    /// Takes note of what a segment betrays of where it was captured.
    pub fn trace(&mut self, direction: usize, packet: &Packet<'_>, segment: &Segment<'_>, stamp: Stamp) {
        if let Some(live) = &mut self.live {
            live.traces.note(direction, packet, segment, stamp.micros);
        }
    }

    /// Takes a segment.
    pub fn take(&mut self, direction: usize, segment: &Segment<'_>, stamp: Stamp, held: &mut Held, run: &mut Run<'_>) {
        self.last_frame = stamp.frame;
        let before = segment.seq.wrapping_sub((!segment.syn).into());
        self.base[direction].get_or_insert(before);
        if segment.syn {
            let opener = if segment.ack.is_some() { 1 - direction } else { direction };
            self.opener.get_or_insert(opener);
        }
        let scene = self.scene();
        let Some(live) = &mut self.live else { return };
        live.take(direction, segment, stamp, &scene, held, run);
        if live.is_over() {
            self.end(held, run);
        }
    }

    /// Nothing more will come: hands over all that it holds.
    pub fn end(&mut self, held: &mut Held, run: &mut Run<'_>) {
        let scene = self.scene();
        if let Some(mut live) = self.live.take() {
            if let Protocol::Http1 { client, .. } | Protocol::Http2 { client, .. } = &live.protocol {
                run.standpoint.add(self.ends, *client, &live.traces);
            }
            live.end(&scene, held, run);
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

    fn take(
        &mut self,
        direction: usize,
        segment: &Segment<'_>,
        stamp: Stamp,
        scene: &Scene,
        held: &mut Held,
        run: &mut Run<'_>,
    ) {
        let Self { streams, protocol, .. } = self;
        let [a, b] = streams;
        let (this, other) = if direction == 0 { (a, b) } else { (b, a) };
        if let Some(ack) = segment.ack {
            other.acknowledge(ack);
        }
        let place = other.place();
        let received = this.receive(segment, stamp, held, &mut |delivery| {
            protocol.deliver(direction, &delivery, place, scene, run);
        });
        if received.conflict {
            protocol.note_conflict(stamp, run);
        }
        if segment.fin || segment.rst {
            protocol.saw_close(direction, stamp);
        }
        self.unstall(scene, held, run);
        self.note_closed(direction, stamp, run);
        self.settle(false, run);
    }

    /// Gives up waiting for requests where too many responses wait for them.
    fn unstall(&mut self, scene: &Scene, held: &mut Held, run: &mut Run<'_>) {
        let Protocol::Http1 { client, talk, .. } = &self.protocol else { return };
        if talk.stalls_too_long() {
            let client = *client;
            self.flush(client, scene, held, run);
            if let Protocol::Http1 { talk, .. } = &mut self.protocol {
                talk.go(run);
            }
        }
    }

    fn flush(&mut self, direction: usize, scene: &Scene, held: &mut Held, run: &mut Run<'_>) {
        let place = self.streams[1 - direction].place();
        let protocol = &mut self.protocol;
        self.streams[direction].flush(held, &mut |delivery| {
            protocol.deliver(direction, &delivery, place, scene, run);
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

    fn end(&mut self, scene: &Scene, held: &mut Held, run: &mut Run<'_>) {
        for direction in 0..2 {
            self.flush(direction, scene, held, run);
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
