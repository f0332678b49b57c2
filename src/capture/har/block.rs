//! The entries of one piece of text, read one after the other; a damaged one costs itself only.

use super::{
    Job, Scratch,
    entry::Entry,
    exchange::{self, Traits},
};
use crate::{
    capture::digest,
    model::{Address, Exchange},
    wire::har_split::{Fault, Next, Scanner, recover},
};

/// What may come next in an array of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// An entry, or the end of an array without any.
    First,
    /// An entry.
    Entry,
    /// A comma, or the end of the array.
    Separator,
}

/// Where reading ended, as an offset in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The text ended first: nothing behind this offset has been read.
    Open(usize, Place),
    /// Behind the end of the array.
    Closed(usize),
    /// Inside a damaged entry that begins at this offset, where the text shows no way out. It is not counted yet.
    Stuck(usize, Place),
}

/// An entry that could not be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Damage {
    /// Its ordinal, counted from the first entry of the text.
    pub entry: u64,
    /// Its offset in the file.
    pub offset: u64,
    /// Offset in the file of what is wrong with it.
    pub at: u64,
    pub what: &'static str,
}

/// What was read from one piece of text.
pub(super) struct Parsed {
    pub exchanges: Vec<Exchange>,
    /// One for each exchange.
    pub traits: Vec<Traits>,
    /// How many entries there were, damaged ones included.
    pub entries: u64,
    pub damaged: u64,
    pub first_damage: Option<Damage>,
    /// The damage in which reading is stuck.
    pub pending: Option<Damage>,
    /// The zone of the first start that has one.
    pub zone: Option<i16>,
    /// How many entries were event streams with a recorded text, and how many of those were empty.
    pub streams: (u64, u64),
    pub ended: Ended,
}

/// Reads the entries of an array, of which the text is a piece that begins at `place`.
pub(super) fn entries(text: &[u8], offset: u64, place: Place, job: Job<'_>) -> Parsed {
    let mut reader = Reader::new(text, offset, job);
    reader.parsed.ended = reader.array(place);
    reader.parsed
}

/// Reads entries that stand one a line. The text's last line is read only where it is complete, or `last` is set.
pub(super) fn lines(text: &[u8], offset: u64, last: bool, job: Job<'_>) -> Parsed {
    let mut reader = Reader::new(text, offset, job);
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let end = match memchr::memchr(b'\n', rest) {
            Some(length) => start + length,
            None if last => text.len(),
            None => break,
        };
        reader.line(start, end);
        start = (end + 1).min(text.len());
    }
    reader.parsed.ended = Ended::Open(start, Place::Entry);
    reader.parsed
}

struct Reader<'t, 'j> {
    text: &'t [u8],
    offset: u64,
    job: Job<'j>,
    entry: Entry<'t>,
    scratch: Scratch,
    /// Bytes that may still be searched for a way out of damage.
    budget: usize,
    parsed: Parsed,
}

impl<'t, 'j> Reader<'t, 'j> {
    fn new(text: &'t [u8], offset: u64, job: Job<'j>) -> Self {
        let parsed = Parsed {
            exchanges: Vec::new(),
            traits: Vec::new(),
            entries: 0,
            damaged: 0,
            first_damage: None,
            pending: None,
            zone: None,
            streams: (0, 0),
            ended: Ended::Open(0, Place::First),
        };
        let budget = text.len().saturating_mul(4);
        Self { text, offset, job, entry: Entry::default(), scratch: Scratch::default(), budget, parsed }
    }

