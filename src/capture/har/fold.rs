//! The account of one file, made from its blocks in order.

use super::{
    Job, Options, Recorder,
    block::{self, Damage, Ended, Parsed, Place},
    exchange::Traits,
    feed::Block,
};
use crate::{
    capture::{Context, FileFacts, ReadError},
    model::{Body, End, Exchange, Missing, Side, Time},
    wire::har_split::{Fault, Found, Outline, Resume, outline},
};
use std::io;

use super::recorder::Kind;

/// Most bytes that may precede or follow the entries.
const MARGIN: usize = 64 << 20;

/// Most bytes that are searched for a way out of damage.
const SEARCH: usize = 8 << 20;

/// Bytes by which the text of an entry may exceed the largest body.
const ENTRY_MARGIN: u64 = 64 << 20;

/// Where in the document the blocks have come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the entries.
    Before,
    /// Among the entries.
    Among(Place),
    /// Among the entries, in damage: the next block that seems to begin with an entry is believed.
    Lost,
    /// Behind the entries.
    Behind,
    /// Behind the document.
    Done,
    /// Among lines.
    Lines,
}

/// Folds blocks into the facts of a file.
pub(super) struct Fold<'c> {
    context: &'c Context<'c>,
    options: &'c Options<'c>,
    state: State,
    /// Text that is not read yet, its offset in the file, and the length it must reach before it is tried again.
    carry: Vec<u8>,
    offset: u64,
    enough: usize,
    /// The damage inside of which the carry begins.
    pending: Option<Damage>,
    wrapped: bool,
    recorder: Recorder,
    /// The recorder was known before the first entry was read.
    recorder_first: bool,
    facts: FileFacts,
    traits: Vec<Traits>,
    zone: Option<i16>,
    streams: (u64, u64),
    damaged: u64,
}

impl<'c> Fold<'c> {
    /// Expects a document.
    pub fn document(context: &'c Context<'c>, options: &'c Options<'c>) -> Self {
        Self {
            context,
            options,
            state: State::Before,
            carry: Vec::new(),
            offset: 0,
            enough: 0,
            pending: None,
            wrapped: false,
            recorder: Recorder::default(),
            recorder_first: false,
            facts: FileFacts { vantage: context.vantage.unwrap_or_default(), ..FileFacts::default() },
            traits: Vec::new(),
            zone: None,
            streams: (0, 0),
            damaged: 0,
        }
    }

    /// Expects lines.
    pub fn lines(context: &'c Context<'c>, options: &'c Options<'c>) -> Self {
        Self { state: State::Lines, ..Self::document(context, options) }
    }

