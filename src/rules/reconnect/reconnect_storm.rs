//! reconnect-storm: a client connects again and again, and nothing new ever comes.

use crate::{
    evidence::Locus,
    model::{Content, End, EventId, Exchange, Method},
    reconstruct::clock,
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold, case::SECOND},
};
use foldhash::HashSet;
use std::collections::BTreeMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "reconnect-storm",
    family: Family::Reconnect,
    summary: "a client reconnects over and over without any progress",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[
        Threshold { name: "connects", default: 5.0, about: "connects without progress within the window" },
        Threshold { name: "window", default: 60.0, about: "seconds" },
        Threshold { name: "error", default: 20.0, about: "connects from which it is an error" },
    ],
    remedy: "bound the retries and back off; count an empty replay as a failure; servers: answer 400 or 405 instead of an empty 200",
    page: include_str!("reconnect_storm.md"),
    check: Check::Session(check),
};

/// Connects of one scope: those of one stream, those of one unknown cursor, or those without cursor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scope {
    Bare,
    Stream(u32),
    Cursor(EventId),
}

/// Reports every storm of a session.
pub fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    let mut connects: BTreeMap<Scope, Vec<u32>> = BTreeMap::new();
    let mut resumptions = case.session.resumptions.iter().peekable();
    for &index in &case.session.exchanges {
        let exchange = case.exchange(index);
        let resumption = resumptions.next_if(|r| r.exchange == index);
        if exchange.method != Method::Get {
            continue;
        }
        let scope = match (resumption, &exchange.cursor) {
            (Some(r), _) if r.stream.is_some() => r.stream.map_or(Scope::Bare, Scope::Stream),
            (_, Some(cursor)) => Scope::Cursor(cursor.id),
            _ => Scope::Bare,
        };
        connects.entry(scope).or_default().push(index);
    }
    for (scope, connects) in connects {
        for run in runs(case, scope, &connects) {
            if is_storm(case, &run) {
                found.push(report(case, scope, &run));
            }
        }
    }
}

/// Splits connects into runs without progress. A connection that brought something new ends a run.
fn runs(case: &Case<'_>, scope: Scope, connects: &[u32]) -> Vec<Vec<u32>> {
    let mut seen: HashSet<EventId> = HashSet::default();
    if let Scope::Stream(stream) = scope {
        let before = case.stream(stream).legs.iter().filter(|leg| leg.cursor.is_none());
        for log in before.filter_map(|leg| case.log(leg.exchange)) {
            seen.extend(log.events.iter().filter_map(crate::model::EventFact::explicit_id));
        }
    }
    let mut runs = vec![Vec::new()];
    for (i, &index) in connects.iter().enumerate() {
        let exchange = case.exchange(index);
        let same_again = connects.get(i + 1).is_some_and(|next| {
            let next = &case.exchange(*next).cursor;
            next.is_some() && next.as_ref().map(|c| c.id) == exchange.cursor.as_ref().map(|c| c.id)
        });
        match progress(exchange, &mut seen) {
            Some(false) => runs.last_mut().expect("there is always one").push(index),
            // The same cursor sent again proves that nothing with an id had come.
            None if same_again => runs.last_mut().expect("there is always one").push(index),
            Some(true) | None => runs.push(Vec::new()),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

/// Whether a connection brought a message or an id that was not there before; none where nobody can know.
fn progress(exchange: &Exchange, seen: &mut HashSet<EventId>) -> Option<bool> {
    if exchange.status.is_some_and(|s| s >= 500) || exchange.end == End::Open {
        return Some(true);
    }
    if exchange.status.is_some_and(|s| s >= 300) {
        return Some(false);
    }
    let Some(content) = exchange.response.content() else { return exchange.response.is_whole().then_some(false) };
    let Content::Events(log) = content else { return Some(false) };
    let mut new = false;
    for event in &log.events {
        new |= match event.explicit_id() {
            Some(id) => seen.insert(id),
            None => event.is_message(),
        };
    }
    if new || clock::ended_on_wire(exchange) { Some(new) } else { None }
}

fn is_storm(case: &Case<'_>, run: &[u32]) -> bool {
    let least = (case.thresholds.get(&RULE, "connects") as usize).max(2);
    let window = (case.thresholds.get(&RULE, "window") * SECOND as f64) as i64;
    let times: Vec<_> = run.iter().filter_map(|x| case.exchange(*x).sent).collect();
    times.len() >= least && times.windows(least).any(|w| w[least - 1].since(w[0]) <= window)
}

fn report(case: &Case<'_>, scope: Scope, run: &[u32]) -> Finding {
    let (first, last) = (run[0], run[run.len() - 1]);
    let many = run.len() as f64 >= case.thresholds.get(&RULE, "error");
    let start = case.exchange(first).sent;
    let span = case.exchange(last).sent.zip(start).map_or(0, |(b, a)| b.since(a));
    let each = span as f64 / SECOND as f64 / (run.len() - 1).max(1) as f64;
    let what = match scope {
        Scope::Bare => "without a cursor".to_owned(),
        Scope::Stream(stream) => format!("to stream {}", case.stream(stream).label),
        Scope::Cursor(_) => "with a cursor that the capture does not know".to_owned(),
    };
    let message = format!("{} connects {what}, one every {each:.2} s, and none brought anything new", run.len());
    let stream = if let Scope::Stream(stream) = scope { Some(stream) } else { None };
    let request = stream.and_then(|s| case.open_request(case.stream(s), first));
    let evicted = case.exchange(last).status.is_some_and(|s| matches!(s, 400 | 404 | 410)) && run.len() > 1;
    let finding = case
        .finding(&RULE, Party::Client, message, Locus::request(first), "the first of these connects")
        .and(Locus::request(last), "the last of these connects")
        .of_request(request)
        .of_stream(stream)
        .with_cursor(case.exchange(first).cursor.as_ref().map(|c| c.id))
        .severity(if many || evicted { Severity::Error } else { Severity::Warning })
        .counting(run.len(), run.iter().copied());
    let unseen = run.iter().any(|x| {
        case.exchange(*x).response.content().is_none()
            && !case.exchange(*x).response.is_whole()
            && case.exchange(*x).accepted()
    });
    if unseen {
        finding.assuming(Certainty::Likely, "the same cursor again means that nothing with an id had come")
    } else {
        finding
    }
}
