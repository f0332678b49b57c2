//! What a reader gets and gives: the unpacked bytes of one file, the means of digestion, and its account of the file.

use super::{RawExchange, digest};
use crate::{
    model::{Exchange, Vantage},
    redact::Key,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, io::BufRead, sync::atomic::AtomicU64};

/// Bounds on what hostile input may cost; `--limit NAME=VALUE` sets them.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Largest decoded body in bytes; the rest of a larger one is dropped with a caveat.
    pub body: u64,
    /// Largest unpacked size of one compressed file or archive member in bytes.
    pub unpacked: u64,
    /// Largest ratio of unpacked to packed bytes, once 1 MiB has been unpacked.
    pub ratio: u64,
    /// Most members of one archive.
    pub members: u64,
    /// Deepest nesting of containers.
    pub depth: u32,
    /// Deepest nesting of a JSON or tnetstring value.
    pub nesting: u32,
    /// Bytes that packets which arrive out of order may occupy, over all connections.
    pub reassembly: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 1 << 30,
            unpacked: 64 << 30,
            ratio: 2_000,
            members: 1_000_000,
            depth: 2,
            nesting: 512,
            reassembly: 256 << 20,
        }
    }
}

/// What all readers of a run share.
pub struct Context<'r> {
    /// The key of pseudonyms.
    pub key: &'r Key,
    /// The bounds.
    pub limits: Limits,
    /// Strings that repeat (endpoints, methods, tool names), one allocation each.
    pub names: &'r digest::Names,
    /// Bytes of input consumed so far, for progress and `-v`.
    pub consumed: &'r AtomicU64,
    /// `--vantage`, where it is not `auto`.
    pub vantage: Option<Vantage>,
}

/// A shortcoming of the capture, counted: its name and the message that explains it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaveatCount {
    /// How often.
    pub count: u64,
    /// What it means, with the first place.
    pub message: String,
}

/// What a reader found in one file.
#[derive(Debug, Default)]
pub struct FileFacts {
    /// The exchanges that may be MCP, in file order.
    pub exchanges: Vec<Exchange>,
    /// How many HTTP exchanges (or messages) the file holds, MCP or not.
    pub entries: u64,
    /// The recorder and its version, as the file names it.
    pub recorder: Option<String>,
    /// From where the recorder saw the traffic.
    pub vantage: Vantage,
    /// What shows that, where it is not the format alone; or why it stays unknown.
    pub vantage_shown_by: Vec<String>,
    /// Shortcomings, by the caveat's name.
    pub caveats: BTreeMap<&'static str, CaveatCount>,
}

impl FileFacts {
    /// Counts one occurrence of a caveat; the message of the first one is kept.
    pub fn caveat(&mut self, name: &'static str, message: impl Into<String>) {
        self.caveats(name, 1, message);
    }

    /// Counts `count` occurrences of a caveat; the message of the first one is kept.
    pub fn caveats(&mut self, name: &'static str, count: u64, message: impl Into<String>) {
        let entry = self.caveats.entry(name).or_default();
        if entry.count == 0 {
            entry.message = message.into();
        }
        entry.count += count;
    }

    /// Digests one exchange and keeps it, unless it cannot be MCP.
    pub fn push(&mut self, context: &Context<'_>, raw: &RawExchange<'_>) {
        self.entries += 1;
        if let Some(exchange) = digest::exchange(context, raw, self.vantage) {
            self.exchanges.push(exchange);
        }
    }
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No known format.
    #[error("not a capture: {0}")]
    NotACapture(String),
    /// A format that is known and not read; the text says what to do instead.
    #[error("{0}")]
    NotRead(String),
    /// A known format, damaged beyond reading.
    #[error("{0}")]
    Damaged(String),
    /// The file itself could not be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// The unpacked bytes of one file, as a stream.
pub type Bytes<'a> = dyn BufRead + Send + 'a;
