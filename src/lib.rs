//! `lastevent` reads captured HTTP traffic, reconstructs MCP sessions, streams and requests, and reports what went wrong.
//!
//! # A tour
//!
//! Bytes become findings in five steps, each in a folder of its own, each knowing only those above it:
//!
//! 1. [`wire`]: pure parsers, from bytes to borrowed values: event streams ([`wire::sse`]), JSON without trees
//!    ([`wire::json`]), the splitting of HAR ([`wire::har_split`]), HTTP, TCP, content codings. No I/O.
//! 2. [`capture`]: one reader a format, found by content ([`capture::sniff`]) in files, folders and archives
//!    ([`capture::walk`], [`capture::container`]). A reader knows how its recorder lies; what it hands over,
//!    [`capture::RawExchange`], is the same for all, and is reduced to facts in one place ([`capture::digest`]).
//! 3. [`model`]: those facts. An [`model::Exchange`] is one HTTP exchange without its payloads; session ids and cursors
//!    are keyed hashes from here on ([`redact`]). A body that was not recorded is [`model::Body::NotCaptured`], which is
//!    never [`model::Body::Empty`].
//! 4. [`reconstruct`]: all exchanges of a run to sessions, their requests, streams and resumptions; recordings of the
//!    same traffic are folded, cursors are resolved to streams.
//! 5. [`rules`]: questions asked of sessions, one file and one page each; [`guard`] is the resumption guard that they
//!    appeal to. [`audit`] settles which finding is a consequence of which, groups them into incidents and makes the
//!    report, [`report`] prints it, [`cli`] is the program.
//!
//! [`evidence::Locus`] ties every fact to its place in the capture, all the way.
//!
//! # From bytes to findings
//!
//! A client resumes a request that was answered, and gets the answer again:
//!
//! ```
//! use lastevent::{audit, capture::{digest::Names, transcript, Context, Limits}, reconstruct, redact::Key, rules};
//! use std::sync::atomic::AtomicU64;
//!
//! let text = r#"@ 2026-01-01T00:00:00Z
//! > POST /mcp
//! > mcp-session-id: s1
//! >
//! {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow"}}
//! < 200 +5ms
//! < content-type: text/event-stream
//! <
//! id: a1
//! data: {"jsonrpc":"2.0","id":2,"result":{}}
//!
//! = clean
//! @ +1s
//! > GET /mcp
//! > mcp-session-id: s1
//! > last-event-id: a1
//! < 200 +5ms
//! < content-type: text/event-stream
//! <
//! id: a1
//! data: {"jsonrpc":"2.0","id":2,"result":{}}
//!
//! = clean
//! "#;
//! let (key, names, consumed) = (Key::new(None, false), Names::default(), AtomicU64::new(0));
//! let context = Context { key: &key, limits: Limits::default(), names: &names, consumed: &consumed, vantage: None };
//! let facts = transcript::read(&context, &mut text.as_bytes())?;
//! let capture = reconstruct::capture(facts.exchanges);
//! let found = audit::settle(&capture, rules::check(&capture, &rules::Thresholds::default()));
//! let rules: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
//! assert!(rules.contains(&"resume-after-terminal") && rules.contains(&"duplicate-terminal"));
//! # Ok::<(), lastevent::capture::ReadError>(())
//! ```

pub mod audit;
pub mod capture;
pub mod cli;
pub mod evidence;
pub mod guard;
pub mod model;
pub mod reconstruct;
pub mod redact;
pub mod report;
pub mod rules;
pub mod wire;
