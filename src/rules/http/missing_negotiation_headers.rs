//! missing-negotiation-headers: `Accept` or `MCP-Protocol-Version` is missing, or names another revision.

use crate::{
    evidence::Locus,
    model::{Era, Exchange, HeaderFlags, Method, Transport},
    reconstruct::initializes,
    rules::{Case, Check, Family, Finding, Party, Rule, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "missing-negotiation-headers",
    family: Family::Http,
    summary: "Accept or MCP-Protocol-Version is missing or differs from what was negotiated",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: &[Era::June2025, Era::November2025, Era::Modern2026],
    suppresses: &[],
    thresholds: &[],
    remedy: "send Accept: application/json, text/event-stream with POST, text/event-stream with GET, and the negotiated MCP-Protocol-Version with all but initialize",
    page: include_str!("missing_negotiation_headers.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    let holds = matches!(case.session.transport, Transport::Streamable | Transport::Modern)
        && case.session.era >= Era::June2025;
    if !holds {
        return;
    }
    // A recorder that keeps no such header from anyone has removed it.
    let any = |flag: fn(&Exchange) -> bool| case.session.exchanges.iter().any(|x| flag(case.exchange(*x)));
    let keeps_accept = any(|x| x.headers.has(HeaderFlags::HAS_ACCEPT));
    let keeps_version = any(|x| x.headers.protocol_version.is_some());
    for &index in &case.session.exchanges {
        let exchange = case.exchange(index);
        if exchange.headers.has(HeaderFlags::NO_HEADERS) || matches!(exchange.status, Some(401 | 403)) {
            continue;
        }
        if keeps_accept && lacks_accept(exchange) {
            found.push(report(case, index, "accept", "the request does not accept what the transport needs"));
        }
        let late = !initializes(exchange) && exchange.method != Method::Delete;
        if late && case.session.complete_from_start {
            match exchange.headers.protocol_version.as_deref() {
                None if keeps_version => {
                    found.push(report(case, index, "version-missing", "MCP-Protocol-Version is missing"));
                }
                Some(version) if Era::of_version(version).is_some_and(|era| era != case.session.era) => {
                    found.push(report(
                        case,
                        index,
                        "version-differs",
                        "MCP-Protocol-Version differs from the negotiated revision",
                    ));
                }
                _ => {}
            }
        }
    }
}

fn lacks_accept(exchange: &Exchange) -> bool {
    let (sse, json) = (exchange.headers.has(HeaderFlags::ACCEPTS_SSE), exchange.headers.has(HeaderFlags::ACCEPTS_JSON));
    match exchange.method {
        Method::Post => !(sse && json),
        Method::Get => !sse,
        Method::Delete | Method::Message => false,
    }
}

fn report(case: &Case<'_>, index: u32, kind: &'static str, message: &str) -> Finding {
    let modern = case.session.transport == Transport::Modern && kind != "accept";
    case.finding(&RULE, Party::Client, message.to_owned(), Locus::request(index), "the head of the request")
        .kind(kind)
        .severity(if modern { Severity::Error } else { Severity::Warning })
}
