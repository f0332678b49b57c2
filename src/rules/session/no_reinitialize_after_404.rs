//! no-reinitialize-after-404: the session is gone, and the client neither initializes again nor ends.

use crate::{
    evidence::Locus,
    model::{Direction, Method, RequestState},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold, case::SECOND},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "no-reinitialize-after-404",
    family: Family::Session,
    summary: "a client does not initialize again after its session is gone",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[Threshold {
        name: "wait",
        default: 60.0,
        about: "seconds of capture after the 404 in which nothing of it happens",
    }],
    remedy: "after a 404 to a request with a session id, send initialize without one",
    page: include_str!("no_reinitialize_after_404.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.id.is_none() || case.session.placeholder {
        return;
    }
    let gone = case.session.exchanges.iter().copied().find(|x| {
        let exchange = case.exchange(*x);
        let refused = exchange.status == Some(404) && exchange.session.is_some() && exchange.method != Method::Delete;
        refused && !case.capture.is_from_gateway(exchange)
    });
    let Some(gone) = gone else { return };
    let told = case.exchange(gone).ended.or(case.exchange(gone).head).or(case.exchange(gone).sent);
    let wait = (case.thresholds.get(&RULE, "wait") * SECOND as f64) as i64;
    let long = told.zip(case.capture.ends()).is_some_and(|(told, ends)| ends.since(told) >= wait);
    let ended = case.session.exchanges.iter().any(|x| case.exchange(*x).method == Method::Delete);
    if !long || ended || case.accepted_after(gone).is_some() || case.reinitialized_after(gone).is_some() {
        return;
    }
    let open = case
        .session
        .requests
        .iter()
        .position(|r| r.direction == Direction::Client && r.state == RequestState::Open && r.at.exchange < gone);
    let severity = if open.is_some() { Severity::Error } else { Severity::Warning };
    let message = "the session was answered 404, and the client did not initialize again".to_owned();
    found.push(
        case.finding(&RULE, Party::Client, message, Locus::response(gone), "404: the session is gone")
            .of_request(open.map(|r| r as u32))
            .severity(severity)
            .assuming(Certainty::Likely, "the client was still there, and is seen by this capture"),
    );
}
