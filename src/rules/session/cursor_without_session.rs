//! cursor-without-session: a cursor without the session id that gives it a namespace.

use crate::{
    evidence::Locus,
    model::{Method, Transport},
    reconstruct::Capture,
    rules::{Certainty, Check, Evidence, Family, Finding, Party, Rule, STREAMABLE, Severity, Thresholds},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "cursor-without-session",
    family: Family::Session,
    summary: "Last-Event-ID is sent without Mcp-Session-Id",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["unknown-cursor", "session-header-violation", "resume-rejected"],
    thresholds: &[],
    remedy: "send both headers, or initialize again",
    page: include_str!("cursor_without_session.md"),
    check: Check::Endpoint(check),
};

fn check(capture: &Capture, _: &Thresholds, found: &mut Vec<Finding>) {
    for (index, session) in capture.sessions.iter().enumerate() {
        if session.transport != Transport::Streamable || session.id.is_some() {
            continue;
        }
        for resumption in &session.resumptions {
            let exchange = capture.exchange(resumption.exchange);
            if exchange.method != Method::Get || exchange.session.is_some() {
                continue;
            }
            let finding = |message: &str| {
                let what = Evidence {
                    at: Locus::request(resumption.exchange),
                    what: "Last-Event-ID without Mcp-Session-Id".into(),
                };
                Finding::new(&RULE, Party::Client, message.to_owned(), what)
                    .in_session(index as u32)
                    .with_cursor(resumption.cursor.id)
            };
            let sessions = capture.sessions.iter().filter(|s| s.endpoint == session.endpoint && s.id.is_some());
            let issued: Vec<_> =
                sessions.filter(|s| s.exchanges.first().is_some_and(|x| *x < resumption.exchange)).collect();
            if issued.is_empty() {
                found.push(
                    finding(
                        "a cursor without a session id, where the server issued none: ids are then those of the client",
                    )
                    .severity(Severity::Note),
                );
                continue;
            }
            // A recorder that strips the header strips it from every request.
            let sent = issued.iter().flat_map(|s| &s.exchanges).any(|x| capture.exchange(*x).session.is_some());
            if !sent {
                continue;
            }
            let own = issued.iter().rev().find(|s| s.client_scope == session.client_scope);
            let issuer = own.or(issued.last()).and_then(|s| s.exchanges.first());
            let mut report = finding(
                "a resume has Last-Event-ID but no Mcp-Session-Id, although the server had issued one: the cursor's namespace cannot be bound",
            );
            if let Some(issuer) = issuer {
                report = report.and(Locus::response(*issuer), "the session that the server issued");
            }
            found.push(if own.is_some() {
                report
            } else {
                report.assuming(Certainty::Likely, "the session was issued to this client")
            });
        }
    }
}
