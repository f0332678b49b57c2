//! A body as its packets bring it: decoded bytes, and which packet had brought them.

use crate::{
    capture::{Limits, RawBody},
    model::{Missing, Time},
    wire::{
        coding::{Bounds, Decoder, Failure},
        http1::{Fields, lookup, tokens},
        tcp::Stamp,
    },
};
use std::borrow::Cow;

/// Most bytes that are kept of a body that its media type shows to be neither JSON nor an event stream: error pages
/// are shorter, downloads need no memory.
const FOREIGN: u64 = 1 << 20;

/// Up to here it had arrived by then.
struct Mark {
    decoded: u64,
    /// Offset in the TCP stream behind the last byte of it.
    wire: i64,
    micros: Option<i64>,
}

/// A body that is arriving.
pub struct Body {
    bytes: Vec<u8>,
    decoder: Option<Decoder>,
    marks: Vec<Mark>,
    /// Why the bytes that follow are not kept.
    lost: Option<Missing>,
    most: u64,
    is_foreign: bool,
    /// Not even its beginning could have been seen.
    is_unseen: bool,
}

impl Body {
    /// The body of a message with these fields.
    pub fn new(fields: &Fields<'_>, limits: &Limits) -> Self {
        let media = lookup(fields, "content-type").unwrap_or_default().to_ascii_lowercase();
        let is_foreign = !media.is_empty() && !media.contains("json") && !media.contains("event-stream");
        let most = if is_foreign { limits.body.min(FOREIGN) } else { limits.body };
        let codings = [tokens(fields, "content-encoding"), tokens(fields, "transfer-encoding")].concat();
        let bounds = Bounds { size: most, ratio: limits.ratio };
        let (decoder, lost) = match Decoder::new(codings.iter().map(String::as_str), bounds) {
            Ok(decoder) => (decoder, None),
            Err(_) => (None, Some(Missing::Undecodable)),
        };
        Self { bytes: Vec::new(), decoder, marks: Vec::new(), lost, most, is_foreign, is_unseen: false }
    }

    /// A body of which nothing can be known.
    pub fn lost(why: Missing) -> Self {
        Self {
            bytes: Vec::new(),
            decoder: None,
            marks: Vec::new(),
            lost: Some(why),
            most: 0,
            is_foreign: false,
            is_unseen: true,
        }
    }

    /// Adds bytes that end at `wire` in the TCP stream; true where they reached a bound of the user's.
    pub fn push(&mut self, bytes: &[u8], wire: i64, ready: Stamp) -> bool {
        if self.lost.is_some() || bytes.is_empty() {
            return false;
        }
        match &mut self.decoder {
            Some(decoder) => match decoder.feed(bytes, &mut self.bytes) {
                Ok(()) => {}
                Err(Failure::TooLarge) => self.lost = Some(Missing::SizeLimit),
                Err(Failure::Unknown | Failure::Damaged) => self.lost = Some(Missing::Undecodable),
            },
            None => {
                let room = usize::try_from(self.most.saturating_sub(self.bytes.len() as u64)).unwrap_or(usize::MAX);
                self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
                if bytes.len() > room {
                    self.lost = Some(Missing::SizeLimit);
                }
            }
        }
        let given = self.bytes.len() as u64;
        let decoded = self.decoder.as_ref().map_or(given, |d| d.produced(given));
        match self.marks.last_mut() {
            Some(last) if last.decoded == decoded => {}
            Some(last) if last.micros == ready.micros => (last.decoded, last.wire) = (decoded, wire),
            None if decoded == 0 => {}
            _ => self.marks.push(Mark { decoded, wire, micros: ready.micros }),
        }
        self.lost == Some(Missing::SizeLimit) && !self.is_foreign
    }

    /// What follows is lost.
    pub fn lose(&mut self, why: Missing) {
        self.lost.get_or_insert(why);
    }

    /// Nothing more will come.
    pub fn finish(&mut self) {
        if let Some(mut decoder) = self.decoder.take()
            && decoder.finish(&mut self.bytes).is_err()
        {
            self.lost.get_or_insert(Missing::Undecodable);
        }
    }

    /// Bytes of memory that it takes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Its beginning, at least, could be seen.
    pub fn is_seen(&self) -> bool {
        !self.is_unseen
    }

    /// The body as a reader hands it over.
    pub fn raw(&self) -> RawBody<'_> {
        let bytes = Cow::Borrowed(&self.bytes[..]);
        match self.lost {
            None => RawBody::Whole(bytes),
            Some(why @ Missing::Undecodable) if bytes.is_empty() => RawBody::NotCaptured(why),
            Some(why) if self.is_unseen => RawBody::NotCaptured(why),
            Some(why) => RawBody::Cut(bytes, why),
        }
    }

    /// Which of its bytes had arrived when.
    pub fn times(&self) -> Vec<(u64, Time)> {
        let size = self.bytes.len() as u64;
        self.marks.iter().filter_map(|m| Some((m.decoded.min(size), Time(m.micros?)))).collect()
    }

    /// How many of its bytes had arrived with the stream's bytes before `wire`.
    pub fn arrived(&self, wire: i64) -> u64 {
        let marks = self.marks.partition_point(|m| m.wire <= wire);
        let decoded = marks.checked_sub(1).and_then(|last| self.marks.get(last)).map_or(0, |m| m.decoded);
        decoded.min(self.bytes.len() as u64)
    }
}
