//! message-after-terminal: messages of a request arrive after its answer.

mod progress;

use crate::{
    evidence::Locus,
    model::{EventId, EventLog, Leg, MessageKind, OpenedBy, Stream, Transport},
    rules::{Case, Check, EVERY, Family, Finding, Party, Rule, Severity},
};
use foldhash::HashSet;

/// The rule.
pub static RULE: Rule = Rule {
    id: "message-after-terminal",
    family: Family::Terminal,
    summary: "messages were sent for a request that had been answered",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &[],
    thresholds: &[],
    remedy: "servers: write everything of a request through one queue, and the answer last",
    page: include_str!("message_after_terminal.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !matches!(case.session.transport, Transport::Streamable | Transport::Modern) {
        return;
    }
    for (number, stream) in case.session.streams.iter().enumerate() {
        if stream.opened_by == OpenedBy::Post && !stream.requests.is_empty() && !is_excused(case, stream) {
            found.extend(on_own_stream(case, number as u32, stream));
        }
    }
    progress::check(case, found);
}

/// A task goes on after its request was answered; what follows a cancellation is a race.
fn is_excused(case: &Case<'_>, stream: &Stream) -> bool {
    stream.requests.iter().any(|r| case.request(*r).task.is_some() || case.request(*r).cancelled.is_some())
}

fn on_own_stream(case: &Case<'_>, number: u32, stream: &Stream) -> Option<Finding> {
    let mut seen: HashSet<EventId> = HashSet::default();
    let mut late: Vec<(u32, u32)> = Vec::new();
    let mut last_answer = None;
    let mut gap = false;
    for leg in &stream.legs {
        let Some(log) = case.log(leg.exchange) else {
            gap |= !case.leg_is_captured(leg);
            continue;
        };
        // What a replay brings may be older than the answer; where nobody knows what the stream had, nothing is said.
        let known = leg.cursor.is_none() || !gap;
        gap |= !case.leg_is_captured(leg);
        if let Some(answer) = last_answer_on(case, stream, leg).filter(|_| known) {
            let behind = (answer + 1) as usize;
            let fresh = |event: u32| log.events[event as usize].explicit_id().is_none_or(|id| !seen.contains(&id));
            let all = (behind..log.events.len()).map(|e| e as u32);
            let before = late.len();
            late.extend(all.filter(|e| is_unfinished(log, *e) && fresh(*e)).map(|e| (leg.exchange, e)));
            last_answer = last_answer.or((late.len() > before).then_some((leg.exchange, answer)));
        }
        if stream.legs.len() > 1 {
            seen.extend(log.events.iter().filter_map(crate::model::EventFact::explicit_id));
        }
    }
    let (exchange, answer) = last_answer?;
    let request = stream.requests.last().copied()?;
    let message = format!("{} message(s) followed the answer to {} on its stream", late.len(), case.name_of(request));
    let finding = case
        .finding(&RULE, Party::Server, message, Locus::event(late[0].0, late[0].1), "a message behind the answer")
        .and(Locus::event(exchange, answer), "the last answer of the stream")
        .of_request(request)
        .of_stream(number)
        .counting(late.len(), late.iter().map(|(x, _)| *x));
    Some(finding)
}

/// The event of a connection with which every request of the stream was answered, where that lies on this connection.
fn last_answer_on(case: &Case<'_>, stream: &Stream, leg: &Leg) -> Option<u32> {
    let mut last = None;
    for request in stream.requests.iter().map(|r| case.request(*r)) {
        let here = request.terminals.iter().filter(|t| t.at.exchange == leg.exchange).filter_map(|t| t.at.event).min();
        let earlier =
            || request.terminals.iter().any(|t| t.at.exchange != leg.exchange && case.is_before(t, leg.exchange));
        match here {
            Some(event) => last = last.max(Some(event)),
            None if earlier() || request.refused.is_some() => {}
            None => return None,
        }
    }
    last
}

/// Progress, another notification, or a request of the server's; not what tells of a task.
fn is_unfinished(log: &EventLog, event: u32) -> bool {
    if log.events[event as usize].kind == crate::model::EventKind::Progress {
        return true;
    }
    let unfinished = |kind| matches!(kind, MessageKind::Notification | MessageKind::Request);
    let of_task = |m: &crate::model::Message| m.detail.as_ref().is_some_and(|d| d.related_task.is_some());
    log.events[event as usize].is_message() && log.messages_of(event).any(|m| unfinished(m.kind) && !of_task(m))
}
