//! What a rule is: a constant with a name, a page and a function.

use super::{Finding, Severity, Thresholds, case::Ledger};
use crate::{
    model::{Era, Session},
    reconstruct::Capture,
};
use serde::Serialize;

/// The folder that a rule lives in; also a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// The client's request to resume.
    Resume,
    /// What the server did with it.
    Replay,
    /// Responses, duplicates, losses.
    Terminal,
    /// The dynamics of coming back.
    Reconnect,
    /// Sessions and cursor namespaces.
    Session,
    /// Event ids and framing.
    Event,
    /// HTTP and version conformance.
    Http,
}

impl Family {
    /// All of them, in the order of the catalogue.
    pub const ALL: [Self; 7] =
        [Self::Resume, Self::Replay, Self::Terminal, Self::Reconnect, Self::Session, Self::Event, Self::Http];

    /// Its name, which is also its selector.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resume => "resume",
            Self::Replay => "replay",
            Self::Terminal => "terminal",
            Self::Reconnect => "reconnect",
            Self::Session => "session",
            Self::Event => "event",
            Self::Http => "http",
        }
    }
}

/// A number that a rule compares with; `--set RULE.NAME=VALUE` changes it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Threshold {
    /// Its name within the rule.
    pub name: &'static str,
    /// Its default.
    pub default: f64,
    /// What it counts, with its unit.
    pub about: &'static str,
}

/// What one session rule sees.
pub struct Case<'c> {
    /// The whole capture: exchanges and sessions.
    pub capture: &'c Capture,
    /// Index of the session.
    pub index: u32,
    /// The session.
    pub session: &'c Session,
    /// The thresholds in force.
    pub thresholds: &'c Thresholds,
    /// What was prepared of the session.
    pub ledger: Ledger,
}

impl<'c> Case<'c> {
    /// Prepares one session of a capture.
    pub fn new(capture: &'c Capture, index: u32, session: &'c Session, thresholds: &'c Thresholds) -> Self {
        Self { capture, index, session, thresholds, ledger: Ledger::new(capture, session) }
    }
}

/// The question that a rule asks, of one session or of the capture as a whole.
#[derive(Clone, Copy)]
pub enum Check {
    /// Asked of each session on its own.
    Session(fn(&Case<'_>, &mut Vec<Finding>)),
    /// Asked once: it compares sessions, or concerns exchanges without one.
    Endpoint(fn(&Capture, &Thresholds, &mut Vec<Finding>)),
}

/// A rule. Adding one is a file, a page and a line in [`super::ALL`].
pub struct Rule {
    /// Kebab-case name; stable once released.
    pub id: &'static str,
    /// Its family.
    pub family: Family,
    /// One line that says what it finds.
    pub summary: &'static str,
    /// The severity that it has by default.
    pub severity: Severity,
    /// The version of the program that brought it.
    pub since: &'static str,
    /// The revisions that it holds in.
    pub eras: &'static [Era],
    /// The rules whose findings it makes superfluous.
    pub suppresses: &'static [&'static str],
    /// The numbers that it compares with.
    pub thresholds: &'static [Threshold],
    /// What to do about it, in one sentence.
    pub remedy: &'static str,
    /// Its page, in Markdown.
    pub page: &'static str,
    /// Its question.
    pub check: Check,
}

/// The revisions with sessions and resumption: 2025-03-26 to 2025-11-25.
pub const STREAMABLE: &[Era] = &[Era::March2025, Era::June2025, Era::November2025];

/// The stateless revision.
pub const MODERN: &[Era] = &[Era::Modern2026];

/// All revisions over HTTP.
pub const EVERY: &[Era] = &[Era::Legacy2024, Era::March2025, Era::June2025, Era::November2025, Era::Modern2026];
