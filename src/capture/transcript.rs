//! The plain-text capture format: for fixtures that are read in review, for cases typed into a bug report, and as
//! output of `show`.
//!
//! ```text
//! # vantage: client                      comments, and directives before the first exchange
//! @ 2026-01-01T00:00:01.000Z             start (or +250ms after the previous start); without it, no times
//! > POST http://localhost:3000/mcp       a path alone stands for http://localhost
//! > mcp-session-id: s1
//! >                                      a body follows
//! {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow"}}
//! < 200 +5ms                             and perhaps the time of the head
//! < content-type: text/event-stream
//! <
//! id: a0
//! data:
//!
//! @ +120ms                               what follows arrived then
//! id: a1
//! data: {"jsonrpc":"2.0","id":2,"result":{}}
//!
//! = clean                                or: abrupt [client|server], open, unknown; not-captured, partial; received; and a time
//! ```
//!
//! README documents it for users. What [`write`] writes, [`read`] reads back as the same exchanges.

mod escape;
mod head;
mod read;
mod time;
mod write;

pub use read::{File, parse, read};
pub use write::write;

use crate::model::{End, Missing, Side};

/// The event stream's type: in its bodies every line is as long as it looks.
fn is_event_stream(headers: &super::Headers<'_>) -> bool {
    let media = super::header(headers, "content-type").unwrap_or_default();
    media.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
}

/// A line that begins with a mark: the mark itself alone, or followed by a space.
fn mark(line: &[u8]) -> Option<u8> {
    let mark = *line.first()?;
    (b"@<>=#".contains(&mark) && matches!(line.get(1), None | Some(b' ' | b'\r'))).then_some(mark)
}

/// How bodies come to be missing, by name.
const REASONS: [(&str, Missing); 9] = [
    ("not-recorded", Missing::NotRecorded),
    ("streamed", Missing::Streamed),
    ("size-limit", Missing::SizeLimit),
    ("hole", Missing::Hole),
    ("capture-end", Missing::CaptureEnd),
    ("sanitised", Missing::Sanitised),
    ("undecodable", Missing::Undecodable),
    ("cut-off", Missing::CutOff),
    ("failed", Missing::Failed),
];

/// How responses end, by name.
const ENDS: [(&str, End); 6] = [
    ("clean", End::Clean),
    ("abrupt client", End::Abrupt(Side::Client)),
    ("abrupt server", End::Abrupt(Side::Server)),
    ("abrupt", End::Abrupt(Side::Unknown)),
    ("open", End::Open),
    ("unknown", End::Unknown),
];

#[cfg(test)]
mod tests;
