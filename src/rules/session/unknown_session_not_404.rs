//! unknown-session-not-404: a session that the server accepted before is refused with something other than 404.

use crate::{
    evidence::Locus,
    model::{Exchange, Method},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, answer},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "unknown-session-not-404",
    family: Family::Session,
    summary: "a session is gone and the server does not say so with 404",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["request-never-answered"],
    thresholds: &[],
    remedy: "servers and gateways: answer 404 for a session id that is not known (any more); only then may a client initialize again",
    page: include_str!("unknown_session_not_404.md"),
    check: Check::Session(check),
};

/// The refusal speaks of an unknown session, and not of a missing header, a cursor, or a stream that is busy.
fn refuses(exchange: &Exchange) -> bool {
    let words = answer::speaks_of_unknown_session(exchange) && !answer::says_busy(exchange);
    let missing = exchange.session.is_none();
    let status = match exchange.status {
        Some(400 | 403 | 410 | 500) => true,
        Some(200..300) => answer::error_code(exchange).is_some(),
        _ => false,
    };
    status && words && !missing && exchange.method != Method::Delete
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.id.is_none() || case.session.placeholder {
        return;
    }
    let (mut accepted, mut refused) = (None, Vec::new());
    for &index in &case.session.exchanges {
        let exchange = case.exchange(index);
        if refuses(exchange) {
            if accepted.is_some() {
                refused.push(index);
            }
        } else if exchange.accepted() {
            // Accepted again: then it is no unknown session, and session-flapping says what it is.
            refused.clear();
            accepted = Some(index);
        }
    }
    let (Some(accepted), Some(&first)) = (accepted, refused.first()) else { return };
    let exchange = case.exchange(first);
    let status = exchange.status.unwrap_or_default();
    let request = case.session.requests.iter().position(|r| r.at.exchange == first).map(|r| r as u32);
    let party = if case.capture.is_from_gateway(exchange) { Party::Proxy } else { Party::Server };
    let message = format!(
        "a session that was accepted before is refused with {status} instead of 404, so the client cannot know that it must initialize again"
    );
    let finding = case
        .finding(&RULE, party, message, Locus::response(first), "the refusal speaks of an unknown session")
        .and(Locus::response(accepted), "the session was accepted before")
        .of_request(request)
        .counting(refused.len(), refused.iter().copied());
    found.push(if status == 410 {
        finding.severity(Severity::Note)
    } else {
        finding.assuming(Certainty::Likely, "the words of the refusal mean the session")
    });
}
