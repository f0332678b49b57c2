//! cursor-from-other-session: a cursor that one session issued is sent with the id of another.

use crate::{
    evidence::Locus,
    model::{Resolved, Shape, Transport},
    reconstruct::Capture,
    rules::{Certainty, Check, Evidence, Family, Finding, Party, Rule, STREAMABLE, Severity, Thresholds},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "cursor-from-other-session",
    family: Family::Session,
    summary: "a cursor of one session is used in another",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["unknown-cursor"],
    thresholds: &[],
    remedy: "clear all cursors when the session id changes",
    page: include_str!("cursor_from_other_session.md"),
    check: Check::Endpoint(check),
};

fn check(capture: &Capture, _: &Thresholds, found: &mut Vec<Finding>) {
    for (index, session) in capture.sessions.iter().enumerate() {
        if session.transport != Transport::Streamable || session.id.is_none() || session.placeholder {
            continue;
        }
        let accepted = session.exchanges.iter().any(|x| capture.exchange(*x).accepted());
        for resumption in session.resumptions.iter().filter(|_| accepted) {
            let named = resumption.cursor.names_session.filter(|s| session.id.as_ref().is_some_and(|id| id.hash != *s));
            let named = named
                .and_then(|hash| capture.sessions.iter().position(|s| s.id.as_ref().is_some_and(|id| id.hash == hash)));
            let owner =
                resumption.owner.map(|(s, _)| s as usize).filter(|_| resumption.resolved == Resolved::OtherSession);
            let Some(owner) = owner.or(named) else { continue };
            let issued = capture
                .index
                .deliveries(resumption.cursor.id)
                .iter()
                .find(|(x, _)| capture.homes[*x as usize] == owner as u32);
            let message = "the cursor was issued in another session of this endpoint".to_owned();
            let what = Evidence {
                at: Locus::request(resumption.exchange),
                what: "the cursor, with the id of this session".into(),
            };
            let mut finding = Finding::new(&RULE, Party::Client, message, what)
                .in_session(index as u32)
                .of_stream(resumption.stream)
                .with_cursor(resumption.cursor.id);
            if let Some((exchange, event)) = issued {
                finding = finding.and(Locus::event(*exchange, *event), "the other session issued it");
            }
            let complete = session.complete_from_start
                && session.exchanges.iter().take_while(|x| **x < resumption.exchange).all(|x| {
                    capture.exchange(*x).response.lacks().is_none_or(|why| why == crate::model::Missing::CutOff)
                });
            // Counters that start anew in each session meet by chance where this session was not captured whole.
            let counts = matches!(resumption.cursor.shape, Shape::Decimal | Shape::Slash | Shape::Suffix);
            found.push(match (complete, counts) {
                (true, _) => finding,
                (false, false) => finding
                    .assuming(Certainty::Likely, "this session did not issue the same id in what was not captured"),
                (false, true) => finding
                    .severity(Severity::Warning)
                    .assuming(Certainty::Possible, "this session did not issue the same id in what was not captured"),
            });
        }
    }
}
