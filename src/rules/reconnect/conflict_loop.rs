//! conflict-loop: a client that lost its stream is told again and again that the stream is still connected.

use crate::{
    evidence::Locus,
    model::{EventId, Exchange, LegEnd, Method, OpenedBy, Resumption, SessionEnd, Stream, Time},
    reconstruct::is_open_stream,
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold, answer},
};
use foldhash::HashMap;
use std::collections::BTreeMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "conflict-loop",
    family: Family::Reconnect,
    summary: "a stream that the client has lost still counts as connected at the server",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["reconnect-storm"],
    thresholds: &[Threshold { name: "conflicts", default: 2.0, about: "refusals in a row for one stream" }],
    remedy: "servers: let the newest connection win, and write keep-alives so that a dead one shows; clients: keep the session, back off, try again",
    page: include_str!("conflict_loop.md"),
    check: Check::Session(check),
};

/// The connections of a stream up to some exchange: whether one of them may still be open.
#[derive(Default)]
struct Connections {
    seen: usize,
    until: Option<Time>,
    unknown: bool,
    any: bool,
}

impl Connections {
    /// Takes notice of the connections before an exchange.
    fn advance(&mut self, stream: &Stream, exchange: u32) {
        while let Some(leg) = stream.legs.get(self.seen).filter(|leg| leg.exchange < exchange) {
            self.seen += 1;
            if leg.status.is_some_and(|s| (200..300).contains(&s)) {
                self.unknown |= leg.end == LegEnd::Open || leg.ended.is_none();
                self.until = self.until.max(leg.ended);
            }
        }
    }

    /// Takes notice of one connection.
    fn add(&mut self, exchange: &Exchange) {
        self.any = true;
        self.unknown |= exchange.ended.is_none();
        self.until = self.until.max(exchange.ended);
    }

    /// There was one, and the capture shows that none was left.
    fn are_over(&self, at: Option<Time>) -> bool {
        !self.unknown && self.until.zip(at).is_some_and(|(until, at)| until <= at)
    }
}

fn is_conflict(exchange: &Exchange) -> bool {
    match exchange.status {
        Some(409) => true,
        Some(400) => answer::says_busy(exchange),
        _ => false,
    }
}

/// Refusals in a row, of one cursor or without any.
struct Run<'c> {
    cursor: Option<EventId>,
    resumption: Option<&'c Resumption>,
    gets: Vec<u32>,
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || !case.session.exchanges.iter().any(|x| is_get_conflict(case, *x)) {
        return;
    }
    let least = (case.thresholds.get(&RULE, "conflicts") as usize).max(2);
    let runs: Vec<Run<'_>> = runs(case).into_iter().filter(|run| run.gets.len() >= least).collect();
    let last = runs.iter().filter_map(|run| run.gets.last().copied()).max();
    let lost = last.and_then(|last| discarded(case, last));
    for run in runs {
        let lost = lost.filter(|_| run.gets.last().copied() == last);
        found.push(report(case, &run, lost));
    }
}

fn is_get_conflict(case: &Case<'_>, exchange: u32) -> bool {
    let exchange = case.exchange(exchange);
    exchange.method == Method::Get && is_conflict(exchange)
}

fn runs<'c>(case: &Case<'c>) -> Vec<Run<'c>> {
    let mut open: BTreeMap<Option<EventId>, Run<'c>> = BTreeMap::new();
    let mut runs = Vec::new();
    let mut streams: HashMap<u32, Connections> = HashMap::default();
    let (mut standalone, mut all) = (Connections::default(), Connections::default());
    let mut resumptions = case.session.resumptions.iter().peekable();
    for &index in &case.session.exchanges {
        let exchange = case.exchange(index);
        let resumption = resumptions.next_if(|r| r.exchange == index);
        if is_open_stream(exchange) {
            all.add(exchange);
        }
        if exchange.method != Method::Get {
            continue;
        }
        let cursor = exchange.cursor.as_ref().map(|c| c.id);
        if !is_conflict(exchange) {
            runs.extend(open.remove(&cursor));
            let meant = resumption.and_then(|r| case.meant(r));
            let is_standalone = cursor.is_none() || meant.is_some_and(|(_, s)| s.opened_by == OpenedBy::Get);
            if is_standalone && is_open_stream(exchange) {
                standalone.add(exchange);
            }
            continue;
        }
        let over = match resumption {
            None => standalone.are_over(exchange.sent),
            Some(resumption) => match case.meant(resumption) {
                Some((number, stream)) => {
                    let connections = streams.entry(number).or_default();
                    connections.advance(stream, index);
                    connections.are_over(exchange.sent)
                }
                // A stream that is not known may be any of those that are open.
                None => all.are_over(exchange.sent) || !all.any,
            },
        };
        if over {
            let run = open.entry(cursor).or_insert_with(|| Run { cursor, resumption, gets: Vec::new() });
            run.gets.push(index);
        }
    }
    runs.extend(open.into_values());
    runs.sort_by_key(|run| run.gets.first().copied());
    runs
}

/// The client gave the session up afterwards, with a request in flight: where, and which.
fn discarded(case: &Case<'_>, last: u32) -> Option<(u32, u32)> {
    let given_up = matches!(case.session.end, SessionEnd::Deleted | SessionEnd::Superseded);
    let by = case.session.ended_by.filter(|by| given_up && *by > last)?;
    Some((by, case.first_open(by)?))
}

fn report(case: &Case<'_>, run: &Run<'_>, lost: Option<(u32, u32)>) -> Finding {
    let (first, last) = (run.gets[0], run.gets[run.gets.len() - 1]);
    let stream = run.resumption.and_then(|r| case.meant(r));
    let in_flight = stream.and_then(|(_, s)| case.open_request(s, first));
    let what = if run.cursor.is_some() { "to resume a stream" } else { "to reopen the standalone stream" };
    let status = case.exchange(first).status.unwrap_or_default();
    let ending = if lost.is_some() { "; then it gave the session up, with requests in flight" } else { "" };
    let message = format!(
        "{} GETs in a row {what} were answered {status}: the server holds the lost connection for alive{ending}",
        run.gets.len()
    );
    let proxy = case.capture.is_from_gateway(case.exchange(first));
    let mut finding = case
        .finding(
            &RULE,
            if proxy { Party::Proxy } else { Party::Server },
            message,
            Locus::response(first),
            "the first of these refusals",
        )
        .and(Locus::response(last), "the last of these refusals")
        .of_request(in_flight.or(lost.map(|(_, request)| request)))
        .of_stream(stream.map(|(number, _)| number))
        .with_cursor(run.cursor)
        .counting(run.gets.len(), run.gets.iter().copied());
    if let Some((by, request)) = lost {
        finding = finding
            .severity(Severity::Error)
            .and(Locus::request(by), "the session was given up")
            .and(Locus::request(case.request(request).at.exchange), "a request that was in flight then");
    }
    if run.cursor.is_some() {
        finding
    } else {
        finding.assuming(Certainty::Likely, "no second client of this session holds the stream")
    }
}
