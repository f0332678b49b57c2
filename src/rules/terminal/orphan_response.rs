//! orphan-response: a response whose id is none that the client asked with.

use crate::{
    evidence::Part,
    model::{Body, Direction, Method, Terminal, Transport},
    rules::{Case, Certainty, Check, EVERY, Family, Finding, Party, Rule, Severity},
};
use foldhash::HashMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "orphan-response",
    family: Family::Terminal,
    summary: "a response answers no request",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &["request-never-answered", "stream-abandoned", "unresumable-drop"],
    thresholds: &[],
    remedy: "servers: send the id back exactly as it came, number as number and string as string",
    page: include_str!("orphan_response.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if case.session.transport == Transport::Messages || case.session.orphans.is_empty() {
        return;
    }
    let mut by_id: HashMap<&str, Vec<u32>> = HashMap::default();
    for (number, request) in case.session.requests.iter().enumerate() {
        if request.direction == Direction::Client {
            by_id.entry(&request.id).or_default().push(number as u32);
        }
    }
    let lost = first_lost_request(case);
    for (id, terminal) in &case.session.orphans {
        let exchange = case.exchange(terminal.at.exchange);
        let refused = exchange.status.is_some_and(|s| s >= 400);
        // A client's response answers a request of the server's; an id in a refusal answers what it came with.
        let Some(id) = id.as_deref().filter(|_| terminal.at.part == Part::Response && !refused) else { continue };
        let other = other_type(id).and_then(|other| by_id.get(&*other)).map_or(&[][..], Vec::as_slice);
        let of_own_post = other.iter().any(|r| case.request(*r).at.exchange == terminal.at.exchange);
        if by_id.contains_key(id) && !of_own_post {
            // The request is there, later by the clock: the clocks are wrong, and not the server.
            continue;
        }
        match meant(case, other, terminal) {
            Some(request) => found.push(id_type_changed(case, id, request, terminal)),
            None => found.push(orphan(case, id, terminal, lost)),
        }
    }
}

/// The same id as a string instead of a number, or the reverse.
fn other_type(id: &str) -> Option<String> {
    match id.strip_prefix('"') {
        Some(rest) => {
            let bare = rest.strip_suffix('"')?;
            bare.parse::<f64>().is_ok().then(|| bare.to_owned())
        }
        None => Some(format!("\"{id}\"")),
    }
}

/// The request that was meant: that of the same POST, else the last one before the response.
fn meant(case: &Case<'_>, candidates: &[u32], terminal: &Terminal) -> Option<u32> {
    let own = candidates.iter().copied().find(|r| case.request(*r).at.exchange == terminal.at.exchange);
    own.or_else(|| candidates.iter().rev().copied().find(|r| case.request(*r).at.exchange < terminal.at.exchange))
}

/// The first POST whose messages the capture does not hold: it may have carried any id.
fn first_lost_request(case: &Case<'_>) -> Option<u32> {
    let lost = |x: &u32| {
        let exchange = case.exchange(*x);
        exchange.method == Method::Post && matches!(exchange.request, Body::NotCaptured(_) | Body::Partial(..))
    };
    case.session.exchanges.iter().copied().find(lost)
}

fn id_type_changed(case: &Case<'_>, id: &str, request: u32, terminal: &Terminal) -> Finding {
    let message = format!(
        "{} was answered under the id {id}: a number is no string, so strict clients wait on",
        case.name_of(request)
    );
    case.finding(&RULE, Party::Server, message, terminal.at, "the response, with an id of another type")
        .and(case.request(request).at, "the request")
        .kind("id-type-changed")
        .of_request(request)
        .of_stream(case.request(request).stream)
        .severity(Severity::Error)
}

fn orphan(case: &Case<'_>, id: &str, terminal: &Terminal, lost: Option<u32>) -> Finding {
    let message = format!("a response has the id {id}, which no request of the session had");
    let finding = case
        .finding(&RULE, Party::Server, message, terminal.at, "the response")
        .of_stream(terminal.stream)
        .with_cursor(terminal.event_id);
    if !case.session.complete_from_start {
        finding
            .severity(Severity::Note)
            .assuming(Certainty::Possible, "the request was not sent before the capture began")
    } else if lost.is_some_and(|lost| lost <= terminal.at.exchange) {
        finding
            .severity(Severity::Note)
            .assuming(Certainty::Possible, "none of the request bodies that the capture lacks had this id")
    } else if case.session.resumptions.binary_search_by_key(&terminal.at.exchange, |r| r.exchange).is_ok() {
        finding.assuming(
            Certainty::Possible,
            "what was replayed belongs to this session, and not to one whose answers the capture lacks",
        )
    } else {
        finding
    }
}
