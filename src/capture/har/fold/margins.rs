//! What precedes the entries of a HAR and what follows them.

use super::{Fold, Place, State};
use crate::{
    capture::{ReadError, har::Recorder},
    wire::har_split::{Fault, Found, Outline, Resume, outline},
};

/// Most bytes that may precede or follow the entries.
const MARGIN: usize = 64 << 20;

impl Fold<'_> {
    /// Looks for the entries; gives back what is not read.
    pub(super) fn before<'t>(&mut self, text: &'t [u8], last: bool) -> Result<&'t [u8], ReadError> {
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
    pub(super) fn behind<'t>(&mut self, text: &'t [u8], last: bool) -> &'t [u8] {
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
    pub(super) fn trailing<'t>(&mut self, text: &'t [u8]) -> &'t [u8] {
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
}
