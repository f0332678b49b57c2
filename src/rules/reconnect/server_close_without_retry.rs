//! server-close-without-retry: the server ends a connection early, invites the client back, and does not say when.

use super::reconnect_storm;
use crate::{
    evidence::Locus,
    model::{EventFact, Leg, LegEnd, OpenedBy, Receipt, Stream},
    reconstruct::hops,
    rules::{Case, Check, Family, Finding, Party, Rule, Severity},
};
use foldhash::HashSet;
use std::collections::BTreeMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "server-close-without-retry",
    family: Family::Reconnect,
    summary: "the server closed the connection of an unfinished stream without sending retry",
    severity: Severity::Note,
    since: "0.1.0",
    eras: &[crate::model::Era::November2025],
    suppresses: &[],
    thresholds: &[],
    remedy: "servers: send retry before closing a connection early",
    page: include_str!("server_close_without_retry.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.era < crate::model::Era::November2025 {
        return;
    }
    let mut closes: BTreeMap<u32, (u32, Vec<u32>)> = BTreeMap::new();
    for (number, stream) in case.session.streams.iter().enumerate() {
        for leg in stream.legs.iter().filter(|leg| stream.opened_by == OpenedBy::Post && is_close(case, leg)) {
            let Some(request) = unfinished(case, stream, leg) else { continue };
            closes.entry(number as u32).or_insert((request, Vec::new())).1.push(leg.exchange);
        }
    }
    if closes.is_empty() {
        return;
    }
    let mut storms = Vec::new();
    reconnect_storm::check(case, &mut storms);
    let stormy: HashSet<u32> = storms.iter().filter_map(|storm| storm.stream).collect();
    for (stream, (request, legs)) in closes {
        found.push(report(case, stream, request, &legs, stormy.contains(&stream)));
    }
}

/// It ended in good order after an id, and without `retry`.
fn is_close(case: &Case<'_>, leg: &Leg) -> bool {
    let exchange = case.exchange(leg.exchange);
    // Where the other side of the connection held more, it was not the server that closed it.
    let cut_between =
        case.capture.behind(exchange).is_some_and(|(_, far)| !hops::missing(exchange, &far.exchange).is_empty());
    let whole = leg.end == LegEnd::Clean && exchange.response.is_whole() && !cut_between;
    let polls = |log: &crate::model::EventLog| {
        log.retries.is_empty() && log.events.iter().any(|e| EventFact::explicit_id(e).is_some())
    };
    whole && case.log(leg.exchange).is_some_and(polls)
}

/// A request of the stream that was neither answered, on any connection, nor cancelled when the connection ended.
fn unfinished(case: &Case<'_>, stream: &Stream, leg: &Leg) -> Option<u32> {
    let ended = leg.ended?;
    // The session's end takes its streams along.
    if case.session.ended_by.is_some_and(|by| case.exchange(by).sent.is_none_or(|sent| sent <= ended)) {
        return None;
    }
    stream.requests.iter().copied().find(|r| {
        let request = case.request(*r);
        let here = |t: &crate::model::Terminal| t.at.exchange == leg.exchange;
        let answered = request
            .terminals
            .iter()
            .any(|t| t.receipt != Receipt::Disproven && (here(t) || t.time.is_none_or(|time| time <= ended)));
        let cancelled = request.cancelled.is_some_and(|(_, time)| time.is_none_or(|time| time <= ended));
        request.refused.is_none() && !answered && !cancelled
    })
}

fn report(case: &Case<'_>, stream: u32, request: u32, legs: &[u32], storm: bool) -> Finding {
    let consequence = if storm { "; the client came back in a storm" } else { "" };
    let message = format!(
        "the server closed the connection for {} before the answer and did not say when to come back{consequence}",
        case.name_of(request)
    );
    let finding = case
        .finding(&RULE, Party::Server, message, Locus::response(legs[0]), "closed after an id, without retry")
        .of_request(request)
        .of_stream(stream)
        .with_cursor(case.stream(stream).legs.iter().find(|l| l.exchange == legs[0]).and_then(|l| case.held_cursor(l)))
        .counting(legs.len(), legs.iter().copied());
    if storm { finding.severity(Severity::Warning) } else { finding }
}
