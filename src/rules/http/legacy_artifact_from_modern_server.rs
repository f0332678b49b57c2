//! legacy-artifact-from-modern-server: a 2026-07-28 answer carries what that revision no longer has.

use crate::{
    evidence::Locus,
    model::{EventFlags, Exchange, MessageKind, Transport},
    reconstruct::{answers, clock},
    rules::{Case, Check, Family, Finding, MODERN, Party, Rule, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "legacy-artifact-from-modern-server",
    family: Family::Http,
    summary: "a 2026-07-28 answer has a session header, event ids, retry, or a request of the server",
    severity: Severity::Note,
    since: "0.1.0",
    eras: MODERN,
    suppresses: &[],
    thresholds: &[],
    remedy: "servers: leave out sessions, event ids and retry; ask the client by an input_required result",
    page: include_str!("legacy_artifact_from_modern_server.md"),
    check: Check::Session(check),
};

/// The leftovers of one answer: sub-kind, words, severity.
fn leftovers(exchange: &Exchange) -> Vec<(&'static str, &'static str, Severity)> {
    let mut left = Vec::new();
    if exchange.issued.is_some() {
        left.push(("session-header", "the answer carries Mcp-Session-Id", Severity::Note));
    }
    if let Some(log) = clock::log(exchange) {
        if log.events.iter().any(|e| e.explicit_id().is_some()) {
            left.push(("event-id", "the stream carries event ids", Severity::Note));
        }
        if log.events.iter().any(|e| e.flags.contains(EventFlags::HAS_RETRY)) {
            left.push(("retry", "the stream carries retry", Severity::Note));
        }
    }
    if answers(exchange).any(|m| m.kind == MessageKind::Request) {
        left.push(("server-request", "the server sent a request, which is forbidden", Severity::Error));
    }
    // What is not about this request belongs on a subscription.
    let listens = exchange.messages().iter().any(|m| m.is("subscriptions/listen"));
    let unrelated = |method: &str| method.ends_with("/list_changed") || method == "notifications/resources/updated";
    let notifications = answers(exchange).filter(|m| m.kind == MessageKind::Notification);
    if !listens && notifications.filter_map(|m| m.method.as_deref()).any(unrelated) {
        left.push((
            "unrelated-notification",
            "a notification on the stream has nothing to do with its request",
            Severity::Warning,
        ));
    }
    left
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if case.session.transport != Transport::Modern {
        return;
    }
    for &index in &case.session.exchanges {
        let exchange = case.exchange(index);
        for (kind, words, severity) in
            leftovers(exchange).into_iter().filter(|_| exchange.is_modern() && exchange.accepted())
        {
            let message = format!("2026-07-28: {words}");
            found.push(
                case.finding(&RULE, Party::Server, message, Locus::response(index), words)
                    .kind(kind)
                    .severity(severity),
            );
        }
    }
}
