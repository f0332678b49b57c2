//! What happened, one line an event, in order of time.

use super::Look;
use crate::{
    audit::{facts, places, pseudonym},
    evidence::{Locus, Part},
    model::{Session, Time},
    reconstruct::Capture,
    redact::{Shortener, escape},
};

/// One line: when, in which exchange, and what.
struct Line {
    time: Option<Time>,
    at: Locus,
    arrow: &'static str,
    text: String,
}

/// The sessions of all captures that `wanted` chooses by their pseudonym and endpoint, one after the other.
pub fn render(captures: &[Capture], files: &[String], wanted: impl Fn(&str, &str) -> bool, look: &Look) -> String {
    let mut out = String::new();
    let several = files.len() > 1;
    for (capture, session) in captures.iter().flat_map(|c| c.sessions.iter().map(move |s| (c, s))) {
        let name = pseudonym(session);
        if !wanted(&name, &session.endpoint) {
            continue;
        }
        let lines = lines(capture, session, look);
        let mut short = Shortener::default();
        short.learn(&name);
        lines.iter().for_each(|line| short.learn(&line.text));
        let clean = |text: &str| escape::terminal(&short.shorten(text)).into_owned();
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&clean(&format!("session {name} at {}, {}", session.endpoint, session.era.as_str())));
        out.push('\n');
        for line in &lines {
            out.push_str(&clean(&written(capture, files, several, line)));
            out.push('\n');
        }
    }
    if out.is_empty() { "no session\n".to_owned() } else { out }
}

fn written(capture: &Capture, files: &[String], several: bool, line: &Line) -> String {
    let time = line.time.map_or_else(|| format!("{:<27}", "-"), micros);
    let exchange = &capture.exchanges[line.at.exchange as usize];
    let file = if several { format!("{} ", places::file(files, exchange)) } else { String::new() };
    let event = line.at.event.map(|e| format!(".{e}")).unwrap_or_default();
    format!("{time} {file}{:<9} {} {}", format!("#{}{event}", exchange.at.entry), line.arrow, line.text)
}

/// The moment to the microsecond, always as wide.
fn micros(time: Time) -> String {
    jiff::Timestamp::from_microsecond(time.0).map_or_else(|_| time.to_string(), |t| format!("{t:.6}"))
}

fn lines(capture: &Capture, session: &Session, look: &Look) -> Vec<Line> {
    let mut lines = Vec::new();
    for index in &session.exchanges {
        of(&mut lines, capture, session, *index, look);
    }
    // What has no time stays behind what was recorded before it.
    let mut held = None;
    let mut keyed: Vec<_> = Vec::with_capacity(lines.len());
    for line in lines {
        held = line.time.or(held);
        keyed.push((held, line));
    }
    keyed.sort_by_key(|(time, _)| *time);
    keyed.into_iter().map(|(_, line)| line).collect()
}

fn of(lines: &mut Vec<Line>, capture: &Capture, session: &Session, index: u32, look: &Look) {
    let Some(exchange) = capture.exchanges.get(index as usize) else { return };
    let mut push = |time, at: Locus, arrow, text| lines.push(Line { time, at, arrow, text });
    // The session stands above its lines.
    let known = |fact: &String| fact.starts_with("mcp-session-id: ");
    let joined = |at| facts::of(exchange, at).into_iter().filter(|f| !known(f)).collect::<Vec<_>>().join("; ");
    let request = Locus::request(index);
    let address = format!(" {}", exchange.endpoint);
    let home = exchange.endpoint == session.endpoint;
    let sent = joined(request);
    push(exchange.sent, request, "-->", if home { sent.replacen(&address, "", 1) } else { sent });
    let head = Locus { exchange: index, part: Part::Response, event: None };
    push(exchange.head.or(exchange.ended), head, "<--", joined(head));
    let Some(log) = places::log(exchange) else { return };
    let tail = usize::from(log.tail.is_some());
    for event in (0..log.events.len() + tail).filter_map(|i| u32::try_from(i).ok()) {
        let at = Locus::event(index, event);
        let text = joined(at);
        if look.verbose || !matches!(text.as_str(), ": comment" | "(no field)") {
            push(places::time(capture, at), at, " <-", text);
        }
    }
    if let Some(ended) = exchange.ended {
        push(Some(ended), head, " --", facts::end(exchange.end).to_owned());
    }
}
