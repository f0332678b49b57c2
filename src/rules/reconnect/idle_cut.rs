//! idle-cut: streams of an endpoint break off at the same age, or after the same silence, again and again.

use crate::{
    evidence::Locus,
    model::{End, Exchange, Message, Method, Side},
    reconstruct::{Capture, answers, clock, is_open_stream},
    rules::{
        Certainty, Check, EVERY, Evidence, Family, Finding, Party, Rule, Severity, Threshold, Thresholds, case::SECOND,
    },
};
use std::collections::BTreeMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "idle-cut",
    family: Family::Reconnect,
    summary: "streams are cut at a constant age or after a constant silence: a timeout between client and server",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &["reconnect-storm"],
    thresholds: &[
        Threshold { name: "cuts", default: 3.0, about: "connections that were cut alike" },
        Threshold { name: "spread", default: 0.05, about: "share by which their ages may differ from the middle" },
        Threshold { name: "least", default: 5.0, about: "seconds that a connection must have lived to count" },
    ],
    remedy: "servers: write a comment as keep-alive more often than that; proxies: a longer read timeout and no buffering",
    page: include_str!("idle_cut.md"),
    check: Check::Endpoint(check),
};

/// A connection that broke off: how old it was, and how long it had been silent, in microseconds.
#[derive(Clone, Copy)]
struct Cut {
    exchange: u32,
    ended: i64,
    age: i64,
    silence: i64,
    by_client: bool,
}

fn check(capture: &Capture, thresholds: &Thresholds, found: &mut Vec<Finding>) {
    let least = (thresholds.get(&RULE, "least") * SECOND as f64) as i64;
    let cuts = (thresholds.get(&RULE, "cuts") as usize).max(2);
    let spread = thresholds.get(&RULE, "spread").min(0.5);
    let mut by_endpoint: BTreeMap<&str, Vec<Cut>> = BTreeMap::new();
    for (index, exchange) in capture.exchanges.iter().enumerate() {
        if let Some(cut) = cut(exchange, index as u32).filter(|cut| cut.age >= least) {
            by_endpoint.entry(&exchange.endpoint).or_default().push(cut);
        }
    }
    for all in by_endpoint.into_values().filter(|all| all.len() >= cuts) {
        let by_age = cluster(&all, spread, |cut| cut.age);
        let by_silence = cluster(&all, spread, |cut| cut.silence);
        let silent = by_silence.len() > by_age.len();
        let alike = if silent { by_silence } else { by_age };
        // One failure that cuts many connections at once is one cut; and ages that are merely many come close by chance.
        if moments(&alike) >= cuts && alike.len() * 2 >= all.len() {
            found.push(report(capture, &alike, silent));
        }
    }
}

/// An event stream that broke off without having brought an answer.
fn cut(exchange: &Exchange, index: u32) -> Option<Cut> {
    let End::Abrupt(side) = exchange.end else { return None };
    let streams = matches!(exchange.method, Method::Get | Method::Post) && is_open_stream(exchange);
    if !streams || exchange.coarse_times || answers(exchange).any(Message::is_reply) {
        return None;
    }
    let (start, ended) = (exchange.head.or(exchange.sent)?, exchange.ended?);
    let age = ended.since(start);
    let log = clock::log(exchange);
    let last = log.and_then(|l| l.times.last().copied());
    // Where blocks have no times nothing is known of the silence, unless there were none.
    let silence = match (last, log.is_none_or(|l| l.events.is_empty())) {
        (Some(last), _) => ended.since(last),
        (None, true) => age,
        (None, false) => 0,
    };
    Some(Cut { exchange: index, ended: ended.0, age, silence, by_client: side == Side::Client })
}

/// The most connections whose values lie within the spread of a middle; values below a second are no timeout.
fn cluster(all: &[Cut], spread: f64, value: fn(&Cut) -> i64) -> Vec<Cut> {
    let mut sorted: Vec<Cut> = all.iter().copied().filter(|cut| value(cut) >= SECOND).collect();
    sorted.sort_by_key(|cut| (value(cut), cut.exchange));
    let widest = (1.0 + spread) / (1.0 - spread);
    let (mut from, mut best) = (0, 0..0);
    for to in 0..sorted.len() {
        while value(&sorted[to]) as f64 > value(&sorted[from]) as f64 * widest {
            from += 1;
        }
        if to + 1 - from > best.len() {
            best = from..to + 1;
        }
    }
    let mut alike = sorted[best].to_vec();
    alike.sort_by_key(|cut| cut.exchange);
    alike
}

/// At how many moments, a second and more apart, these connections ended.
fn moments(cuts: &[Cut]) -> usize {
    let mut ends: Vec<i64> = cuts.iter().map(|cut| cut.ended).collect();
    ends.sort_unstable();
    let mut last = None;
    let mut count = 0;
    for end in ends {
        if last.is_none_or(|last| end.saturating_sub(last) >= SECOND) {
            count += 1;
            last = Some(end);
        }
    }
    count
}

fn report(capture: &Capture, cuts: &[Cut], silent: bool) -> Finding {
    let (first, last) = (&cuts[0], &cuts[cuts.len() - 1]);
    let values = cuts.iter().map(|cut| if silent { cut.silence } else { cut.age } as f64);
    let middle = values.sum::<f64>() / cuts.len() as f64 / SECOND as f64;
    let by_client = cuts.iter().all(|cut| cut.by_client);
    let when = if silent { format!("after {middle:.0} s of silence") } else { format!("at an age of {middle:.0} s") };
    let who = if by_client { "from the client's side" } else { "without a proper end" };
    let message = format!("{} streams of this endpoint broke off {when}, {who}: a timeout", cuts.len());
    let at = |cut: &Cut| Locus::response(cut.exchange);
    let what = Evidence { at: at(first), what: "the first connection that was cut".into() };
    let sessions: Vec<u32> = cuts.iter().map(|cut| capture.homes[cut.exchange as usize]).collect();
    let finding = Finding::new(&RULE, if by_client { Party::Client } else { Party::Proxy }, message, what)
        .and(at(&cuts[1]), "the second")
        .and(at(last), "the last")
        .kind(if silent { "silence" } else { "age" })
        .counting(cuts.len(), cuts.iter().map(|cut| cut.exchange));
    let finding = if sessions.windows(2).all(|w| w[0] == w[1]) { finding.in_session(sessions[0]) } else { finding };
    if by_client {
        finding.assuming(Certainty::Likely, "the client's own timeout ended them").remedy(
            "clients: no timeout on a stream that may be silent for long; servers: write a comment as keep-alive more often than that",
        )
    } else {
        finding.assuming(Certainty::Likely, "something between client and server ended them, and not the server itself")
    }
}
