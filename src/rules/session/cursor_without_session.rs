//! cursor-without-session: a cursor without the session id that gives it a namespace.

use crate::{
    evidence::Locus,
    model::{Method, Session, Transport},
    reconstruct::Capture,
    rules::{Certainty, Check, Evidence, Family, Finding, Party, Rule, STREAMABLE, Severity, Thresholds},
};
use foldhash::HashMap;

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
    // The sessions with ids of each endpoint, in order of their start.
    let mut with_ids: HashMap<&str, Vec<&Session>> = HashMap::default();
    for session in capture.sessions.iter().filter(|s| s.id.is_some()) {
        with_ids.entry(&session.endpoint).or_default().push(session);
    }
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
            let sessions = with_ids.get(&*session.endpoint).map_or(&[][..], Vec::as_slice);
            let issued = &sessions
                [..sessions.partition_point(|s| s.exchanges.first().is_some_and(|x| *x < resumption.exchange))];
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
