//! From an event stream to its log: 32 bytes a block, and side tables for what few blocks have.

use super::{
    ids::{Ids, LONGEST_ID},
    message::{Parsed, Reader},
};
use crate::{
    capture::raw::{RawExchange, RecordedEvent},
    model::{EventFact, EventFlags, EventId, EventKind, EventLog, Message, MessageFlags, MessageKind, Tail, Time},
    wire::{
        json::Json,
        sse::{Block, Blocks},
    },
};
use std::{borrow::Cow, sync::Arc};

/// After so many blocks of a body it is guessed how many there are.
const FIRST: usize = 4;

/// As many bytes as a block with an event mostly has at least.
const SHORTEST: usize = 16;

/// Most names of streams that are kept of one body.
const MOST_STREAMS: usize = 64;

/// Gathers the log of one body.
struct Writer<'r, 'k> {
    log: EventLog,
    ids: Ids<'k>,
    reader: &'r mut Reader<'k>,
}

/// The log of a body that was captured as bytes. Gives also the data of a first `endpoint` event.
pub fn from_bytes(raw: &RawExchange<'_>, bytes: &[u8], reader: &mut Reader<'_>) -> (EventLog, Option<String>) {
    let mut endpoint = None;
    let mut log = log(&mut Blocks::new(bytes), bytes, reader, &mut endpoint);
    log.rebuilt = raw.rebuilt;
    log.acknowledged = raw.acknowledged.map(|bytes| count(log.events.partition_point(|e| u64::from(e.end) <= bytes)));
    log.times = times(raw, &log);
    (log, endpoint)
}

/// Adds to a log what its body held behind a blank line, at which the log ends. `lines` are those of the body so far,
/// and grow.
pub fn extend(log: &mut EventLog, part: EventLog, lines: &mut u32, more: u32) {
    let (ordinal, offset) = (count(log.events.len()), count_bytes(log.size));
    let events = part.events.into_iter().map(|e| e.moved(offset, *lines));
    log.events.extend(events);
    log.messages.extend(part.messages.into_iter().map(|(event, message)| (ordinal.saturating_add(event), message)));
    for (event, token) in part.tokens {
        if log.tokens.last().is_none_or(|(_, last)| *last != token) {
            log.tokens.push((ordinal.saturating_add(event), token));
        }
    }
    log.retries.extend(part.retries.into_iter().map(|(event, retry)| (ordinal.saturating_add(event), retry)));
    log.id_texts.extend(part.id_texts.into_iter().map(|(event, text)| (ordinal.saturating_add(event), text)));
    for stream in part.streams {
        if !log.streams.contains(&stream) && log.streams.len() < MOST_STREAMS {
            log.streams.push(stream);
        }
    }
    log.tail = part.tail.map(|mut tail| {
        (tail.start, tail.end) = (tail.start.saturating_add(offset), tail.end.saturating_add(offset));
        tail.line = tail.line.saturating_add(*lines);
        tail
    });
    log.size += part.size;
    *lines = lines.saturating_add(more);
}

/// The log of a stretch of a body that begins behind a blank line, and how many lines it has.
pub fn of_part(bytes: &[u8], reader: &mut Reader<'_>) -> (EventLog, u32) {
    let mut blocks = Blocks::behind(bytes);
    let log = log(&mut blocks, bytes, reader, &mut None);
    (log, blocks.line() - 1)
}

fn log(blocks: &mut Blocks<'_>, bytes: &[u8], reader: &mut Reader<'_>, endpoint: &mut Option<String>) -> EventLog {
    let key = reader.key;
    let mut writer = Writer { log: EventLog::default(), ids: Ids::new(key), reader };
    for block in blocks.by_ref() {
        if writer.log.events.len() == FIRST {
            // Blocks of one body are mostly of one length.
            let expected = bytes.len() / (block.start / FIRST).max(1);
            writer.log.events.reserve_exact(expected.min(bytes.len() / SHORTEST).saturating_sub(FIRST - 1));
        }
        let kind = writer.block(&block);
        if kind == EventKind::Endpoint && endpoint.is_none() {
            *endpoint = block.data.as_deref().map(|d| String::from_utf8_lossy(d).trim().to_owned());
        }
    }
    let tail = blocks.tail().map(|block| writer.tail(block));
    let mut log = writer.log;
    log.tail = tail.map(Box::new);
    log.size = bytes.len() as u64;
    log.events.shrink_to_fit();
    log.messages.shrink_to_fit();
    log.tokens.shrink_to_fit();
    log.streams.shrink_to_fit();
    log
}

