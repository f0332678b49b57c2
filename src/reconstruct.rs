//! From exchanges to sessions, streams, requests and resumptions.

use crate::model::{Exchange, Session};
use std::collections::BTreeMap;

/// A shortcoming of the capture that reconstruction found: how often, where first (index of an exchange), and in words.
#[derive(Clone, Debug)]
pub struct Caveat {
    /// How often.
    pub count: u64,
    /// The first exchange that it concerns.
    pub first: Option<u32>,
    /// What it means.
    pub message: String,
}

/// Everything that a run's inputs say: all inputs of a run are one capture.
#[derive(Debug, Default)]
pub struct Capture {
    /// All exchanges; folded ones are left out.
    pub exchanges: Vec<Exchange>,
    /// The sessions, in order of their start.
    pub sessions: Vec<Session>,
    /// Shortcomings of the capture, by name and source (index of the input).
    pub caveats: BTreeMap<(&'static str, u32), Caveat>,
}

/// Reconstructs what the exchanges of a run mean.
pub fn capture(exchanges: Vec<Exchange>) -> Capture {
    Capture { exchanges, ..Capture::default() }
}
