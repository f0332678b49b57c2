//! buffered-stream: all events of a long stream arrive at once, at its end: something between buffers it.

use crate::{
    evidence::Locus,
    model::{Leg, OpenedBy, RequestState, Stream},
    reconstruct::hops,
    rules::{Case, Certainty, Check, EVERY, Family, Finding, Party, Rule, Severity, Threshold, case::SECOND},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "buffered-stream",
    family: Family::Event,
    summary: "the events of a stream arrive all at once at its end",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &["request-never-answered"],
    thresholds: &[
        Threshold { name: "wait", default: 3.0, about: "seconds that pass before the first of them arrives" },
        Threshold { name: "burst", default: 0.05, about: "share of that time within which they all arrive" },
    ],
    remedy: "proxies: do not buffer event streams (X-Accel-Buffering: no, proxy_buffering off)",
    page: include_str!("buffered_stream.md"),
    check: Check::Session(check),
};

/// How many events must arrive together before that says anything.
const EVENTS: usize = 3;

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    for (number, stream) in case.session.streams.iter().enumerate().filter(|(_, s)| s.opened_by == OpenedBy::Post) {
        for leg in stream.legs.iter().filter(|leg| leg.cursor.is_none()) {
            let held = held_back(case, leg).map(|(_, held)| held);
            let seen = held.is_some() || case.capture.hops.is_prompt(case.exchange(leg.exchange));
            found.extend(match held {
                Some(held) if held >= wait(case) => withheld(case, number as u32, stream, leg),
                _ => judge(case, number as u32, stream, leg).map(|finding| acquit(finding, seen)),
            });
        }
    }
}

/// How long the first event must be under way before that says anything, in microseconds.
fn wait(case: &Case<'_>) -> i64 {
    (case.thresholds.get(&RULE, "wait") * SECOND as f64) as i64
}

/// How much earlier the events were on the server's side, where a recording shows that.
fn held_back(case: &Case<'_>, leg: &Leg) -> Option<(u32, i64)> {
    let exchange = case.exchange(leg.exchange);
    let (other, behind) = case.capture.behind(exchange)?;
    Some((other, hops::held_back(exchange, &behind.exchange)?))
}

/// What came late on the server's side already was not held back behind it.
fn acquit(mut finding: Finding, was_late: bool) -> Finding {
    if was_late {
        finding.party = Party::Server;
        finding.message =
            finding.message.replace("the stream was buffered on its way", "so they were on the server's side");
        finding.assumptions = vec!["nothing stands between the recording on the server's side and the server".into()];
        finding.remedy = Some("servers: write each event when it happens, and flush it".into());
    }
    finding
}

/// Two recordings show the stream before and behind what held it back.
fn withheld(case: &Case<'_>, number: u32, stream: &Stream, leg: &Leg) -> Option<Finding> {
    let (other, held) = held_back(case, leg)?;
    let (_, behind) = case.capture.behind(case.exchange(leg.exchange))?;
    let request = stream.requests.first().copied();
    let message = format!("events were held back for up to {} ms between server and client", held / 1000);
    let finding = case
        .finding(&RULE, Party::Proxy, message, Locus::response(leg.exchange), "the stream on the client's side")
        .and(Locus::response(other), "the same stream on the server's side")
        .kind("held-back")
        .of_request(request)
        .of_stream(number)
        .severity(if died(case, request) { Severity::Error } else { Severity::Warning });
    Some(if behind.one_clock {
        finding
    } else {
        finding.assuming(Certainty::Likely, "the clocks of the two recorders differ by a constant")
    })
}

/// The request was never answered.
fn died(case: &Case<'_>, request: Option<u32>) -> bool {
    request.is_some_and(|r| matches!(case.request(r).state, RequestState::Open | RequestState::Cancelled))
}

fn judge(case: &Case<'_>, number: u32, stream: &Stream, leg: &Leg) -> Option<Finding> {
    let exchange = case.exchange(leg.exchange);
    let log = case.log(leg.exchange).filter(|l| l.message_count() >= EVENTS)?;
    let sent = exchange.sent?;
    let limit = wait(case);
    let share = case.thresholds.get(&RULE, "burst");
    // With times inside the body they decide; else only the time of the head and that of the end are known.
    let timed = !log.times.is_empty();
    let (first, last) = match (log.times.first(), log.times.last()) {
        (Some(first), Some(last)) => (*first, *last),
        _ => (exchange.head?, exchange.ended?),
    };
    let (wait, burst) = (first.since(sent), last.since(first));
    if exchange.coarse_times || wait < limit || burst < 0 || burst as f64 > wait as f64 * share {
        return None;
    }
    let progresses = log.events.iter().filter(|e| e.kind == crate::model::EventKind::Progress).count();
    if progresses + 1 < EVENTS {
        return None;
    }
    let request = stream.requests.first().copied();
    let message = format!(
        "{} events arrived within {} ms, {} ms after the request: the stream was buffered on its way",
        log.events.len(),
        burst / 1000,
        wait / 1000
    );
    let finding = case
        .finding(&RULE, Party::Proxy, message, Locus::response(leg.exchange), "everything at once")
        .and(Locus::request(leg.exchange), "the request")
        .of_request(request)
        .of_stream(number)
        .severity(if died(case, request) { Severity::Error } else { Severity::Warning });
    Some(if timed {
        finding.assuming(Certainty::Likely, "the server wrote its progress when it happened")
    } else {
        let why =
            "the recorder's times of head and end are those of the events, and the recorder itself did not buffer";
        finding.severity(Severity::Note).assuming(Certainty::Possible, why)
    })
}
