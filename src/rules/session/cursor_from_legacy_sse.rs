//! cursor-from-legacy-sse: a cursor crosses between HTTP+SSE and Streamable HTTP.

use crate::{
    evidence::Locus,
    model::{Resolved, Transport},
    reconstruct::Capture,
    rules::{Check, EVERY, Evidence, Family, Finding, Party, Rule, Severity, Thresholds},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "cursor-from-legacy-sse",
    family: Family::Session,
    summary: "a cursor of one transport is used on the other",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &["unknown-cursor"],
    thresholds: &[],
    remedy: "drop all cursors when the transport changes, and initialize again",
    page: include_str!("cursor_from_legacy_sse.md"),
    check: Check::Endpoint(check),
};

fn check(capture: &Capture, _: &Thresholds, found: &mut Vec<Finding>) {
    for (index, session) in capture.sessions.iter().enumerate() {
        for resumption in session.resumptions.iter().filter(|r| r.resolved == Resolved::Legacy) {
            let issued = capture
                .index
                .deliveries(resumption.cursor.id)
                .iter()
                .find(|(x, _)| *x < resumption.exchange && capture.homes[*x as usize] != index as u32);
            // An EventSource comes back by itself: until its own endpoint has answered, that is all there is to see.
            let own = issued.is_some_and(|(x, _)| capture.exchange(*x).endpoint == session.endpoint);
            if own && capture.exchange(resumption.exchange).status.is_none() {
                continue;
            }
            let to = if session.transport == Transport::LegacySse {
                "the legacy HTTP+SSE stream"
            } else {
                "a Streamable HTTP endpoint"
            };
            let severity = if resumption.status == Some(200) { Severity::Error } else { Severity::Warning };
            let what =
                Evidence { at: Locus::request(resumption.exchange), what: "the cursor of the other transport".into() };
            let message = format!("a cursor of the other transport was sent to {to}, where it means nothing");
            let mut finding = Finding::new(&RULE, Party::Client, message, what)
                .in_session(index as u32)
                .with_cursor(resumption.cursor.id)
                .severity(severity);
            if let Some((exchange, event)) = issued {
                finding = finding.and(Locus::event(*exchange, *event), "where it was issued");
            }
            found.push(finding);
        }
    }
}
