//! One direction of a TCP connection in order: what was seen first wins, what was lost is a hole.

use super::{Segment, history::History};
use std::collections::BTreeMap;

/// The packet that something came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Its number, from 1.
    pub frame: u32,
    /// Its time in microseconds since the Unix epoch, where the file says.
    pub micros: Option<i64>,
    /// The acknowledgement number that it carried.
    pub ack: Option<u32>,
}

/// A stretch of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Bytes as they were sent.
    Bytes(&'a [u8]),
    /// So many bytes were sent and are in no packet of the capture.
    Hole(u64),
    /// So many bytes were sent and left out of their packet by the snap length.
    Cut(u64),
}

/// The next stretch of a stream, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// Offset of its first byte from the stream's first known one.
    pub offset: i64,
    /// What is delivered.
    pub part: Part<'a>,
    /// The packet that carried it.
    pub own: Stamp,
    /// The packet after which it could be read: later than `own` where that had come out of order.
    pub ready: Stamp,
}

/// How a sender ended its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// In order.
    Fin,
    /// By dropping the connection.
    Reset,
}

/// What became of a segment, as far as it was not delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// It repeats bytes with a different content.
    pub conflict: bool,
    /// Bytes of it now wait for what comes before them.
    pub waits: bool,
}

/// Bytes that wait in all streams together, and how many may.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// Bytes that wait now.
    pub bytes: u64,
    /// The bound.
    pub most: u64,
    /// How often the bound made a stream give up waiting.
    pub exceeded: u64,
}

/// Segments that may wait for bytes that the other side has acknowledged: those were lost by the capture.
const PATIENCE: usize = 256;

/// Bytes of one stream that may wait for a segment that nobody acknowledged.
const LONGEST_WAIT: usize = 32 << 20;

/// A reset further ahead than this is none that bytes are missing before, but one with a number of its own.
const FARTHEST_RESET: i64 = 1 << 20;

/// What one waiting segment costs beside its bytes.
const OVERHEAD: usize = 96;

struct Waiting {
    bytes: Box<[u8]>,
    missing: u32,
    stamp: Stamp,
}

/// A place in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    next: i64,
    next_seq: u32,
}

impl Place {
    /// Offset of the byte with this sequence number, which lies within 2 GiB of the place.
    pub fn offset_of(self, seq: u32) -> i64 {
        self.next.saturating_add(i64::from(seq.wrapping_sub(self.next_seq).cast_signed()))
    }
}

/// One direction of a TCP connection.
#[derive(Default)]
pub struct Stream {
    started: bool,
    next: i64,
    next_seq: u32,
    acknowledged: Option<i64>,
    closes: Option<(i64, Close)>,
    waiting: BTreeMap<i64, Waiting>,
    waiting_bytes: usize,
    history: History,
}

impl Stream {
    /// Offset of the byte with this sequence number; none before the first packet.
    pub fn offset_of(&self, seq: u32) -> Option<i64> {
        self.place().map(|place| place.offset_of(seq))
    }

    /// The present place in the stream, to turn sequence numbers into offsets; none before the first packet.
    pub fn place(&self) -> Option<Place> {
        self.started.then_some(Place { next: self.next, next_seq: self.next_seq })
    }

    /// Up to which offset the other side has acknowledged; none where no acknowledgement was seen.
    pub fn acknowledged(&self) -> Option<i64> {
        self.acknowledged
    }

    /// The direction is over, and all that it carried has been delivered.
    pub fn closed(&self) -> Option<Close> {
        self.closes.filter(|(at, _)| self.next >= *at).map(|(_, how)| how)
    }

    /// Takes note of an acknowledgement by the other side.
    pub fn acknowledge(&mut self, ack: u32) {
        if let Some(offset) = self.offset_of(ack)
            && self.acknowledged.is_none_or(|known| known < offset)
        {
            self.acknowledged = Some(offset);
        }
    }

