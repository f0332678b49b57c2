//! Sessions as a table; one session with its streams, requests and resumptions.

use super::{Leg, Place, Request, Resumption, Session, Sessions, Stream};
use crate::{
    redact::{Shortener, escape},
    report::{Look, caveats, plural, table},
};
use serde::Serialize;

/// One row a session; `in_full`, the tables of each.
pub fn render(document: &Sessions, in_full: bool, look: &Look) -> String {
    let mut short = Shortener::default();
    for session in &document.sessions {
        learn(&mut short, session);
    }
    let cell = |text: &str| escape::terminal(&short.shorten(text)).into_owned();
    let header = ["session", "endpoint", "transport", "era", "client", "started", "end", "streams", "requests"];
    let mut sessions = table::new(look, &[&header[..], &["resumptions"]].concat());
    for s in &document.sessions {
        let client = s.client.as_ref().map_or_else(|| "-".to_owned(), |c| format!("{} {}", c.name, c.version));
        let started = s.started.map_or_else(|| "-".to_owned(), |t| t.to_string());
        sessions.add_row([
            cell(s.session_id.as_ref().unwrap_or(&s.session)),
            cell(&s.endpoint),
            word(&s.transport),
            word(&s.era),
            cell(&client),
            started,
            word(&s.end),
            s.streams.len().to_string(),
            s.requests.len().to_string(),
            verdicts(&s.resumptions),
        ]);
    }
    let mut out = if document.sessions.is_empty() { "no session\n".to_owned() } else { format!("{sessions}\n") };
    for session in document.sessions.iter().filter(|_| in_full) {
        out.push_str(&format!("\nsession {}\n", cell(session.session_id.as_ref().unwrap_or(&session.session))));
        streams(&mut out, &session.streams, &cell, look);
        requests(&mut out, &session.requests, &cell, look);
        resumptions(&mut out, &session.resumptions, &cell, look);
    }
    let caveats = caveats::render(&document.caveats, look);
    if !caveats.is_empty() {
        out.push('\n');
    }
    for line in caveats.lines() {
        out.push_str(&cell(line));
        out.push('\n');
    }
    out
}

fn streams(out: &mut String, streams: &[Stream], cell: &impl Fn(&str) -> String, look: &Look) {
    let header =
        ["stream", "opened by", "for requests", "leg", "cursor", "status", "events", "messages", "body", "end"];
    let mut table = table::new(look, &header);
    for stream in streams {
        for (i, leg) in stream.legs.iter().enumerate() {
            let first = |text: String| if i == 0 { text } else { String::new() };
            table.add_row([
                first(cell(&stream.stream)),
                first(word(&stream.opened_by)),
                first(cell(&stream.requests.join(", "))),
                cell(&at(&leg.file, leg.entry, None)),
                cell(leg.cursor.as_deref().unwrap_or("-")),
                status(leg.status),
                leg.events.to_string(),
                leg.messages.to_string(),
                word(&leg.body),
                word(&leg.end),
            ]);
        }
    }
    finish(out, &table, "stream", streams.len());
}

fn requests(out: &mut String, requests: &[Request], cell: &impl Fn(&str) -> String, look: &Look) {
    let mut table = table::new(look, &["request", "from", "method", "name", "state", "sent", "answers", "answered"]);
    for request in requests {
        let place = |p: &Place| at(&p.file, p.entry, p.event);
        let again = if request.occurrence > 0 { format!(" (again, {})", request.occurrence) } else { String::new() };
        table.add_row([
            cell(&format!("{}{again}", request.id)),
            word(&request.direction),
            cell(&request.method),
            cell(request.name.as_deref().unwrap_or("-")),
            word(&request.state),
            cell(&place(&request.opened_at)),
            request.terminals.len().to_string(),
            cell(&request.terminals.first().map_or_else(|| "-".to_owned(), |t| place(&t.at))),
        ]);
    }
    finish(out, &table, "request", requests.len());
}

fn resumptions(out: &mut String, all: &[Resumption], cell: &impl Fn(&str) -> String, look: &Look) {
    let header = ["at", "cursor", "stream", "resolved", "status", "replayed", "guard", "outcome", "verdict", "next"];
    let mut table = table::new(look, &header);
    let optional = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    for r in all {
        table.add_row([
            cell(&at(&r.file, r.entry, None)),
            cell(&r.cursor),
            cell(r.stream.as_deref().unwrap_or("-")),
            word(&r.resolved),
            status(r.status),
            r.replayed.to_string(),
            optional(r.guard.as_ref().map(word)),
            optional(r.outcome.as_ref().map(word)),
            word(&r.verdict),
            word(&r.next),
        ]);
    }
    finish(out, &table, "resumption", all.len());
}

fn finish(out: &mut String, table: &comfy_table::Table, what: &str, count: usize) {
    out.push_str(&format!("\n{}\n", plural(count as u64, what)));
    if count > 0 {
        out.push_str(&format!("{table}\n"));
    }
}

/// `24: 20 invalid, 4 open`.
fn verdicts(all: &[Resumption]) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for verdict in all.iter().map(|r| word(&r.verdict)) {
        match counts.iter_mut().find(|(v, _)| *v == verdict) {
            Some((_, n)) => *n += 1,
            None => counts.push((verdict, 1)),
        }
    }
    let named: Vec<_> = counts.iter().map(|(verdict, n)| format!("{n} {verdict}")).collect();
    if named.is_empty() { "0".to_owned() } else { named.join(", ") }
}

fn at(file: &str, entry: u32, event: Option<u32>) -> String {
    event.map_or_else(|| format!("{file}#{entry}"), |event| format!("{file}#{entry}.{event}"))
}

fn status(status: Option<u16>) -> String {
    status.map_or_else(|| "-".to_owned(), |s| s.to_string())
}

/// A word of the schema, as JSON has it.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

fn learn(short: &mut Shortener, session: &Session) {
    short.learn(&session.session);
    short.learn(&session.endpoint);
    let cursors = session.streams.iter().flat_map(|s| &s.legs).filter_map(|l: &Leg| l.cursor.as_ref());
    cursors.chain(session.resumptions.iter().map(|r| &r.cursor)).for_each(|c| short.learn(c));
    session.requests.iter().for_each(|r| short.learn(&r.id));
}
