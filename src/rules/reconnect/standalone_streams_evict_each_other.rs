//! standalone-streams-evict-each-other: each new standalone stream of a session ends the one before, and all come back.

use crate::{
    evidence::Locus,
    model::{End, Exchange, Method, OpenedBy, Side, Time, Vantage},
    reconstruct::is_open_stream,
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold, case::SECOND},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "standalone-streams-evict-each-other",
    family: Family::Reconnect,
    summary: "two standalone streams of one session end each other again and again",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["reconnect-storm"],
    thresholds: &[
        Threshold { name: "rounds", default: 3.0, about: "evictions in a row" },
        Threshold { name: "window", default: 60.0, about: "seconds within which the next one must follow" },
        Threshold { name: "reaction", default: 1.0, about: "seconds after a new stream in which the old one must end" },
    ],
    remedy: "servers: allow several standalone streams, or refuse the second with 409; clients: one standalone stream per session",
    page: include_str!("standalone_streams_evict_each_other.md"),
    check: Check::Session(check),
};

/// One standalone connection.
struct Connection {
    exchange: u32,
    stream: Option<u32>,
    sent: Time,
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    let connections = connections(case);
    let least = (case.thresholds.get(&RULE, "rounds") as usize).max(2);
    let window = (case.thresholds.get(&RULE, "window") * SECOND as f64) as i64;
    let reaction = (case.thresholds.get(&RULE, "reaction") * SECOND as f64) as i64;
    // The connections of an unbroken row of evictions.
    let mut row: Vec<&Connection> = Vec::new();
    for pair in connections.windows(2) {
        let goes_on = evicts(case, &pair[0], &pair[1], reaction) && pair[1].sent.since(pair[0].sent) <= window;
        if !goes_on {
            if row.len() > least {
                found.push(report(case, &row));
            }
            row.clear();
            continue;
        }
        if row.is_empty() {
            row.push(&pair[0]);
        }
        row.push(&pair[1]);
    }
    if row.len() > least {
        found.push(report(case, &row));
    }
}

/// The standalone streams that were opened or resumed, in order.
fn connections(case: &Case<'_>) -> Vec<Connection> {
    let mut resumptions = case.session.resumptions.iter().peekable();
    let mut connections = Vec::new();
    for &index in &case.session.exchanges {
        let exchange = case.exchange(index);
        let resumption = resumptions.next_if(|r| r.exchange == index);
        let Some(sent) = exchange.sent.filter(|_| exchange.method == Method::Get && is_open_stream(exchange)) else {
            continue;
        };
        match resumption.map(|r| case.meant(r)) {
            None => connections.push(Connection { exchange: index, stream: None, sent }),
            Some(Some((stream, facts))) if facts.opened_by == OpenedBy::Get => {
                connections.push(Connection { exchange: index, stream: Some(stream), sent });
            }
            Some(_) => {}
        }
    }
    let first: foldhash::HashMap<u32, u32> =
        case.session.streams.iter().enumerate().fold(foldhash::HashMap::default(), |mut first, (number, stream)| {
            first.extend(stream.legs.first().map(|leg| (leg.exchange, number as u32)));
            first
        });
    for connection in &mut connections {
        connection.stream = connection.stream.or(first.get(&connection.exchange).copied());
    }
    connections
}

/// The earlier one was open when the later one came, and the server ended it right then.
fn evicts(case: &Case<'_>, earlier: &Connection, later: &Connection, reaction: i64) -> bool {
    let old: &Exchange = case.exchange(earlier.exchange);
    let by_server = !matches!(old.end, End::Open | End::Abrupt(Side::Client)) && !old.coarse_times;
    // A resume takes the place of its own half-open predecessor, as it should.
    let own = earlier.stream.is_some() && earlier.stream == later.stream;
    let after = old.ended.map(|ended| ended.since(later.sent));
    by_server && !own && after.is_some_and(|after| (1..=reaction).contains(&after))
}

fn report(case: &Case<'_>, row: &[&Connection]) -> Finding {
    let (first, last) = (row[0], row[row.len() - 1]);
    let span = last.sent.since(first.sent) as f64 / SECOND as f64;
    let message = format!(
        "{} standalone streams of one session, each ended by the next, within {span:.1} s: the server keeps one, and both sides come back",
        row.len()
    );
    let finding = case
        .finding(&RULE, Party::Server, message, Locus::request(row[1].exchange), "a new standalone stream")
        .and(Locus::response(first.exchange), "the earlier stream, which ended when the new one came")
        .and(Locus::request(row[2].exchange), "and back again: the next one ended that")
        .and(Locus::request(last.exchange), "the last of them")
        .counting(row.len() - 1, row.iter().map(|c| c.exchange));
    let seen = row.iter().all(|c| case.exchange(c.exchange).vantage == Vantage::Client);
    if seen {
        finding
    } else {
        finding.assuming(Certainty::Likely, "the streams that were ended were alive at the client's end")
    }
}
