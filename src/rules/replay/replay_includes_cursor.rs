//! replay-includes-cursor: a replay begins with the very event that the cursor names, and not with the one after it.

use crate::{
    evidence::Locus,
    model::{Body, EventFact, EventFlags, EventLog, Message, Resolved, Resumption},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "replay-includes-cursor",
    family: Family::Replay,
    summary: "a replay starts at the cursor instead of behind it",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["stale-cursor"],
    thresholds: &[],
    remedy: "servers: start the replay with the event after the cursor",
    page: include_str!("replay_includes_cursor.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    let mut gap = None;
    for (resumption, _) in case.resumes().filter(|(r, _)| r.resolved != Resolved::Ambiguous) {
        let Some(log) = case.log(resumption.exchange) else { continue };
        let Some((event, fact)) = first_with_id(log) else { continue };
        let constant = resumption.cursor.is_session_id || fact.flags.contains(EventFlags::ID_IS_SESSION);
        if fact.explicit_id() == Some(resumption.cursor.id) && !constant && is_the_same(case, resumption, fact) {
            let finding = report(case, resumption, event, fact);
            found.push(match unseen(case, resumption, &mut gap) {
                Some((certainty, assumption)) => finding.assuming(certainty, assumption),
                None => finding,
            });
        }
    }
}

/// Where the cursor's own event is not in the capture, nobody knows that it was the same one.
fn unseen(case: &Case<'_>, resumption: &Resumption, gap: &mut Option<u32>) -> Option<(Certainty, &'static str)> {
    if own_deliveries(case, resumption).next().is_some() {
        return None;
    }
    let gap = *gap.get_or_insert_with(|| {
        let lost = |x: &u32| matches!(case.exchange(*x).response, Body::NotCaptured(_)) && case.exchange(*x).accepted();
        case.session.exchanges.iter().copied().find(lost).unwrap_or(u32::MAX)
    });
    Some(if gap < resumption.exchange {
        (Certainty::Possible, "no event of the bodies that the capture lacks had this id and another content")
    } else {
        (Certainty::Likely, "the id stands for one event only; its first delivery is not in the capture")
    })
}

fn first_with_id(log: &EventLog) -> Option<(u32, &EventFact)> {
    let event = log.events.iter().position(|e| e.explicit_id().is_some())?;
    Some((event as u32, &log.events[event]))
}

/// No captured event of the session bears this id with other content: then the id would be used twice.
fn is_the_same(case: &Case<'_>, resumption: &Resumption, fact: &EventFact) -> bool {
    let mut own = own_deliveries(case, resumption);
    own.all(|(exchange, event)| {
        let known = case.log(*exchange).and_then(|l| l.events.get(*event as usize));
        known.is_none_or(|known| known.payload == fact.payload)
    })
}

/// The last deliveries of the cursor in this session before the resume: exchange and event.
fn own_deliveries<'c>(case: &Case<'c>, resumption: &Resumption) -> impl Iterator<Item = &'c (u32, u32)> {
    let deliveries = case.capture.index.deliveries(resumption.cursor.id);
    let before = deliveries.partition_point(|(x, _)| *x < resumption.exchange);
    let (homes, index) = (&case.capture.homes, case.index);
    deliveries[..before].iter().rev().take(64).filter(move |(x, _)| homes[*x as usize] == index)
}

fn report(case: &Case<'_>, resumption: &Resumption, event: u32, fact: &EventFact) -> Finding {
    let at = Locus::event(resumption.exchange, event);
    let replies = case.log(resumption.exchange).is_some_and(|l| l.messages_of(event).any(Message::is_reply));
    let again = resumption.answers.iter().find(|(request, delivery)| {
        *delivery > 0 && case.request(*request).terminals.get(*delivery as usize).is_some_and(|t| t.at == at)
    });
    let (severity, what) = match (again, fact.is_message()) {
        (Some(_), _) => (Severity::Error, "so an answer was delivered again"),
        (None, true) => (Severity::Warning, "so a message was delivered again"),
        (None, false) => (Severity::Note, "which is harmless here, since that event carries no message"),
    };
    let stream = case.meant(resumption);
    let request = again.map(|(request, _)| *request).or(stream.and_then(|(_, s)| s.requests.first().copied()));
    let message = format!("the replay began with the event of the cursor itself, {what}");
    let finding = case
        .finding(&RULE, Party::Server, message, at, "the first replayed event has the id of the cursor")
        .and(Locus::request(resumption.exchange), "the resume")
        .of_request(request)
        .of_stream(stream.map(|(number, _)| number))
        .with_cursor(resumption.cursor.id)
        .severity(severity);
    if replies && again.is_none() { finding.severity(Severity::Warning) } else { finding }
}
