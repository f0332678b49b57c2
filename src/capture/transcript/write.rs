//! Writes transcripts: the counterpart of the reader, exchange by exchange.

use super::{
    ENDS, escape,
    head::{self, State},
    is_event_stream, mark, time,
};
use crate::{
    capture::{RawBody, RawExchange},
    model::{End, Time, Vantage},
    redact::escape::is_unsafe,
};
use std::fmt::Write as _;

/// Writes exchanges as a transcript.
pub fn write(vantage: Vantage, recorder: Option<&str>, exchanges: &[RawExchange<'_>]) -> String {
    let mut out = String::new();
    if vantage != Vantage::Unknown {
        let _ = writeln!(out, "# vantage: {vantage}");
    }
    if let Some(recorder) = recorder {
        let _ = writeln!(out, "# recorder: {}", crate::redact::escape::terminal(recorder));
    }
    let mut last_start = None;
    for raw in exchanges {
        if let Some(sent) = raw.sent {
            let _ = writeln!(out, "@ {}", time::write(sent, last_start));
            last_start = Some(sent);
        }
        exchange(&mut out, raw);
    }
    out
}

fn exchange(out: &mut String, raw: &RawExchange<'_>) {
    let _ = writeln!(out, "> {} {}", word(&raw.method), url(&raw.url));
    headers(out, '>', &raw.request_headers);
    let state = state(&raw.request_body);
    if state != State::Whole {
        let _ = writeln!(out, "> = {}", head::words(state));
    }
    if !raw.request_body.bytes().is_empty() {
        out.push_str(">\n");
        body(out, raw.request_body.bytes(), false, &[]);
    }
    let mut clock = raw.sent;
    let answered = raw.status.is_some() || raw.head.is_some() || !raw.response_headers.is_empty();
    let held = !raw.response_body.bytes().is_empty();
    if answered || held || raw.response_body == RawBody::EMPTY {
        let status = raw.status.map_or_else(|| "-".to_owned(), |s| s.to_string());
        let _ = writeln!(out, "< {status}{}", differs(raw.head, clock, clock));
        clock = raw.head.or(clock);
        headers(out, '<', &raw.response_headers);
        if held {
            out.push_str("<\n");
            body(out, raw.response_body.bytes(), is_event_stream(&raw.response_headers), &marks(raw, &mut clock));
        }
    }
    end(out, raw, clock);
}

fn end(out: &mut String, raw: &RawExchange<'_>, clock: Option<Time>) {
    let name = ENDS.iter().find(|(_, end)| *end == raw.end).map_or("unknown", |(name, _)| name);
    let _ = write!(out, "= {name}");
    let words = head::words(state(&raw.response_body));
    if !words.is_empty() {
        let _ = write!(out, " {words}");
    }
    match raw.acknowledged {
        Some(bytes) if bytes == raw.response_body.bytes().len() as u64 => out.push_str(" received"),
        Some(bytes) => {
            let _ = write!(out, " received {bytes}");
        }
        None => {}
    }
    let usual = clock.filter(|_| matches!(raw.end, End::Clean | End::Abrupt(_)));
    let _ = write!(out, "{}\n\n", differs(raw.ended, usual, clock));
}

/// A time where it is not the usual one.
fn differs(at: Option<Time>, usual: Option<Time>, before: Option<Time>) -> String {
    match at {
        _ if at == usual => String::new(),
        None => " -".to_owned(),
        Some(at) => format!(" {}", time::write(at, before)),
    }
}

fn state(body: &RawBody<'_>) -> State {
    match body {
        RawBody::NotCaptured(why) => State::NotCaptured(*why),
        RawBody::Whole(_) => State::Whole,
        RawBody::Cut(_, why) => State::Partial(*why),
    }
}

fn headers(out: &mut String, mark: char, headers: &crate::capture::Headers<'_>) {
    for (name, value) in headers {
        let _ = writeln!(out, "{mark} {}: {}", self::name(name), escape::text(value));
    }
}

/// A header's name: the colon that ends it must be the only one but the first character.
fn name(name: &str) -> String {
    let mut text = String::new();
    for (i, c) in name.chars().enumerate() {
        if c == ' ' || (i == 0 && c == '=') || (i > 0 && c == ':') {
            let _ = write!(text, "\\u{{{:x}}}", u32::from(c));
        } else {
            text.push_str(&escape::text(c.encode_utf8(&mut [0; 4])));
        }
    }
    text
}

fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    text.chars().map(|c| if plain(c) { c.to_string() } else { format!("\\u{{{:x}}}", u32::from(c)) }).collect()
}

/// A URL: one that begins like a path would be read as a path.
fn url(url: &str) -> String {
    match url.strip_prefix('/') {
        Some(rest) => format!("\\u{{2f}}{}", escape::text(rest)),
        None => escape::text(url),
    }
}

/// Where the body is cut by marks: the offset that a mark stands at, and its line.
fn marks(raw: &RawExchange<'_>, clock: &mut Option<Time>) -> Vec<(usize, String)> {
    let length = raw.response_body.bytes().len();
    let (mut lines, mut at) = (Vec::new(), 0);
    for (end, time) in &raw.marks {
        let end = usize::try_from(*end).map_or(length, |end| end.min(length));
        if end > at {
            lines.push((at, format!("@ {}", time::write(*time, *clock))));
            *clock = Some(*time);
            at = end;
        }
    }
    if !lines.is_empty() && at < length {
        lines.push((at, "@ -".to_owned()));
    }
    lines
}

fn body(out: &mut String, bytes: &[u8], streams: bool, marks: &[(usize, String)]) {
    let mut cuts = marks.iter().map(|(at, _)| *at).filter(|at| *at > 0).chain([bytes.len()]);
    let mut lines = marks.iter().map(|(_, line)| line);
    let mut at = 0;
    loop {
        if let Some(line) = lines.next() {
            out.push_str(line);
            out.push('\n');
        }
        let end = cuts.next().unwrap_or(bytes.len());
        let last = end == bytes.len();
        for piece in bytes[at..end].split_inclusive(|b| *b == b'\n') {
            line(out, piece, last && !streams);
        }
        if last && !streams && (bytes[at..end].last() == Some(&b'\n')) {
            // The line end that is no part of the body needs a line of its own.
            out.push('\n');
        }
        if last {
            return;
        }
        at = end;
    }
}

/// One line of a body. `supplied` says that the last line end of the body is the format's own.
fn line(out: &mut String, piece: &[u8], supplied: bool) {
    let (text, ends) = piece.strip_suffix(b"\n").map_or((piece, supplied), |text| (text, true));
    match std::str::from_utf8(text) {
        Ok(plain) if ends && !plain.contains(|c| c != '\t' && is_unsafe(c)) => {
            if plain.starts_with('\\') || mark(text).is_some() {
                out.push('\\');
            }
            out.push_str(plain);
        }
        _ => {
            out.push_str("\\e ");
            out.push_str(&escape::bytes(text));
            if ends {
                out.push_str("\\n");
            }
        }
    }
    out.push('\n');
}