    fn array(&mut self, mut place: Place) -> Ended {
        let mut scanner = Scanner::new(self.text, 0);
        loop {
            let Some(byte) = scanner.peek() else { return Ended::Open(scanner.at(), place) };
            let start = scanner.at();
            let fault = match (place, byte) {
                (Place::Separator, b',') => {
                    scanner.accept(b',');
                    place = Place::Entry;
                    continue;
                }
                (Place::Separator | Place::First, b']') => return Ended::Closed(start + 1),
                (Place::Entry, b']') => {
                    self.damage(start, start, "no entry behind a comma");
                    return Ended::Closed(start + 1);
                }
                (Place::Separator, b'{') => {
                    self.damage(start, start, "no comma between entries");
                    place = Place::Entry;
                    continue;
                }
                (Place::Separator, _) => Fault::Invalid { at: start, what: "neither a comma nor a closing bracket" },
                (_, b'{') => match self.entry.read(&mut scanner, &mut self.scratch, self.job.body_limit()) {
                    Ok(()) => {
                        self.keep(start);
                        place = Place::Separator;
                        continue;
                    }
                    Err(fault) => fault,
                },
                _ => match scanner.skip() {
                    Ok(()) => {
                        self.damage(start, start, "no object");
                        self.parsed.entries += 1;
                        place = Place::Separator;
                        continue;
                    }
                    Err(fault) => fault,
                },
            };
            let Fault::Invalid { at, what } = fault else { return Ended::Open(start, place) };
            let next = recover(self.text, start, at, &mut self.budget);
            let (behind, next_place) = match next {
                Some(Next::Behind(behind)) => (behind, Place::Separator),
                Some(Next::Entry(behind)) => (behind, Place::Entry),
                None => {
                    self.parsed.pending = Some(self.damaged(start, at, what));
                    return Ended::Stuck(start, place);
                }
            };
            self.damage(start, at, what);
            self.parsed.entries += u64::from(place != Place::Separator);
            (scanner, place) = (Scanner::new(self.text, behind), next_place);
        }
    }

    fn line(&mut self, start: usize, end: usize) {
        let line = self.text.get(..end).unwrap_or_default();
        let mut scanner = Scanner::new(line, start);
        if scanner.peek().is_none() {
            return;
        }
        let start = scanner.at();
        match self.entry.read(&mut scanner, &mut self.scratch, self.job.body_limit()) {
            Ok(()) if scanner.peek().is_some() => self.damage(start, scanner.at(), "more than one value on a line"),
            Ok(()) if !self.entry.request.url.is_present() => self.damage(start, start, "no request"),
            Ok(()) => return self.keep(start),
            Err(Fault::End) => self.damage(start, end, "the line ends inside a value"),
            Err(Fault::Invalid { at, what }) => self.damage(start, at, what),
        }
        self.parsed.entries += 1;
    }

    /// Counts damage that concerns the next entry.
    fn damage(&mut self, start: usize, at: usize, what: &'static str) {
        let damage = self.damaged(start, at, what);
        self.parsed.first_damage.get_or_insert(damage);
        self.parsed.damaged += 1;
    }

    fn damaged(&self, start: usize, at: usize, what: &'static str) -> Damage {
        let place = |at: usize| self.offset.saturating_add(at as u64);
        Damage { entry: self.parsed.entries, offset: place(start), at: place(at), what }
    }

    /// Digests the entry that was just read and keeps it, unless it cannot be MCP.
    fn keep(&mut self, start: usize) {
        let ordinal = u32::try_from(self.parsed.entries).unwrap_or(u32::MAX);
        self.parsed.entries += 1;
        let at =
            Address { entry: ordinal, offset: Some(self.offset.saturating_add(start as u64)), ..Address::default() };
        let Some(made) = exchange::exchange(&self.entry, &mut self.scratch, &self.job, at) else { return };
        self.parsed.zone = self.parsed.zone.or(made.zone);
        self.parsed.streams.0 += u64::from(made.traits.contains(Traits::STREAM));
        self.parsed.streams.1 += u64::from(made.traits.contains(Traits::EMPTY_STREAM));
        if let Some(exchange) = digest::exchange(self.job.context, &made.raw, self.job.vantage) {
            self.parsed.exchanges.push(exchange);
            self.parsed.traits.push(made.traits);
        }
    }
}
