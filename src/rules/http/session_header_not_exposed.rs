//! session-header-not-exposed: a browser may not read the session id of a cross-origin answer, and so never sends it.

use crate::{
    evidence::Locus,
    model::{HeaderFlags, Session, Transport},
    reconstruct::Capture,
    rules::{Certainty, Check, Evidence, Family, Finding, Party, Rule, STREAMABLE, Severity, Thresholds},
};
use foldhash::HashMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "session-header-not-exposed",
    family: Family::Http,
    summary: "a cross-origin answer with a session id does not expose the header",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[],
    remedy: "servers: send Access-Control-Expose-Headers: Mcp-Session-Id",
    page: include_str!("session_header_not_exposed.md"),
    check: Check::Endpoint(check),
};

fn check(capture: &Capture, _: &Thresholds, found: &mut Vec<Finding>) {
    // Clients that sent requests without a session id, by endpoint.
    let mut lacking: HashMap<(&str, u64), u32> = HashMap::default();
    for session in capture.sessions.iter().filter(|s| s.id.is_none() && s.transport == Transport::Streamable) {
        if let Some(&last) = session.exchanges.last() {
            lacking.insert((&*session.endpoint, session.client_scope), last);
        }
    }
    for (index, session) in capture.sessions.iter().enumerate().filter(|(_, s)| s.id.is_some()) {
        let next = lacking.get(&(&*session.endpoint, session.client_scope)).copied();
        found.extend(judge(capture, index as u32, session, next));
    }
}

fn judge(capture: &Capture, index: u32, session: &Session, next: Option<u32>) -> Option<Finding> {
    let &first = session.exchanges.first()?;
    let exchange = capture.exchange(first);
    let hidden = exchange.issued.is_some()
        && exchange.headers.has(HeaderFlags::CROSS_ORIGIN)
        && !exchange.headers.has(HeaderFlags::EXPOSES_SESSION);
    let unused = session.exchanges.iter().all(|x| capture.exchange(*x).session.is_none());
    let next = next.filter(|x| *x > first && hidden && unused)?;
    let message = "the server issued a session id to a page of another origin without exposing the header; the page cannot send it back".to_owned();
    let what =
        Evidence { at: Locus::response(first), what: "Mcp-Session-Id without Access-Control-Expose-Headers".into() };
    Some(
        Finding::new(&RULE, Party::Server, message, what)
            .in_session(index)
            .and(Locus::request(next), "the client's next request lacks the id")
            .assuming(Certainty::Likely, "the request comes from the same page"),
    )
}
