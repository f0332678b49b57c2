//! What the reading of one file shares: its context, its account, and where exchanges go.

use super::{exchange::Finished, opaque::Opaque, standpoint::Standpoint};
use crate::capture::{Context, FileFacts};

/// Takes each exchange as it becomes complete.
pub type Sink<'s> = dyn FnMut(Finished) + 's;

/// The reading of one file.
pub struct Run<'r> {
    /// What all readers share.
    pub context: &'r Context<'r>,
    /// Caveats and the recorder; exchanges go to the sink.
    pub account: FileFacts,
    /// What was seen and cannot be read.
    pub opaque: Opaque,
    /// What shows where the packets were captured.
    pub standpoint: Standpoint,
    /// Where exchanges go.
    pub sink: &'r mut Sink<'r>,
    entries: u32,
}

impl<'r> Run<'r> {
    /// Begins to read.
    pub fn new(context: &'r Context<'r>, sink: &'r mut Sink<'r>) -> Self {
        let (account, opaque, standpoint) = (FileFacts::default(), Opaque::default(), Standpoint::default());
        Self { context, account, opaque, standpoint, sink, entries: 0 }
    }

    /// The ordinal of the next exchange.
    pub fn entry(&mut self) -> u32 {
        let entry = self.entries;
        self.entries = self.entries.saturating_add(1);
        entry
    }
}
