//! legacy-fallback-after-404: "the session is gone" is taken for "there is no Streamable HTTP here".

use crate::{
    evidence::Locus,
    model::{Method, Transport},
    reconstruct::{Capture, client_scope, initializes},
    rules::{
        Certainty, Check, Evidence, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold, Thresholds,
        case::SECOND,
    },
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "legacy-fallback-after-404",
    family: Family::Session,
    summary: "a client falls back to HTTP+SSE because its session is gone",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[Threshold {
        name: "window",
        default: 30.0,
        about: "seconds after the 404 in which the fallback must come",
    }],
    remedy: "fall back only where the first initialize is refused; a 404 to a session id asks for a new initialize",
    page: include_str!("legacy_fallback_after_404.md"),
    check: Check::Endpoint(check),
};

/// How many of the exchanges that follow a 404 are looked at.
const FOLLOWING: usize = 64;

fn check(capture: &Capture, thresholds: &Thresholds, found: &mut Vec<Finding>) {
    let window = (thresholds.get(&RULE, "window") * SECOND as f64) as i64;
    for (index, session) in capture.sessions.iter().enumerate() {
        if session.transport != Transport::Streamable || session.id.is_none() {
            continue;
        }
        let gone = session.exchanges.iter().copied().find(|x| {
            let exchange = capture.exchange(*x);
            let refused =
                exchange.status == Some(404) && exchange.session.is_some() && exchange.method != Method::Delete;
            refused && !capture.is_from_gateway(exchange)
        });
        let Some(gone) = gone else { continue };
        let host = host(&session.endpoint);
        let told = capture.exchange(gone).sent;
        let following = capture.exchanges.iter().enumerate().skip(gone as usize + 1).take(FOLLOWING);
        let mut own = following.filter(|(_, x)| {
            let soon = x.sent.zip(told).is_some_and(|(sent, told)| sent.since(told) <= window);
            soon && self::host(&x.endpoint) == host && client_scope(x) == session.client_scope && x.session.is_none()
        });
        let Some((next, exchange)) = own.next() else { continue };
        if exchange.method != Method::Get || exchange.cursor.is_some() || initializes(exchange) {
            continue;
        }
        let message =
            "the session was answered 404, and the client turned to HTTP+SSE instead of initializing again".to_owned();
        let what =
            Evidence { at: Locus::request(next as u32), what: "a GET without session, as HTTP+SSE begins".into() };
        let finding = Finding::new(&RULE, Party::Client, message, what)
            .in_session(index as u32)
            .and(Locus::response(gone), "404: the session is gone");
        let announced = exchange.announces.is_some();
        found.push(if announced {
            finding
        } else {
            finding.assuming(Certainty::Likely, "the GET looks for an HTTP+SSE endpoint")
        });
    }
}

/// Scheme and host of an endpoint.
fn host(endpoint: &str) -> &str {
    let start = endpoint.find("://").map_or(0, |at| at + 3);
    let end = endpoint[start..].find('/').map_or(endpoint.len(), |at| start + at);
    &endpoint[..end]
}
