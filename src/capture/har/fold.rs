//! The account of one file, made from its blocks in order: each must end where the next one begins.

use super::{
    Job, Options, Recorder,
    block::{self, Damage, Ended, Parsed, Place},
    exchange::Traits,
    feed::Block,
};
use crate::capture::{Context, FileFacts, ReadError};

mod closing;
mod margins;

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
        let before = self.facts.exchanges.len();
        self.facts.exchanges.extend(parsed.exchanges);
        for exchange in self.facts.exchanges.iter_mut().skip(before) {
            exchange.at.entry = exchange.at.entry.saturating_add(first);
        }
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
}
