//! session-resurrected: a session is accepted after the server called it gone, or after it was deleted.

use crate::{
    evidence::Locus,
    model::{Exchange, Method},
    reconstruct::initializes,
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "session-resurrected",
    family: Family::Session,
    summary: "a session that was gone or deleted is accepted again",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[],
    remedy: "servers: once a session has ended, answer 404 for its id for good",
    page: include_str!("session_resurrected.md"),
    check: Check::Session(check),
};

/// The exchange ended the session, and how.
fn ends(case: &Case<'_>, exchange: &Exchange) -> Option<&'static str> {
    match (exchange.method, exchange.status?) {
        (Method::Delete, 200..300) => Some("after-delete"),
        (Method::Post | Method::Get, 404) if exchange.cursor.is_none() && exchange.session.is_some() => {
            (!case.capture.is_from_gateway(exchange)).then_some("after-404")
        }
        _ => None,
    }
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.id.is_none() || case.session.placeholder {
        return;
    }
    let mut ended: Option<(u32, &'static str)> = None;
    for &index in &case.session.exchanges {
        let exchange = case.exchange(index);
        if let Some(how) = ends(case, exchange) {
            ended = ended.or(Some((index, how)));
            continue;
        }
        let Some((end, how)) = ended else { continue };
        if initializes(exchange) {
            return;
        }
        let over = case.exchange(end).ended.or(case.exchange(end).head);
        let later = exchange.sent.zip(over).is_none_or(|(sent, over)| sent > over);
        if !exchange.accepted() || exchange.session.is_none() || exchange.method == Method::Delete || !later {
            continue;
        }
        let what = if how == "after-delete" { "deleted by the client" } else { "called gone (404)" };
        let message = format!("the session was {what}, and then accepted again");
        let finding = case
            .finding(&RULE, Party::Server, message, Locus::response(index), "accepted")
            .and(Locus::response(end), "the session had ended here")
            .kind(how);
        found.push(if how == "after-404" {
            finding.assuming(Certainty::Likely, "the server does not restore sessions by design")
        } else {
            finding
        });
        return;
    }
}
