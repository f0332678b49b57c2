//! header-body-mismatch: the headers that repeat the body of a 2026-07-28 request are missing or differ.

use crate::{
    evidence::Locus,
    model::{Era, Exchange, HeaderFlags, MessageKind, Method, Transport},
    rules::{Case, Check, Family, Finding, MODERN, Party, Rule, Severity, answer},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "header-body-mismatch",
    family: Family::Http,
    summary: "Mcp-Method, Mcp-Name or MCP-Protocol-Version does not say what the body says",
    severity: Severity::Error,
    since: "0.1.0",
    eras: MODERN,
    suppresses: &[],
    thresholds: &[],
    remedy: "clients: repeat method, name and version of the body in the headers; servers: answer 400 with -32020 where they differ",
    page: include_str!("header_body_mismatch.md"),
    check: Check::Session(check),
};

/// The code with which a server refuses such a request.
const MISMATCH: i64 = -32020;

/// Methods whose name or URI stands in `Mcp-Name`.
const NAMED: &[&str] = &["tools/call", "resources/read", "prompts/get"];

fn mismatch(exchange: &Exchange) -> Option<&'static str> {
    // Notifications have no such headers; batches do not exist.
    let [message] = exchange.messages() else { return None };
    if message.kind != MessageKind::Request || exchange.headers.has(HeaderFlags::NO_HEADERS) {
        return None;
    }
    let has = |flag| exchange.headers.has(flag);
    let named = message.method.as_deref().is_some_and(|m| NAMED.contains(&m));
    let body = message.detail.as_ref().filter(|d| d.version_in_meta).and_then(|d| d.protocol_version.as_deref());
    if body.is_some_and(|version| exchange.headers.protocol_version.as_deref() != Some(version)) {
        Some("MCP-Protocol-Version is not the version of the body")
    } else if !has(HeaderFlags::HAS_MCP_METHOD) {
        Some("Mcp-Method is missing")
    } else if has(HeaderFlags::MCP_METHOD_DIFFERS) {
        Some("Mcp-Method is not the method of the body")
    } else if named && !has(HeaderFlags::HAS_MCP_NAME) {
        Some("Mcp-Name is missing")
    } else if named && has(HeaderFlags::MCP_NAME_DIFFERS) {
        Some("Mcp-Name is not the name in the body")
    } else {
        None
    }
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if case.session.transport != Transport::Modern {
        return;
    }
    // A recorder that keeps these headers from no request has removed them.
    let keeps = case.session.exchanges.iter().any(|x| case.exchange(*x).headers.has(HeaderFlags::HAS_MCP_METHOD));
    for &index in &case.session.exchanges {
        let exchange = case.exchange(index);
        let modern = exchange.method == Method::Post && exchange.declared_era() >= Some(Era::Modern2026);
        let Some(words) = mismatch(exchange).filter(|_| modern) else { continue };
        let refused = exchange.status == Some(400) && answer::error_code(exchange) == Some(MISMATCH);
        let request = case.session.requests.iter().position(|r| r.at.exchange == index).map(|r| r as u32);
        if refused {
            let message = format!("the server refused a request because its headers differ from its body: {words}");
            found.push(
                case.finding(&RULE, Party::Client, message, Locus::request(index), words)
                    .of_request(request)
                    .kind("refused"),
            );
        } else if exchange.accepted() && keeps {
            let message = format!("the server accepted a request whose headers differ from its body: {words}");
            let finding = case.finding(&RULE, Party::Server, message, Locus::response(index), "accepted");
            found.push(finding.and(Locus::request(index), words).of_request(request).kind("accepted"));
        }
    }
}
