//! What can be said of a HAR only when all of it is known.

use super::{Fold, Place, State, Traits};
use crate::{
    capture::{FileFacts, ReadError, har::Kind},
    model::{Body, End, Exchange, Missing, Side, Time},
};
use std::io;

impl Fold<'_> {
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
