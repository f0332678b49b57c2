//! Rows: one normalised exchange a line (schema `exchange/1`), as `extract` writes them and `check` reads them again.
//!
//! A row begins with its key, so that sorting lines as bytes groups sessions and orders exchanges:
//! `{"k":"<session>:<microseconds>:<source>:<ordinal>", …}`. What follows is the file's name and format, and the
//! serialised [`Exchange`]: facts, digests and pseudonyms, no payloads.

use super::{CaveatCount, FileFacts, Limits, ReadError};
use crate::model::{Exchange, Vantage};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, BufRead, Read as _, Write},
};

/// Names of caveats that a row may hand over; readers know no others.
const CAVEATS: &[&str] = &[
    "begins-mid-session",
    "body-not-captured",
    "body-truncated",
    "clock-anomaly",
    "conflicting-retransmission",
    "duplicate-viewpoint",
    "entry-unreadable",
    "h2-unsupported",
    "headers-redacted",
    "input-truncated",
    "limit-reached",
    "link-unread",
    "newer-format",
    "no-or-coarse-time",
    "not-a-capture",
    "placeholder-ids",
    "tcp-hole",
    "tls-opaque",
    "trailing-bytes",
    "undecodable-entry",
    "undispatched-tail",
];

/// What rows say of the file that an exchange came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Its name.
    pub file: String,
    /// Its format.
    pub format: Option<String>,
    /// The recorder, as the file names it.
    pub recorder: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    k: Cow<'a, str>,
    #[serde(borrow)]
    file: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    format: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    recorder: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    caveats: BTreeMap<String, CaveatCount>,
}

/// How many rows are made at a time by one thread, and how many such pieces are in memory for each thread.
const ROWS: usize = 256;
const PIECES: usize = 4;

/// Writes the exchanges of one file as rows, made on all threads.
///
/// `source` is the keyed hash of the file. The first row of a file hands over its caveats.
///
/// # Errors
/// Where the rows cannot be written.
pub fn write(
    out: &mut dyn Write,
    origin: &Origin,
    source: u64,
    caveats: &BTreeMap<&'static str, CaveatCount>,
    exchanges: &[Exchange],
) -> io::Result<()> {
    // Without a time of its own an exchange is ordered by the one before.
    let mut before = 0;
    let times: Vec<i64> = exchanges
        .iter()
        .map(|exchange| {
            before = exchange.sent.map_or(before, |t| t.0.max(0));
            before
        })
        .collect();
    let mut handed = caveats.iter().map(|(name, caveat)| ((*name).to_owned(), caveat.clone())).collect();
    let at_once = ROWS * PIECES * rayon::current_num_threads();
    for (exchanges, times) in exchanges.chunks(at_once).zip(times.chunks(at_once)) {
        let first = std::mem::take(&mut handed);
        let pieces = exchanges.par_chunks(ROWS).zip(times.par_chunks(ROWS)).enumerate();
        let texts: Result<Vec<String>, serde_json::Error> = pieces
            .map(|(i, (exchanges, times))| rows(origin, source, if i == 0 { &first } else { &NONE }, exchanges, times))
            .collect();
        for text in texts? {
            out.write_all(text.as_bytes())?;
        }
    }
    Ok(())
}

/// No caveats.
static NONE: BTreeMap<String, CaveatCount> = BTreeMap::new();

fn rows(
    origin: &Origin,
    source: u64,
    caveats: &BTreeMap<String, CaveatCount>,
    exchanges: &[Exchange],
    times: &[i64],
) -> Result<String, serde_json::Error> {
    let mut out = String::new();
    for (i, (exchange, time)) in exchanges.iter().zip(times).enumerate() {
        let head = Head {
            k: key(exchange, *time, source).into(),
            file: origin.file.as_str().into(),
            format: origin.format.as_deref().map(Into::into),
            recorder: origin.recorder.as_deref().map(Into::into),
            caveats: if i == 0 { caveats.clone() } else { BTreeMap::new() },
        };
        let (head, facts) = (serde_json::to_string(&head)?, serde_json::to_string(exchange)?);
        // Two objects, neither of them empty, become one.
        let row = format!("{},{}", head.strip_suffix('}').unwrap_or(&head), facts.strip_prefix('{').unwrap_or(&facts));
        out.push_str(&crate::redact::escape::json(row));
        out.push('\n');
    }
    Ok(out)
}

fn key(exchange: &Exchange, time: i64, source: u64) -> String {
    let session = exchange.session.as_ref().or(exchange.issued.as_ref()).or(exchange.legacy_session.as_deref());
    format!("{:016x}:{time:020}:{source:016x}:{:08}", session.map_or(0, |s| s.hash), exchange.at.entry)
}

/// Reads rows, sorted or not. One physical input holds exchanges of several files; each comes back with its facts.
///
/// Lines that are no rows are counted as the caveat `undecodable-entry` of the file before them.
///
/// # Errors
/// Where the input cannot be read, or holds no row at all.
pub fn read(limits: &Limits, bytes: &mut dyn BufRead) -> Result<Vec<(Origin, FileFacts)>, ReadError> {
    let mut files: BTreeMap<(u32, String), (Origin, FileFacts)> = BTreeMap::new();
    let (mut line, mut number, mut bad) = (Vec::new(), 0_u64, None::<(u64, u64)>);
    loop {
        line.clear();
        number += 1;
        if (&mut *bytes).take(limits.body).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        if take(&line, &mut files).is_none() {
            bad = Some(bad.map_or((number, 1), |(first, n)| (first, n + 1)));
        }
    }
    if let Some((first, count)) = bad {
        let Some((_, (_, facts))) = files.iter_mut().next() else {
            return Err(ReadError::NotACapture("no line of it is a row of exchange/1".to_owned()));
        };
        facts.caveats("undecodable-entry", count, format!("line {first} of the rows is none and was left out"));
    }
    let mut files: Vec<_> = files.into_values().collect();
    for (source, (_, facts)) in files.iter_mut().enumerate() {
        facts.exchanges.sort_by_key(|e| e.at.entry);
        facts.entries = facts.exchanges.len() as u64;
        facts.vantage = facts.exchanges.first().map_or(Vantage::Unknown, |e| e.vantage);
        for exchange in &mut facts.exchanges {
            exchange.at.source = u32::try_from(source).unwrap_or(u32::MAX);
        }
    }
    Ok(files)
}

fn take(line: &[u8], files: &mut BTreeMap<(u32, String), (Origin, FileFacts)>) -> Option<()> {
    let head: Head<'_> = serde_json::from_slice(line).ok()?;
    let exchange: Exchange = serde_json::from_slice(line).ok()?;
    let source = head.k.split(':').nth(2)?;
    let (origin, facts) = files.entry((exchange.at.source, source.to_owned())).or_insert_with(|| {
        let owned = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned);
        let file = head.file.into_owned();
        (Origin { file, format: owned(head.format), recorder: owned(head.recorder) }, FileFacts::default())
    });
    facts.recorder.clone_from(&origin.recorder);
    for (name, caveat) in head.caveats {
        if let Some(name) = CAVEATS.iter().find(|n| **n == name) {
            facts.caveats(name, caveat.count, caveat.message);
        }
    }
    facts.exchanges.push(exchange);
    Some(())
}
