//! From a locus to a place that a person can open: file, entry, line, bytes, packet, time.

use super::{facts, report::Evidence, stamp::Stamp};
use crate::{
    evidence::{Locus, Part},
    model::{Content, EventLog, Exchange, Time},
    reconstruct::Capture,
};

/// The event log of a response, if it is one.
pub fn log(exchange: &Exchange) -> Option<&EventLog> {
    match exchange.response.content()? {
        Content::Events(log) => Some(log),
        Content::Messages(_) | Content::Other(_) => None,
    }
}

/// The first line and the bytes of an event; the ordinal behind the last one names the undispatched tail.
pub fn extent(log: &EventLog, event: u32) -> Option<(u32, [u32; 2])> {
    if let Some(fact) = log.events.get(event as usize) {
        let range = log.range(event);
        return Some((fact.line, [range.start, range.end]));
    }
    let tail = log.tail.as_ref().filter(|_| event as usize == log.events.len())?;
    Some((tail.line, [tail.start, tail.end]))
}

/// When a fact was there, as well as the capture can say.
pub fn time(capture: &Capture, at: Locus) -> Option<Time> {
    let exchange = capture.witness(at.exchange)?;
    match (at.part, at.event) {
        (Part::Response, Some(event)) if at.exchange as usize >= capture.exchanges.len() => {
            log(exchange).and_then(|log| log.time_of(event)).or(exchange.ended)
        }
        (Part::Request, _) => exchange.sent,
        (Part::Response, None) => exchange.head.or(exchange.ended),
        (Part::Response, Some(event)) => capture.event_time(at.exchange, event),
    }
}

/// The evidence of a report.
pub fn evidence(capture: &Capture, files: &[String], at: Locus, what: &str) -> Option<Evidence> {
    let exchange = capture.witness(at.exchange)?;
    let extent = at.event.and_then(|event| extent(log(exchange)?, event));
    Some(Evidence {
        file: file(files, exchange),
        entry: exchange.at.entry,
        part: at.part,
        event: at.event,
        line: extent.map(|(line, _)| line),
        bytes: extent.map(|(_, bytes)| bytes),
        offset: exchange.at.offset,
        frame: exchange.at.frame,
        tcp_stream: exchange.at.tcp_stream,
        time: time(capture, at).map(Stamp),
        what: what.to_owned(),
        facts: facts::of(exchange, at),
    })
}

/// The name of an exchange's file.
pub fn file(files: &[String], exchange: &Exchange) -> String {
    files.get(exchange.at.source as usize).cloned().unwrap_or_else(|| "?".to_owned())
}
