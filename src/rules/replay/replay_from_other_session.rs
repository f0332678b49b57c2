//! replay-from-other-session: a resumed connection of one session delivers the content of another. A leak.

use crate::{
    evidence::Locus,
    model::{Direction, EventId, Message, MessageFlags, Request, Resolved, Resumption, Terminal},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};
use foldhash::HashMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "replay-from-other-session",
    family: Family::Replay,
    summary: "a resume was answered with content of another session",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["orphan-response", "response-on-wrong-stream", "request-never-answered"],
    thresholds: &[],
    remedy: "servers: key the event store by session and stream, and check the session before replaying",
    page: include_str!("replay_from_other_session.md"),
    check: Check::Session(check),
};

/// Content that another session owns: that session, the exchange that shows it, and the request's id.
struct Owner {
    exchange: u32,
    request: String,
    proof: &'static str,
    certainty: Certainty,
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    for (resumption, _) in case.resumes() {
        let Some(log) = case.log(resumption.exchange) else { continue };
        let replies = log.messages.iter().filter(|(_, m)| m.is_reply());
        let leak = replies.filter_map(|(event, message)| {
            let id = log.events.get(*event as usize)?.explicit_id();
            Some((*event, owner(case, resumption, message, id)?))
        });
        let leaks: Vec<_> = leak.chain(same_events(case, resumption)).collect();
        let Some((event, owner)) = leaks.first() else { continue };
        let message = format!(
            "the resume delivered {}, which belongs to another session of this endpoint: {}",
            owner.request, owner.proof
        );
        let mut finding = case
            .finding(
                &RULE,
                Party::Server,
                message,
                Locus::event(resumption.exchange, *event),
                "content of another session",
            )
            .and(Locus::request(resumption.exchange), "the resume")
            .and(Locus::request(owner.exchange), "the session that owns it")
            .of_stream(resumption.stream)
            .with_cursor(resumption.cursor.id)
            .counting(leaks.len(), leaks.iter().map(|(_, o)| o.exchange));
        if resumption.owner.is_some() && case.owner_is_uncertain(resumption) {
            let why = "this session did not deliver the same in what the capture lacks";
            finding = finding.severity(Severity::Warning).assuming(Certainty::Possible, why);
        } else if owner.certainty != Certainty::Certain {
            finding = finding.assuming(owner.certainty, "an equal payload is the same message");
        }
        found.push(finding);
    }
}

/// Events of the session that issued the cursor, delivered here under the same id and with the same content.
fn same_events(case: &Case<'_>, resumption: &Resumption) -> Vec<(u32, Owner)> {
    let (Some((session, _)), Some(log)) = (resumption.owner, case.log(resumption.exchange)) else { return Vec::new() };
    let streams = &case.capture.sessions[session as usize].streams;
    let legs = streams.iter().flat_map(|s| &s.legs).filter(|leg| leg.exchange < resumption.exchange);
    let mut there = HashMap::default();
    for leg in legs {
        let Some(other) = case.log(leg.exchange) else { continue };
        for event in other.events.iter().filter(|e| e.is_message()) {
            there.entry((event.explicit_id(), event.payload)).or_insert(leg.exchange);
        }
    }
    let here = log.events.iter().enumerate().filter(|(_, e)| e.is_message() && e.explicit_id().is_some());
    let leaks = here.filter_map(|(event, fact)| {
        let exchange = *there.get(&(fact.explicit_id(), fact.payload))?;
        let request = "an event".to_owned();
        Some((
            event as u32,
            Owner { exchange, request, proof: "the same event was delivered there", certainty: Certainty::Certain },
        ))
    });
    leaks.collect()
}

fn owner(case: &Case<'_>, resumption: &Resumption, message: &Message, event_id: Option<EventId>) -> Option<Owner> {
    let id = message.id.as_ref()?;
    let asked = |r: &&Request| r.direction == Direction::Client && r.id == *id && r.at.exchange < resumption.exchange;
    let twins = case.capture.twins.of(message.payload);
    let elsewhere = twins.iter().any(|(session, ..)| *session != case.index);
    if !elsewhere && resumption.resolved != Resolved::OtherSession {
        return None;
    }
    let own: Vec<&Request> = case.session.requests.iter().filter(asked).collect();
    // An equal message that this session itself was given elsewhere is no leak.
    let given = |t: &Terminal| t.payload == message.payload && t.at.exchange != resumption.exchange;
    let here = own.iter().flat_map(|r| &r.terminals).any(given);
    let distinctive = !here && message.flags.contains(MessageFlags::DISTINCTIVE);
    twins.iter().filter(|_| distinctive).find_map(|twin| of_twin(case, resumption, event_id, &own, id, *twin)).or_else(
        || {
            // Only there was this request made.
            let (session, _) =
                resumption.owner.filter(|_| own.is_empty() && resumption.resolved == Resolved::OtherSession)?;
            let request = case.capture.sessions[session as usize].requests.iter().find(asked)?;
            let proof = "only there was this request made";
            Some(Owner {
                exchange: request.at.exchange,
                request: response_to(id),
                proof,
                certainty: Certainty::Certain,
            })
        },
    )
}

fn response_to(id: &str) -> String {
    format!("a response to request {id}")
}

/// An equal answer of another session of the endpoint, delivered before the resume.
fn of_twin(
    case: &Case<'_>,
    resumption: &Resumption,
    event_id: Option<EventId>,
    own: &[&Request],
    id: &str,
    (session, request, delivery): (u32, u32, u32),
) -> Option<Owner> {
    let other = &case.capture.sessions[session as usize];
    let request = &other.requests[request as usize];
    let terminal = &request.terminals[delivery as usize];
    let sent = case.exchange(resumption.exchange).sent;
    let earlier =
        terminal.at.exchange < resumption.exchange && terminal.time.is_none_or(|t| sent.is_none_or(|s| t <= s));
    if session == case.index || *request.id != *id || !earlier || other.endpoint != case.session.endpoint {
        return None;
    }
    let same_id = event_id.is_some() && terminal.event_id == event_id;
    let certainty = if same_id || own.is_empty() { Certainty::Certain } else { Certainty::Likely };
    let proof = if same_id { "the same event was delivered there" } else { "the same payload was delivered there" };
    // Two sessions may well ask the same question and get the same answer; then only the event id tells, and only one
    // that is no counter: those begin anew in each session.
    let asked_alike = own.iter().any(|r| r.arguments == request.arguments && r.method == request.method);
    let names_event = same_id && event_id.is_some_and(|id| id.counter().is_none());
    (names_event || !asked_alike).then(|| Owner {
        exchange: terminal.at.exchange,
        request: response_to(id),
        proof,
        certainty,
    })
}
