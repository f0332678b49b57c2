//! HAR, all dialects: read in blocks, cut at entry boundaries, in parallel and in constant memory.
//!
//! The file is never held as a whole. The calling thread fills blocks and cuts each at what looks like the beginning of
//! an entry ([`crate::wire::har_split::last_boundary`]); all threads read entries; the results are folded in file order,
//! where each block's reader must have ended exactly at the next block's beginning. Where one did not, the rest of the
//! block is joined with what follows and read again: a wrong cut costs time, never an entry.

mod block;
mod body;
mod entry;
mod events;
mod exchange;
mod feed;
mod fold;
mod recorder;
mod relevance;
mod timing;

use super::{Bytes, Context, FileFacts, ReadError};
use crate::{
    model::{Address, Exchange, Vantage},
    wire::har_split::{Buffer, Fault, Scanner},
};
use feed::{Cut, Feed};
use fold::Fold;
use rayon::prelude::*;
pub use recorder::{Kind, Recorder};

/// How many blocks each thread gets at a time: so many that all are done at about the same time.
const BATCH: usize = 8;

/// Looks up a body by the name of the file that it stands in.
pub type Member<'o> = dyn Fn(&str) -> Option<Vec<u8>> + Sync + 'o;

/// What the file alone does not hold, and how it is read.
#[derive(Clone, Copy)]
pub struct Options<'o> {
    /// Bodies that stand in files of their own (`_file`, as Playwright attaches them).
    pub member: Option<&'o Member<'o>>,
    /// Bytes that are read at a time. The result does not depend on it.
    pub block: usize,
}

impl Default for Options<'_> {
    /// No other files, and blocks of 512 KiB: large enough to make the search for a boundary cheap, small enough for a
    /// cache.
    fn default() -> Self {
        Self { member: None, block: 1 << 19 }
    }
}

/// What all who read entries share.
#[derive(Clone, Copy)]
struct Job<'j> {
    context: &'j Context<'j>,
    options: &'j Options<'j>,
    kind: Kind,
    vantage: Vantage,
}

impl Job<'_> {
    /// The largest body in bytes.
    fn body_limit(&self) -> usize {
        usize::try_from(self.context.limits.body).unwrap_or(usize::MAX)
    }
}

/// Buffers for bodies, kept from entry to entry.
#[derive(Debug, Default)]
struct Scratch {
    request: Buffer,
    request_decoded: Vec<u8>,
    response: Buffer,
    response_decoded: Vec<u8>,
}

impl Scratch {
    fn clear(&mut self) {
        self.request.clear();
        self.response.clear();
    }
}

/// Reads one HAR.
///
/// # Errors
///
/// It is no HAR, ends before its first entry, or cannot be read at all. Damage behind that is a caveat.
pub fn read(input: &mut Bytes<'_>, context: &Context<'_>) -> Result<FileFacts, ReadError> {
    read_with(input, context, &Options::default())
}

/// Reads one HAR whose bodies may stand in files of their own.
///
/// # Errors
///
/// As [`read`].
pub fn read_with(input: &mut Bytes<'_>, context: &Context<'_>, options: &Options<'_>) -> Result<FileFacts, ReadError> {
    run(Feed::new(input, Cut::Entries, options.block), Fold::document(context, options))
}

/// Reads HAR entries, one a line.
///
/// # Errors
///
/// No line holds an entry, or nothing can be read at all. Other lines are counted in a caveat.
pub fn read_lines(input: &mut Bytes<'_>, context: &Context<'_>) -> Result<FileFacts, ReadError> {
    read_lines_with(input, context, &Options::default())
}

/// Reads HAR entries, one a line, whose bodies may stand in files of their own.
///
/// # Errors
///
/// As [`read_lines`].
pub fn read_lines_with(
    input: &mut Bytes<'_>,
    context: &Context<'_>,
    options: &Options<'_>,
) -> Result<FileFacts, ReadError> {
    run(Feed::new(input, Cut::Lines, options.block), Fold::lines(context, options))
}

/// Reads one entry from a text of its own; none where it cannot be MCP.
///
/// # Errors
///
/// The text is no JSON object.
pub fn entry(text: &[u8], at: Address, recorder: &Recorder, context: &Context<'_>) -> Result<Option<Exchange>, Fault> {
    let options = Options::default();
    let vantage = context.vantage.unwrap_or(recorder.vantage);
    let job = Job { context, options: &options, kind: recorder.kind, vantage };
    let (mut entry, mut scratch) = (entry::Entry::default(), Scratch::default());
    entry.read(&mut Scanner::new(text, 0), &mut scratch, job.body_limit())?;
    let made = exchange::exchange(&entry, &mut scratch, &job, at);
    Ok(made.and_then(|made| super::digest::exchange(context, &made.raw, vantage)))
}

/// Blocks from the feed, through the threads, into the fold.
fn run(mut feed: Feed<'_, '_>, mut fold: Fold<'_>) -> Result<FileFacts, ReadError> {
    let mut batch = feed.batch(1);
    while !batch.is_empty() {
        let (next, parsed) = match fold.job() {
            None => (Vec::new(), Vec::new()),
            Some(job) => rayon::join(
                || feed.batch(BATCH * rayon::current_num_threads()),
                || batch.par_iter().map(|block| block.aligned.then(|| fold.parse(block, job))).collect(),
            ),
        };
        let mut parsed = parsed.into_iter();
        for block in &batch {
            fold.block(block, parsed.next().flatten())?;
        }
        feed.recycle(batch);
        batch = if next.is_empty() { feed.batch(1) } else { next };
    }
    fold.finish(feed.failure())
}