    /// Takes a segment of this direction and delivers what can now be read.
    pub fn receive(
        &mut self,
        segment: &Segment<'_>,
        stamp: Stamp,
        held: &mut Held,
        sink: &mut dyn FnMut(Delivery<'_>),
    ) -> Received {
        let seq = segment.seq.wrapping_add(segment.syn.into());
        if !self.started {
            // A reset that answers nothing may carry any number: no stream begins with it.
            if segment.rst {
                self.closes = Some((self.next, Close::Reset));
                return Received::default();
            }
            self.started = true;
            self.next_seq = seq;
        }
        let Some(start) = self.offset_of(seq) else { return Received::default() };
        let length = segment.payload.len() as i64 + i64::from(segment.missing);
        let end = start.saturating_add(length);
        self.note_close(segment, start, end);
        let is_probe = length <= 1 && start == self.next - 1;
        if length == 0 || is_probe || segment.rst {
            return Received::default();
        }
        let mut received = Received::default();
        if start < self.next {
            received.conflict = self.history.contradicts(start.abs_diff(self.next), segment.payload);
            if end <= self.next {
                return received;
            }
        }
        let skip = usize::try_from(self.next - start).unwrap_or(0);
        if start <= self.next && self.waiting.is_empty() {
            let fresh = segment.payload.get(skip..).unwrap_or_default();
            self.deliver(fresh, end, Part::Cut, stamp, stamp, sink);
            return received;
        }
        received.conflict |= self.keep(segment, start, stamp, held);
        self.drain(Some(stamp), held, sink);
        if self.must_give_up(held) {
            self.skip_hole(held, sink);
        }
        received.waits = !self.waiting.is_empty();
        received
    }

    /// Delivers all that waits, with holes where bytes are lacking: nothing more will come.
    pub fn flush(&mut self, held: &mut Held, sink: &mut dyn FnMut(Delivery<'_>)) {
        while !self.waiting.is_empty() {
            self.skip_hole(held, sink);
        }
        if let Some((at, _)) = self.closes
            && self.next < at
        {
            let stamp = Stamp::default();
            self.deliver(&[], at, Part::Hole, stamp, stamp, sink);
        }
    }

    fn note_close(&mut self, segment: &Segment<'_>, start: i64, end: i64) {
        if segment.rst {
            // A number beyond what was seen means that bytes before it may still come; any other one, now. A FIN that
            // was sent before has used up a number of its own.
            let waits = start > self.next.saturating_add(1) && start - self.next < FARTHEST_RESET;
            let at = if waits { start } else { self.next };
            self.closes = Some((at, Close::Reset));
        } else if segment.fin && self.closes.is_none() {
            self.closes = Some((end, Close::Fin));
        }
    }

    /// Delivers bytes at the next offset, and what is `lacking` from their end to `end`.
    fn deliver(
        &mut self,
        bytes: &[u8],
        end: i64,
        lacking: fn(u64) -> Part<'static>,
        own: Stamp,
        ready: Stamp,
        sink: &mut dyn FnMut(Delivery<'_>),
    ) {
        if !bytes.is_empty() {
            let offset = self.next;
            self.advance(bytes.len() as i64);
            self.history.push(bytes);
            sink(Delivery { offset, part: Part::Bytes(bytes), own, ready });
        }
        if end > self.next {
            let (offset, length) = (self.next, end.abs_diff(self.next));
            self.advance(end - self.next);
            self.history.clear();
            sink(Delivery { offset, part: lacking(length), own, ready });
        }
    }

    fn advance(&mut self, by: i64) {
        self.next = self.next.saturating_add(by);
        self.next_seq = self.next_seq.wrapping_add(by as u32);
    }

    /// Keeps what no earlier segment has brought; says whether an earlier one contradicts.
    fn keep(&mut self, segment: &Segment<'_>, start: i64, stamp: Stamp, held: &mut Held) -> bool {
        let (mut at, mut rest) = (start, segment.payload);
        let mut conflict = false;
        if at < self.next {
            let skip = usize::try_from(self.next - at).unwrap_or(usize::MAX);
            rest = rest.get(skip..).unwrap_or_default();
            at = self.next;
        }
        let stretch_end = at.saturating_add(rest.len() as i64);
        let before = self.waiting.range(..=at).next_back().map(|(&from, _)| from);
        let from = before.unwrap_or(at).min(at);
        let mut fresh: Vec<(i64, &[u8])> = Vec::new();
        for (&other, waiting) in self.waiting.range(from..stretch_end.max(from)) {
            let other_end = other + waiting.bytes.len() as i64;
            if other > at {
                let (gap, behind) = rest.split_at(usize::try_from(other - at).unwrap_or(rest.len()).min(rest.len()));
                fresh.push((at, gap));
                (at, rest) = (other, behind);
            }
            if other_end > at {
                let shared = usize::try_from(other_end - at).unwrap_or(rest.len()).min(rest.len());
                let (old, new) = (usize::try_from(at - other).unwrap_or(0), &rest[..shared]);
                conflict |= waiting.bytes.get(old..old + shared).is_some_and(|old| old != new);
                rest = &rest[shared..];
                at = other_end;
            }
        }
        let ends_free = !self.waiting.contains_key(&at);
        if !rest.is_empty() || (segment.missing > 0 && ends_free) {
            fresh.push((at, rest));
        }
        let last = fresh.len().saturating_sub(1);
        for (i, (at, bytes)) in fresh.into_iter().enumerate() {
            let is_tail = i == last && at + bytes.len() as i64 == stretch_end;
            let missing = if is_tail { segment.missing } else { 0 };
            let size = bytes.len() + OVERHEAD;
            self.waiting_bytes += size;
            held.bytes += size as u64;
            // Only an entry without bytes (all cut by the snap length) can stand in the same place.
            if self.waiting.insert(at, Waiting { bytes: bytes.into(), missing, stamp }).is_some() {
                self.waiting_bytes = self.waiting_bytes.saturating_sub(OVERHEAD);
                held.bytes = held.bytes.saturating_sub(OVERHEAD as u64);
            }
        }
        conflict
    }

    /// Delivers what waits at the next offset, and what follows it.
    fn drain(&mut self, ready: Option<Stamp>, held: &mut Held, sink: &mut dyn FnMut(Delivery<'_>)) {
        while let Some(entry) = self.waiting.first_entry()
            && *entry.key() <= self.next
        {
            let (at, waiting) = entry.remove_entry();
            let size = waiting.bytes.len() + OVERHEAD;
            self.waiting_bytes = self.waiting_bytes.saturating_sub(size);
            held.bytes = held.bytes.saturating_sub(size as u64);
            let skip = usize::try_from(self.next - at).unwrap_or(usize::MAX);
            let bytes = waiting.bytes.get(skip..).unwrap_or_default();
            let mut end = at.saturating_add(waiting.bytes.len() as i64 + i64::from(waiting.missing));
            // Another packet may have brought what the snap length cut from this one.
            if let Some((&next, _)) = self.waiting.first_key_value() {
                end = end.min(next);
            }
            let ready = ready.unwrap_or(waiting.stamp);
            self.deliver(bytes, end, Part::Cut, waiting.stamp, ready, sink);
        }
    }

    /// The bytes that are waited for were lost by the capture, or too much waits for them.
    fn must_give_up(&self, held: &mut Held) -> bool {
        let Some((&first, _)) = self.waiting.first_key_value() else { return false };
        if held.bytes > held.most {
            held.exceeded += 1;
            return true;
        }
        let is_lost = self.acknowledged.is_some_and(|upto| upto >= first);
        self.waiting_bytes > LONGEST_WAIT || (is_lost && self.waiting.len() > PATIENCE)
    }

    fn skip_hole(&mut self, held: &mut Held, sink: &mut dyn FnMut(Delivery<'_>)) {
        let Some((&first, waiting)) = self.waiting.first_key_value() else { return };
        let stamp = waiting.stamp;
        self.deliver(&[], first, Part::Hole, stamp, stamp, sink);
        self.drain(None, held, sink);
    }
}
