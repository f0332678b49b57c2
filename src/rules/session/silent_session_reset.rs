//! silent-session-reset: the session id is accepted, yet the server has started anew behind it.

use crate::{
    evidence::Locus,
    model::{EventFact, Exchange, OpenedBy, Resolved},
    reconstruct::is_open_stream,
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold},
};
use foldhash::HashMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "silent-session-reset",
    family: Family::Session,
    summary: "a server lost its state and goes on with the same session id",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["event-id-not-unique"],
    thresholds: &[Threshold {
        name: "climbed",
        default: 3.0,
        about: "steps that a counter must have climbed before a restart of it says anything",
    }],
    remedy: "servers: answer 404 for a session whose buffers are gone, so that clients initialize again",
    page: include_str!("silent_session_reset.md"),
    check: Check::Session(check),
};

/// An exchange, and an event of its response.
type Place = (u32, u32);

/// What is known of one counter: its first and highest value, the streams that it ran through, and whether it went on
/// from one to the next.
#[derive(Clone, Copy)]
struct Counter {
    first: u32,
    highest: u32,
    last: (u32, u32),
    continued: bool,
    stream: u32,
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.id.is_none() || case.session.placeholder {
        return;
    }
    if let Some((restart, before, again)) = restart(case) {
        let gap = gap_before(case, before.0, restart.0);
        let lost = case.session.resumptions.iter().find(|r| {
            (before.0 < r.exchange && r.exchange <= restart.0) && r.replayed == 0 && matches!(r.status, Some(200 | 400))
        });
        // Two ids used again are a restart; a single one needs a sign that the server was away.
        if again >= 2 || gap.is_some() || lost.is_some() {
            found.push(report(case, restart, before, gap.or(lost.map(|r| r.exchange))));
            return;
        }
    }
    found.extend(after_outage(case));
}

/// The first event at which a counter starts again at its first value: that event, the highest before, and how many
/// ids are used again on that connection.
fn restart(case: &Case<'_>) -> Option<(Place, Place, usize)> {
    let climbed = case.thresholds.get(&RULE, "climbed") as u32;
    let mut legs: Vec<(u32, u32)> = Vec::new();
    for (number, stream) in case.session.streams.iter().enumerate() {
        legs.extend(stream.legs.iter().map(|leg| (leg.exchange, number as u32)));
    }
    legs.sort_unstable();
    let mut counters: HashMap<u64, Counter> = HashMap::default();
    for (exchange, stream) in legs {
        let Some(log) = case.log(exchange) else { continue };
        let ids = || log.events.iter().filter_map(EventFact::explicit_id);
        for (event, fact) in log.events.iter().enumerate() {
            let (event, Some(id)) = (event as u32, fact.explicit_id()) else { continue };
            let Some(value) = id.counter() else { continue };
            let fresh = Counter { first: value, highest: value, last: (exchange, event), continued: false, stream };
            let counter = counters.entry(id.space).or_insert(fresh);
            let resumed = case.exchange(exchange).cursor.is_some();
            let began_again = value <= counter.first
                && counter.highest >= counter.first + climbed
                && counter.last.0 != exchange
                && (counter.continued || counter.stream == stream && resumed);
            if began_again {
                let again = ids().filter(|i| i.space == id.space && i.counter().is_some_and(|c| c <= counter.highest));
                return Some(((exchange, event), counter.last, again.count()));
            }
            if value > counter.highest {
                counter.continued |= counter.last.0 != exchange && counter.stream != stream;
                (counter.highest, counter.last, counter.stream) = (value, (exchange, event), stream);
            }
        }
    }
    None
}

fn is_outage(exchange: &Exchange) -> bool {
    matches!(exchange.status, Some(502..=504))
        || exchange.status.is_none() && matches!(exchange.end, crate::model::End::Abrupt(_))
}

/// An exchange of the session between two others that shows the server away.
fn gap_before(case: &Case<'_>, from: u32, to: u32) -> Option<u32> {
    let all = &case.session.exchanges;
    let between = all.partition_point(|x| *x <= from)..all.partition_point(|x| *x < to);
    all.get(between)?.iter().copied().find(|x| is_outage(case.exchange(*x)))
}

fn report(case: &Case<'_>, restart: (u32, u32), before: (u32, u32), sign: Option<u32>) -> Finding {
    let message =
        "the event ids of the session start again at their first value, while the session id is still accepted"
            .to_owned();
    let mut finding = case
        .finding(&RULE, Party::Server, message, Locus::event(restart.0, restart.1), "the counter starts again")
        .and(Locus::event(before.0, before.1), "the highest id before");
    if let Some(sign) = sign {
        finding = finding.and(Locus::response(sign), "the server was away, or did not know the cursor any more");
    }
    finding.assuming(Certainty::Likely, "the server does not number each stream from the start by design")
}

/// A cursor that was good is unknown right after an outage, and the session is accepted all the same.
fn after_outage(case: &Case<'_>) -> Option<Finding> {
    case.resumes().find_map(|(resumption, exchange)| {
        let (number, stream) = case.meant(resumption).filter(|(_, s)| s.opened_by == OpenedBy::Post)?;
        let empty = is_open_stream(exchange) && exchange.response.is_whole() && resumption.replayed == 0;
        let request = case.open_request(stream, resumption.exchange)?;
        let before = stream.legs.partition_point(|leg| leg.exchange < resumption.exchange);
        let last = stream.legs.get(before.checked_sub(1)?)?.exchange;
        let gap = gap_before(case, last, resumption.exchange)?;
        let accepted = case.accepted_after(resumption.exchange)?;
        if resumption.resolved != Resolved::Exact || !(empty || exchange.status == Some(400)) {
            return None;
        }
        let message = "after an outage the server accepts the session but no longer knows its cursors".to_owned();
        Some(
            case.finding(
                &RULE,
                Party::Server,
                message,
                Locus::response(resumption.exchange),
                "a good cursor brings nothing",
            )
            .and(Locus::response(gap), "the server was away")
            .and(Locus::response(accepted), "the session is accepted")
            .of_request(request)
            .of_stream(number)
            .with_cursor(resumption.cursor.id)
            .assuming(Certainty::Likely, "the outage cost the server its buffers"),
        )
    })
}
