//! duplicate-terminal: one request is answered more than once, with the same payload.

use crate::{
    model::{Direction, Receipt, Request, Terminal, Transport, Vantage},
    rules::{
        Case, Certainty, Check, EVERY, Family, Finding, Party, Rule, Severity,
        resume::resume_after_terminal::late_resumes,
    },
};
use foldhash::{HashMap, HashSet};

/// The rule.
pub static RULE: Rule = Rule {
    id: "duplicate-terminal",
    family: Family::Terminal,
    summary: "a request was answered more than once",
    severity: Severity::Error,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &["event-redelivered"],
    thresholds: &[],
    remedy: "dedupe by request identity, not by stream or event id; do not resume a finished request",
    page: include_str!("duplicate_terminal.md"),
    check: Check::Session(check),
};

/// Deliveries that may have reached the other side.
pub fn reached(request: &Request) -> Vec<&Terminal> {
    request.terminals.iter().filter(|t| t.receipt != Receipt::Disproven).collect()
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    let late: HashSet<u32> = late_resumes(case).iter().map(|late| late.resumption.exchange).collect();
    for (number, request) in case.session.requests.iter().enumerate().filter(|(_, r)| r.terminals.len() > 1) {
        let deliveries = reached(request);
        let Some((first, rest)) = deliveries.split_first() else { continue };
        let again: Vec<&Terminal> = rest.iter().copied().filter(|t| t.payload == first.payload).collect();
        if !again.is_empty() {
            found.push(report(case, number as u32, first, &again, &late));
        }
    }
    orphans(case, found);
}

/// Responses whose request was not captured, as in a bare event stream.
fn orphans(case: &Case<'_>, found: &mut Vec<Finding>) {
    if case.session.transport != Transport::Messages {
        return;
    }
    let mut seen: HashMap<_, (&Terminal, Vec<&Terminal>)> = HashMap::default();
    for (id, terminal) in &case.session.orphans {
        if let Some(id) = id {
            seen.entry((id, terminal.payload)).or_insert((terminal, Vec::new())).1.push(terminal);
        }
    }
    let mut seen: Vec<_> = seen.into_iter().filter(|(_, (_, all))| all.len() > 1).collect();
    seen.sort_by_key(|(_, (first, _))| first.at);
    for ((id, _), (first, all)) in seen {
        let message = format!("request {id} was answered {} times", all.len());
        let finding = case
            .finding(&RULE, Party::Unknown, message, all[1].at, "the answer again")
            .and(first.at, "the first answer");
        found.push(finding.counting(all.len() - 1, []));
    }
}

fn report(case: &Case<'_>, number: u32, first: &Terminal, again: &[&Terminal], late: &HashSet<u32>) -> Finding {
    let request = case.request(number);
    let times = again.len() + 1;
    let same_event = again.iter().all(|t| t.event_id.is_some() && t.event_id == first.event_id);
    let other_connection = again.iter().any(|t| t.at.exchange != first.at.exchange);
    let late = again.iter().any(|t| late.contains(&t.at.exchange));
    let party = if request.direction == Direction::Server || late {
        Party::Client
    } else if again.iter().all(|t| t.stream.is_some()) {
        Party::Server
    } else {
        Party::Unknown
    };
    let by_client = request.direction == Direction::Server;
    let severity = match (request.side_effecting, same_event) {
        (true, _) => Severity::Error,
        (false, false) if other_connection && !by_client => Severity::Error,
        (false, _) => Severity::Warning,
    };
    let message = format!("{} was answered {times} times", case.name_of(number));
    let mut finding = case
        .finding(&RULE, party, message, again[0].at, "the answer again")
        .and(first.at, "the first answer")
        .of_request(number)
        .of_stream(first.stream)
        .with_cursor(first.event_id)
        .kind(if same_event { "same-event-id" } else { "new-event-id" })
        .severity(severity)
        .counting(again.len(), again.iter().map(|t| t.at.exchange));
    if again.len() > 1 {
        finding = finding.and(again[again.len() - 1].at, "the last answer");
    }
    // Across connections the first delivery may have been lost on the way: then the second one is what resumption is for.
    if first.receipt == Receipt::Unknown && other_connection {
        let assumption = "the first answer had reached the client; this viewpoint only proves that it was sent";
        let sent = case.exchange(first.at.exchange);
        if again.len() == 1 && (!sent.response.is_whole() || sent.vantage == Vantage::Server) {
            return finding.severity(Severity::Warning).assuming(Certainty::Possible, assumption);
        }
        return finding.assuming(Certainty::Likely, assumption);
    }
    finding
}
