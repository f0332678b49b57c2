//! legacy-mechanism-in-modern-era: a 2026-07-28 client uses what that revision no longer has.

use crate::{
    evidence::Locus,
    model::{Exchange, Method, Transport},
    rules::{Case, Check, Family, Finding, MODERN, Party, Rule, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "legacy-mechanism-in-modern-era",
    family: Family::Http,
    summary: "a 2026-07-28 client uses sessions, GET, DELETE, cursors, cancel notifications or responses",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: MODERN,
    suppresses: &[],
    thresholds: &[],
    remedy: "resumption does not exist in 2026-07-28: issue the request again under a new id, or use tasks",
    page: include_str!("legacy_mechanism_in_modern_era.md"),
    check: Check::Session(check),
};

/// The obsolete mechanisms of one exchange: sub-kind, words, and whether a MUST NOT forbids it.
fn mechanisms(exchange: &Exchange) -> Vec<(&'static str, &'static str, bool)> {
    let mut used = Vec::new();
    match exchange.method {
        Method::Get => used.push(("get", "a GET", false)),
        Method::Delete => used.push(("delete", "a DELETE", false)),
        Method::Post | Method::Message => {}
    }
    if exchange.cursor.is_some() {
        used.push(("last-event-id", "Last-Event-ID", false));
    }
    if exchange.session.is_some() {
        used.push(("session-header", "Mcp-Session-Id", false));
    }
    if exchange.messages().iter().any(|m| m.is("notifications/cancelled")) {
        used.push(("cancelled", "notifications/cancelled; closing the connection is the cancellation", false));
    }
    if exchange.messages().iter().any(crate::model::Message::is_reply) {
        used.push(("response", "a JSON-RPC response over HTTP, which is forbidden", true));
    }
    used
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if case.session.transport != Transport::Modern {
        return;
    }
    for &index in &case.session.exchanges {
        for (kind, words, forbidden) in mechanisms(case.exchange(index)) {
            let message = format!("a 2026-07-28 client sent {words}");
            let finding = case.finding(&RULE, Party::Client, message, Locus::request(index), words).kind(kind);
            found.push(if forbidden { finding.severity(Severity::Error) } else { finding });
        }
    }
}
