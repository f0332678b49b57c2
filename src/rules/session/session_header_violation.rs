//! session-header-violation: the session header is missing, changed, sent with `initialize`, or holds forbidden characters.

use crate::{
    evidence::Locus,
    model::{Exchange, HeaderFlags, Session, Transport},
    reconstruct::{Capture, initializes},
    rules::{Certainty, Check, Evidence, Family, Finding, Party, Rule, STREAMABLE, Severity, Thresholds, answer},
};
use foldhash::HashMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "session-header-violation",
    family: Family::Session,
    summary: "Mcp-Session-Id is missing, changes, or is malformed",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[],
    remedy: "send the id of the initialize response on every later request, unchanged; send none with initialize",
    page: include_str!("session_header_violation.md"),
    check: Check::Endpoint(check),
};

fn check(capture: &Capture, _: &Thresholds, found: &mut Vec<Finding>) {
    let mut issued: HashMap<(&str, u64), Vec<u32>> = HashMap::default();
    for (index, session) in capture.sessions.iter().enumerate().filter(|(_, s)| s.id.is_some()) {
        issued.entry((&*session.endpoint, session.client_scope)).or_default().push(index as u32);
    }
    for (index, session) in capture.sessions.iter().enumerate() {
        if session.transport != Transport::Streamable {
            continue;
        }
        match &session.id {
            Some(_) => of_session(capture, index as u32, session, found),
            None => {
                let others = issued.get(&(&*session.endpoint, session.client_scope)).map_or(&[][..], Vec::as_slice);
                found.extend(missing(capture, index as u32, session, others));
            }
        }
    }
}

fn finding(session: u32, kind: &'static str, party: Party, message: &str, at: Locus, what: &'static str) -> Finding {
    Finding::new(&RULE, party, message.to_owned(), Evidence { at, what: what.into() }).in_session(session).kind(kind)
}

/// Ids that change, that come with `initialize`, or that no header may hold.
fn of_session(capture: &Capture, index: u32, session: &Session, found: &mut Vec<Finding>) {
    let Some(own) = &session.id else { return };
    for &x in session.exchanges.iter().filter(|_| !session.placeholder) {
        let exchange = capture.exchange(x);
        let changed = exchange.issued.as_ref().is_some_and(|id| id != own) && exchange.session.is_some();
        if initializes(exchange) && exchange.session.is_some() {
            let message = "initialize was sent with the id of an old session";
            found.push(finding(
                index,
                "init-with-session",
                Party::Client,
                message,
                Locus::request(x),
                "initialize with a session id",
            ));
        } else if changed {
            let message = "the server answered with another session id than the one that the request carried";
            found.push(finding(index, "changed", Party::Server, message, Locus::response(x), "another session id"));
        }
    }
    if own.bad_charset
        && let Some(&x) = session.exchanges.first()
    {
        let message = "the session id holds characters outside visible ASCII";
        found.push(finding(index, "charset", Party::Server, message, Locus::response(x), "the session id"));
    }
}

/// Requests without the id that had been issued to this client.
fn missing(capture: &Capture, index: u32, session: &Session, issued: &[u32]) -> Option<Finding> {
    // A client that initializes without getting an id has none to send.
    if session.exchanges.iter().any(|x| initializes(capture.exchange(*x))) {
        return None;
    }
    let issuer = issued
        .iter()
        .map(|s| &capture.sessions[*s as usize])
        .find(|s| s.complete_from_start && s.exchanges.first() < session.exchanges.last())?;
    let &first = issuer.exchanges.first()?;
    let known = capture.exchange(first).head.or(capture.exchange(first).sent);
    let refused = |x: &Exchange| x.status.is_some_and(|s| s == 400) && answer::speaks_of_missing_session(x);
    // Where no request at all carries the id, a recorder took it out; unless the server itself missed it.
    let sent = issuer.exchanges.iter().any(|x| capture.exchange(*x).session.is_some());
    let lacking: Vec<u32> = session
        .exchanges
        .iter()
        .copied()
        .filter(|x| {
            let exchange = capture.exchange(*x);
            let after = *x > first && exchange.sent.zip(known).is_none_or(|(sent, known)| sent > known);
            let auth = matches!(exchange.status, Some(401 | 403));
            after && !auth && !exchange.headers.has(HeaderFlags::NO_HEADERS) && (sent || refused(exchange))
        })
        .collect();
    let &example = lacking.first()?;
    let message = format!("{} request(s) lack the session id that the server had issued to this client", lacking.len());
    let report = finding(index, "missing", Party::Client, &message, Locus::request(example), "no Mcp-Session-Id")
        .and(Locus::response(first), "the session id was issued here")
        .severity(Severity::Error)
        .counting(lacking.len(), lacking.iter().copied());
    // A request that is still to be answered may be refused for want of authentication, and sent again in full.
    let report = if lacking.iter().all(|x| capture.exchange(*x).status.is_none()) {
        report.assuming(Certainty::Possible, "the server took the requests, whose answers the capture lacks")
    } else {
        report
    };
    let by_auth = capture.exchange(example).headers.auth.is_some();
    Some(if by_auth || refused(capture.exchange(example)) {
        report
    } else {
        report.assuming(Certainty::Likely, "the requests come from the client that the session was issued to")
    })
}