/// The log of a body of which only the recorder's own events are there (`_eventSourceMessages`).
pub fn from_records(records: &[RecordedEvent<'_>], reader: &mut Reader<'_>) -> EventLog {
    let key = reader.key;
    let mut writer = Writer { log: EventLog { rebuilt: true, ..EventLog::default() }, ids: Ids::new(key), reader };
    let mut held: &str = "";
    let mut times = Vec::new();
    for record in records {
        // The recorder keeps the sticky id: only a change of it is known to have stood in the event.
        let id = (record.id != held && !record.id.is_empty()).then(|| record.id.as_bytes());
        held = if record.id.is_empty() { held } else { &record.id };
        let data = record.data.as_deref().map(|d| Cow::Borrowed(d.as_bytes()));
        let line = count(writer.log.events.len() + 1);
        writer.block(&Block { event: Some(record.name.as_bytes()), data, id, line, ..Block::default() });
        times.extend(record.time);
    }
    let mut log = writer.log;
    if times.len() == log.events.len() {
        log.times = times;
    }
    log
}

fn count_bytes(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The time of each block: from marks inside the body, else from the recorder's own events, by order.
fn times(raw: &RawExchange<'_>, log: &EventLog) -> Vec<Time> {
    if let Some(last) = raw.marks.last() {
        let mut at = 0;
        let time_of = |event: &EventFact| {
            while raw.marks.get(at).is_some_and(|(offset, _)| *offset < u64::from(event.end)) {
                at += 1;
            }
            raw.marks.get(at).unwrap_or(last).1
        };
        return log.events.iter().map(time_of).collect();
    }
    // The recorder's events are the dispatched ones. They are aligned by order; where the counts differ nothing is
    // claimed, since one missing event would shift all that follow.
    let dispatched = |e: &EventFact| e.kind != EventKind::None;
    let stamps: Vec<Time> = raw.recorded_events.iter().filter_map(|r| r.time).collect();
    if stamps.is_empty() || log.events.iter().filter(|e| dispatched(e)).count() != stamps.len() {
        return Vec::new();
    }
    let mut stamps = stamps.into_iter();
    let mut latest = raw.head.or(raw.sent).unwrap_or(Time(0));
    let stamped = log.events.iter().map(|e| {
        if dispatched(e) {
            latest = stamps.next().unwrap_or(latest);
        }
        latest
    });
    stamped.collect()
}

impl Writer<'_, '_> {
    /// Keeps one block, and says what its data was.
    fn block(&mut self, block: &Block<'_>) -> EventKind {
        let ordinal = count(self.log.events.len());
        let mut flags = EventFlags::empty();
        flags.set(EventFlags::COMMENT_ONLY, block.comments_only);
        let is_message = block.event.is_none_or(|e| e.is_empty() || e == b"message");
        flags.set(EventFlags::IS_MESSAGE_TYPE, is_message);
        flags.set(EventFlags::IS_ERROR_TYPE, block.event == Some(b"error"));
        let id = self.id(ordinal, block, &mut flags);
        if let Some(retry) = block.retry {
            flags |= EventFlags::HAS_RETRY;
            self.log.retries.push((ordinal, retry));
        }
        let (kind, payload) = self.data(ordinal, block, is_message);
        self.log.events.push(EventFact::new(count(block.end), block.line, id, flags, kind, payload));
        kind
    }

    fn id(&mut self, ordinal: u32, block: &Block<'_>, flags: &mut EventFlags) -> Option<EventId> {
        flags.set(EventFlags::UNUSABLE_ID, block.id_with_nul);
        let text = block.id?;
        if text.is_empty() {
            *flags |= EventFlags::RESETS_ID;
            return None;
        }
        let (id, stream) = self.ids.event(text);
        if let Some(stream) = stream
            && !self.log.streams.contains(&stream)
            && self.log.streams.len() < MOST_STREAMS
        {
            self.log.streams.push(stream);
        }
        let outer = |b: Option<&u8>| matches!(b, Some(b' ' | b'\t'));
        // UTF-8 above U+00FF cannot stand in a header; Latin-1 can, as browsers send it.
        let latin = text.is_ascii() || std::str::from_utf8(text).is_ok_and(|t| t.chars().all(|c| u32::from(c) < 256));
        if outer(text.first()) || outer(text.last()) || !latin || text.len() > LONGEST_ID {
            *flags |= EventFlags::UNUSABLE_ID;
        }
        flags.set(EventFlags::ID_IS_SESSION, self.reader.session.is_some_and(|s| s.as_bytes() == text));
        if self.reader.key.show_ids {
            self.log.id_texts.push((ordinal, Arc::from(String::from_utf8_lossy(text))));
        }
        Some(id)
    }

    fn data(&mut self, ordinal: u32, block: &Block<'_>, is_message: bool) -> (EventKind, u64) {
        let Some(data) = block.data.as_deref() else { return (EventKind::None, 0) };
        if data.is_empty() {
            return (EventKind::Empty, 0);
        }
        if block.event == Some(b"endpoint") {
            return (EventKind::Endpoint, self.bytes_digest(data));
        }
        let parsed = self.reader.event(data);
        if !is_message {
            let message = match parsed {
                Ok(Parsed::One(message)) => message,
                Ok(Parsed::Progress(token)) => self.reader.progress(token),
                _ => return (EventKind::Vendor, self.bytes_digest(data)),
            };
            if message.kind == MessageKind::Other || message.flags.contains(MessageFlags::NO_VERSION) {
                return (EventKind::Vendor, self.bytes_digest(data));
            }
            let payload = message_digest(&message);
            self.log.messages.push((ordinal, message));
            return (EventKind::Misnamed, payload);
        }
        match parsed {
            Ok(Parsed::Progress(token)) => {
                self.token(ordinal, token.unwrap_or(0));
                (EventKind::Progress, self.reader.last_progress.digest(data, self.reader.key.sip()))
            }
            Ok(Parsed::One(message)) if message.flags.contains(MessageFlags::EMPTY_OBJECT) => {
                (EventKind::EmptyObject, 0)
            }
            Ok(Parsed::One(message)) if message.kind != MessageKind::Other => {
                let payload = message_digest(&message);
                self.log.messages.push((ordinal, message));
                (EventKind::Message, payload)
            }
            Ok(Parsed::Batch(batch)) if !batch.is_empty() && batch.iter().all(|m| m.kind != MessageKind::Other) => {
                let payload = batch.iter().fold(0_u64, |sum, m| sum.rotate_left(1) ^ message_digest(m));
                self.log.messages.extend(batch.into_iter().map(|m| (ordinal, m)));
                (EventKind::Batch, payload)
            }
            _ => (EventKind::Undecodable, self.bytes_digest(data)),
        }
    }

    fn token(&mut self, ordinal: u32, token: u64) {
        if self.log.tokens.last().is_none_or(|(_, last)| *last != token) {
            self.log.tokens.push((ordinal, token));
        }
    }

    fn bytes_digest(&self, data: &[u8]) -> u64 {
        (Json::digest_bytes(data, self.reader.key.sip()) as u64).max(1)
    }

    fn tail(&mut self, block: &Block<'_>) -> Tail {
        let message = match self.reader.parse(block.data.as_deref().unwrap_or_default()) {
            Ok(Parsed::One(message)) if message.kind != MessageKind::Other => Some(message),
            Ok(Parsed::Progress(token)) => Some(self.reader.progress(token)),
            _ => None,
        };
        let id = block.id.filter(|t| !t.is_empty()).map(|t| self.ids.event(t).0);
        Tail {
            start: count(block.start),
            end: count(block.end),
            line: block.line,
            id,
            message,
            has_data: block.data.is_some(),
        }
    }
}

/// A 64-bit digest of a message's payload, method and id: two deliveries of one message have equal ones.
pub fn message_digest(message: &Message) -> u64 {
    let mix = |seed: u64, text: Option<&str>| {
        text.unwrap_or_default().bytes().fold(seed, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
    };
    let named = mix(mix(0xcbf2_9ce4_8422_2325, message.method.as_deref()), message.id.as_deref());
    (message.payload.short() ^ named).max(1)
}
