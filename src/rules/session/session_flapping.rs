//! session-flapping: a session is accepted and refused in turn: it lives on one replica only.

use crate::{
    evidence::Locus,
    model::{Exchange, Method},
    rules::{Case, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold, answer, case::SECOND},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "session-flapping",
    family: Family::Session,
    summary: "one session is accepted, refused and accepted again",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["dead-session-used", "ambiguous-404-on-resume", "session-resurrected"],
    thresholds: &[Threshold {
        name: "window",
        default: 60.0,
        about: "seconds within which accepted, refused and accepted must follow each other",
    }],
    remedy: "route a session to the replica that holds it, or share session state between replicas",
    page: include_str!("session_flapping.md"),
    check: Check::Session(check),
};

/// Whether the session was accepted; none where the exchange says nothing of it.
fn verdict(case: &Case<'_>, exchange: &Exchange) -> Option<bool> {
    if exchange.cursor.is_some() || exchange.session.is_none() || exchange.method == Method::Delete {
        return None;
    }
    match exchange.status? {
        200..300 => Some(true),
        404 if !case.capture.is_from_gateway(exchange) => Some(false),
        400 if answer::speaks_of_unknown_session(exchange) && !answer::says_busy(exchange) => Some(false),
        _ => None,
    }
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.id.is_none() || case.session.placeholder {
        return;
    }
    let said: Vec<(u32, bool)> =
        case.session.exchanges.iter().filter_map(|x| Some((*x, verdict(case, case.exchange(*x))?))).collect();
    let mut turns: Vec<(u32, bool)> = said.clone();
    turns.dedup_by_key(|(_, accepted)| *accepted);
    let window = (case.thresholds.get(&RULE, "window") * SECOND as f64) as i64;
    let time = |x: u32| case.exchange(x).sent;
    let flaps = turns.windows(3).filter(|w| {
        w[0].1 && !w[1].1 && w[2].1 && time(w[2].0).zip(time(w[1].0)).is_none_or(|(b, a)| b.since(a) <= window)
    });
    let flaps: Vec<_> = flaps.collect();
    let Some(first) = flaps.first() else { return };
    let refused: Vec<u32> = said.iter().filter(|(_, accepted)| !accepted).map(|(x, _)| *x).collect();
    let message = format!(
        "the session was accepted, refused {} time(s) and accepted again: it is known to some replicas only",
        refused.len()
    );
    let around = said.iter().map(|(x, _)| *x);
    found.push(
        case.finding(&RULE, Party::Proxy, message, Locus::response(first[1].0), "refused")
            .and(Locus::response(first[0].0), "accepted before")
            .and(Locus::response(first[2].0), "accepted again")
            .counting(flaps.len(), around),
    );
}