    /// How to read blocks ahead; none where entries are not the next thing to come.
    pub fn job(&self) -> Option<Job<'c>> {
        matches!(self.state, State::Among(_) | State::Lost | State::Lines).then(|| self.now())
    }

    fn now(&self) -> Job<'c> {
        let vantage = self.context.vantage.unwrap_or(self.recorder.vantage);
        Job { context: self.context, options: self.options, kind: self.recorder.kind, vantage }
    }

    /// Reads a block that seems to begin with an entry or with a line.
    pub fn parse(&self, block: &Block, job: Job<'_>) -> Parsed {
        match self.state {
            State::Lines => block::lines(block.text(), block.offset, block.last, job),
            _ => block::entries(block.text(), block.offset, Place::Entry, job),
        }
    }

    /// Takes the next block, and what was read from it ahead.
    ///
    /// # Errors
    ///
    /// The file turns out to be no HAR.
    pub fn block(&mut self, block: &Block, parsed: Option<Parsed>) -> Result<(), ReadError> {
        let fits = match self.state {
            State::Among(Place::Entry) | State::Lines => self.carry.is_empty() || self.pending.is_some(),
            State::Among(_) => self.pending.is_some(),
            State::Lost => true,
            _ => false,
        };
        match parsed {
            Some(parsed) if fits => {
                self.settle();
                let rest = self.absorb(parsed, block.text());
                self.carry.clear();
                self.carry.extend_from_slice(rest);
                self.offset = block.offset + (block.text().len() - rest.len()) as u64;
                self.enough = 0;
            }
            _ => {
                if self.carry.is_empty() {
                    self.offset = block.offset;
                }
                self.carry.extend_from_slice(block.text());
            }
        }
        self.advance(block.last)
    }

    /// Reads on in the carry, as far as it goes.
    fn advance(&mut self, last: bool) -> Result<(), ReadError> {
        while !self.carry.is_empty() && (last || self.carry.len() >= self.enough) {
            let carry = std::mem::take(&mut self.carry);
            let before = self.state;
            let rest = match self.state {
                State::Before => self.before(&carry, last)?,
                State::Behind => self.behind(&carry, last),
                State::Among(place) => self.absorb(block::entries(&carry, self.offset, place, self.now()), &carry),
                State::Lines => self.absorb(block::lines(&carry, self.offset, last, self.now()), &carry),
                State::Lost => &[],
                State::Done => self.trailing(&carry),
            };
            let read = carry.len() - rest.len();
            self.offset += read as u64;
            let stuck = read == 0 && self.state == before;
            self.enough = if stuck { carry.len().saturating_mul(2) } else { 0 };
            self.carry = if read == 0 { carry } else { rest.to_vec() };
            if stuck || self.state == before {
                break;
            }
        }
        self.bound();
        Ok(())
    }

    /// Gives up on an entry that outgrows all limits.
    fn bound(&mut self) {
        if self.pending.is_some() && self.carry.len() > SEARCH {
            self.settle();
            self.carry.clear();
            self.state = State::Lost;
        }
        let most = self.context.limits.body.saturating_add(ENTRY_MARGIN);
        if self.carry.len() as u64 > most && matches!(self.state, State::Among(_) | State::Lines) {
            let (entry, offset) = (self.facts.entries, self.offset);
            self.facts.caveat(
                "limit-reached",
                format!("entry {entry} at byte {offset} is longer than {most} bytes (limit body)"),
            );
            self.facts.entries += 1;
            self.carry = Vec::new();
            self.enough = 0;
            if self.state != State::Lines {
                self.state = State::Lost;
            }
        }
    }

    /// Adds what was read from a text, which gives back its rest.
    fn absorb<'t>(&mut self, parsed: Parsed, text: &'t [u8]) -> &'t [u8] {
        let base = self.facts.entries;
        let first = u32::try_from(base).unwrap_or(u32::MAX);
        self.facts.exchanges.extend(parsed.exchanges.into_iter().map(|mut exchange| {
            exchange.at.entry = exchange.at.entry.saturating_add(first);
            exchange
        }));
        self.traits.extend(parsed.traits);
        self.facts.entries += parsed.entries;
        self.zone = self.zone.or(parsed.zone);
        self.streams = (self.streams.0 + parsed.streams.0, self.streams.1 + parsed.streams.1);
        self.damaged += parsed.damaged;
        if let Some(damage) = parsed.first_damage {
            self.caveat(Damage { entry: base + damage.entry, ..damage }, parsed.damaged);
        }
        self.pending = parsed.pending.map(|damage| Damage { entry: base + damage.entry, ..damage });
        let lines = self.state == State::Lines;
        match parsed.ended {
            Ended::Open(at, place) => {
                if !lines {
                    self.state = State::Among(place);
                }
                text.get(at..).unwrap_or_default()
            }
            Ended::Closed(at) => {
                self.state = State::Behind;
                text.get(at..).unwrap_or_default()
            }
            Ended::Stuck(at, place) => {
                self.state = State::Among(place);
                text.get(at..).unwrap_or_default()
            }
        }
    }

    /// Gives up on the damaged entry in which reading was stuck.
    fn settle(&mut self) {
        let Some(damage) = self.pending.take() else { return };
        self.caveat(damage, 1);
        self.damaged += 1;
        self.facts.entries += u64::from(self.state != State::Among(Place::Separator));
    }

    fn caveat(&mut self, damage: Damage, count: u64) {
        let Damage { entry, offset, at, what } = damage;
        let message = format!("entry {entry} at byte {offset} is damaged ({what}, at byte {at}) and was left out");
        self.facts.caveats("entry-unreadable", count, message);
    }

    /// Looks for the entries; gives back what is not read.
    fn before<'t>(&mut self, text: &'t [u8], last: bool) -> Result<&'t [u8], ReadError> {
        match outline(text, Resume::Start) {
            Ok(outline) => {
                self.recorded_by(&outline);
                self.recorder_first = !self.recorder.name.is_empty();
                match outline.found {
                    Found::Entries(at) => {
                        self.state = State::Among(Place::First);
                        Ok(text.get(at..).unwrap_or_default())
                    }
                    Found::NoLog => Err(ReadError::NotACapture("JSON, but no HAR: it has no member \"log\"".into())),
                    _ => Err(ReadError::NotACapture("a HAR whose log has no array of entries".into())),
                }
            }
            Err(Fault::End) if !last && text.len() < MARGIN => Ok(text),
            Err(Fault::End) if !last => {
                Err(ReadError::NotACapture(format!("JSON, but no HAR: no entries in its first {} bytes", text.len())))
            }
            Err(Fault::End) if text.iter().all(|b| b.is_ascii_whitespace() || *b == 0) => {
                Err(ReadError::NotACapture("an empty file".into()))
            }
            Err(Fault::End) => Err(ReadError::Damaged(format!(
                "a HAR that ends, at byte {}, before its first entry",
                self.offset + text.len() as u64
            ))),
            Err(Fault::Invalid { at, what }) => {
                Err(ReadError::NotACapture(format!("no HAR: {what} at byte {}", self.offset + at as u64)))
            }
        }
    }

    /// Reads what follows the entries; gives back what is not read.
    fn behind<'t>(&mut self, text: &'t [u8], last: bool) -> &'t [u8] {
        match outline(text, Resume::BehindEntries { wrapped: self.wrapped }) {
            Ok(outline) => {
                self.recorded_by(&outline);
                let at = match outline.found {
                    Found::Entries(at) => {
                        self.state = State::Among(Place::First);
                        at
                    }
                    Found::End(at) => {
                        self.state = State::Done;
                        at
                    }
                    Found::NoLog | Found::NoEntries => text.len(),
                };
                text.get(at..).unwrap_or_default()
            }
            Err(Fault::End) if !last && text.len() < MARGIN => text,
            Err(Fault::End) if last => text,
            Err(fault) => {
                let (at, what) = match fault {
                    Fault::Invalid { at, what } => (at, what),
                    Fault::End => (text.len(), "no end in sight"),
                };
                let at = self.offset + at as u64;
                self.facts
                    .caveat("trailing-bytes", format!("behind its entries the HAR is damaged ({what}, at byte {at})"));
                self.state = State::Done;
                &[]
            }
        }
    }

    /// Notes what follows the document.
    fn trailing<'t>(&mut self, text: &'t [u8]) -> &'t [u8] {
        if let Some(at) = text.iter().position(|b| !b.is_ascii_whitespace()) {
            let (what, at) = match text.get(at..).unwrap_or_default().iter().all(|b| *b == 0 || b.is_ascii_whitespace())
            {
                true => ("NUL bytes", self.offset + at as u64),
                false => ("more bytes, which were not read,", self.offset + at as u64),
            };
            self.facts.caveat("trailing-bytes", format!("{what} follow the end of the HAR, at byte {at}"));
        }
        &[]
    }

    fn recorded_by(&mut self, outline: &Outline<'_>) {
        self.wrapped = outline.wrapped;
        if outline.name.is_present() && self.recorder.name.is_empty() {
            self.recorder = Recorder::new(&outline.name.text_or_empty(), &outline.version.text_or_empty());
        }
    }

    /// Closes the account; `failure` is the error that ended the file, if one did.
    ///
    /// # Errors
    ///
    /// There was nothing to read.
    pub fn finish(mut self, failure: Option<io::Error>) -> Result<FileFacts, ReadError> {
        if self.pending.is_some() {
            self.settle();
            self.state = State::Lost;
        }
        match self.state {
            State::Before => {
                return Err(failure.map_or_else(|| ReadError::NotACapture("an empty file".into()), ReadError::Io));
            }
            State::Lines if self.facts.entries == self.damaged => {
                let none = "no line of it is a HAR entry".into();
                return Err(failure.map_or(ReadError::NotACapture(none), ReadError::Io));
            }
            State::Among(_) | State::Behind => {
                let (end, start) = (self.offset + self.carry.len() as u64, self.offset);
                let inside = match self.state {
                    State::Among(Place::Entry | Place::First) if !self.carry.is_empty() => {
                        format!("inside entry {}, which begins at byte {start}", self.facts.entries)
                    }
                    State::Among(_) => "between two entries".into(),
                    _ => "behind its entries".into(),
                };
                let read = self.facts.entries - self.damaged.min(self.facts.entries);
                self.facts.caveat(
                    "input-truncated",
                    format!("the file ends at byte {end}, {inside}; {read} entries were read"),
                );
            }
            State::Lost | State::Done | State::Lines => {}
        }
        if let Some(error) = failure {
            self.facts.caveat(
                "input-truncated",
                format!("reading stopped at byte {}: {error}", self.offset + self.carry.len() as u64),
            );
        }
        self.facts.recorder = self.recorder.label();
        let vantage = self.context.vantage.unwrap_or(self.recorder.vantage);
        self.facts.vantage = vantage;
        if !self.recorder_first {
            for exchange in &mut self.facts.exchanges {
                exchange.vantage = vantage;
            }
        }
        if self.recorder.kind == Kind::Mitmproxy {
            self.mitmproxy();
        }
        self.clock();
        self.count();
        Ok(self.facts)
    }

    fn exchanges(&mut self) -> impl Iterator<Item = (&mut Exchange, Traits)> {
        self.facts.exchanges.iter_mut().zip(self.traits.iter().copied())
    }

    /// mitmproxy's marks mean what they do only in view of the whole file.
    fn mitmproxy(&mut self) {
        if !self.recorder_first {
            for (exchange, traits) in self.exchanges() {
                if traits.contains(Traits::NO_RECEIVE) {
                    (exchange.end, exchange.ended) = (End::Abrupt(Side::Unknown), None);
                    if exchange.response == Body::Empty {
                        exchange.response = Body::NotCaptured(Missing::Streamed);
                    }
                }
            }
        }
        // Where no event stream of the file has a body, bodies were passed through and not stored.
        if self.streams.0 == self.streams.1 {
            for (exchange, traits) in self.exchanges() {
                if traits.contains(Traits::EMPTY_STREAM) {
                    exchange.response = Body::NotCaptured(Missing::Streamed);
                }
            }
        }
    }

    /// Times without a zone are read in that of the others; starts in whole seconds make all times coarse.
    fn clock(&mut self) {
        let count = |traits: &[Traits], wanted| traits.iter().filter(|t| t.contains(wanted)).count() as u64;
        let (all, fine) = (self.traits.len() as u64, count(&self.traits, Traits::FINE));
        let (zoneless, timeless) = (count(&self.traits, Traits::ZONELESS), count(&self.traits, Traits::TIMELESS));
        if zoneless > 0 {
            let minutes = self.zone.unwrap_or(0);
            let shift = -i64::from(minutes) * 60_000_000;
            for (exchange, traits) in self.exchanges() {
                if traits.contains(Traits::ZONELESS) {
                    for time in [&mut exchange.sent, &mut exchange.head, &mut exchange.ended] {
                        *time = time.map(|time: Time| time.plus(shift));
                    }
                }
            }
            let which = if self.zone.is_some() { "that of the other entries" } else { "UTC" };
            let message = format!("the start of {zoneless} exchanges has no time zone: {which} was taken");
            self.facts.caveats("no-or-coarse-time", zoneless, message);
        }
        if timeless > 0 {
            let message = format!("{timeless} exchanges have no start that could be read");
            self.facts.caveats("no-or-coarse-time", timeless, message);
        }
        if fine == 0 && all > timeless + 1 {
            for (exchange, _) in self.exchanges() {
                exchange.coarse_times = true;
            }
            self.facts.caveats("no-or-coarse-time", all - timeless, "times are in whole seconds");
        }
    }

    /// Counts what was guessed, cut or found blacked out.
    fn count(&mut self) {
        for (wanted, name, message) in [
            (
                Traits::GUESSED_BASE64,
                "guessed-encoding",
                "event streams that nothing declared to be base64 were decoded",
            ),
            (Traits::OVER_LIMIT, "limit-reached", "bodies were longer than the limit `body`; the rest was dropped"),
            (Traits::REDACTED, "headers-redacted", "session ids or cursors were blacked out"),
        ] {
            let count = self.traits.iter().filter(|traits| traits.contains(wanted)).count() as u64;
            if count > 0 {
                self.facts.caveats(name, count, message);
            }
        }
    }
}
