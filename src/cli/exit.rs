//! Exit codes, which scripts rely on.

use super::console;
use std::{io, process::ExitCode};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything was read, and nothing decisive found; also when the reader of the pipe went away.
    Clean = 0,
    /// A finding is decisive.
    Findings = 1,
    /// Usage, configuration, input or internal error; beats [`Exit::Findings`].
    Trouble = 2,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The exit of an error, which is printed unless it says that nobody reads any more.
pub fn of(error: &anyhow::Error) -> Exit {
    let gone = |e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe;
    if error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(gone)) {
        return Exit::Clean;
    }
    console::error(&format!("{error:#}"));
    Exit::Trouble
}
