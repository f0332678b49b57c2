//! intermediary-404: an answer that a proxy wrote; it says nothing about session or cursor.

use crate::{
    evidence::Locus,
    rules::{Case, Certainty, Check, EVERY, Family, Finding, Party, Rule, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "intermediary-404",
    family: Family::Http,
    summary: "a 404 or 5xx was written by a proxy, and not by the MCP server",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &["dead-session-used", "resume-rejected", "no-reinitialize-after-404"],
    thresholds: &[],
    remedy: "do not take it for the end of the session: back off and try again; fix the proxy's route or its health check",
    page: include_str!("intermediary_404.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    let by_proxy = case.session.exchanges.iter().copied().filter(|x| {
        let exchange = case.exchange(*x);
        matches!(exchange.status, Some(404 | 500..=599)) && case.capture.is_from_gateway(exchange)
    });
    let answers: Vec<u32> = by_proxy.collect();
    let Some(&first) = answers.first() else { return };
    let status = case.exchange(first).status.unwrap_or_default();
    let message = format!(
        "{status} was answered by an intermediary, {} time(s); it says nothing about the session",
        answers.len()
    );
    let finding = |what| {
        case.finding(&RULE, Party::Proxy, message, Locus::response(first), what)
            .counting(answers.len(), answers.iter().copied())
    };
    found.push(
        match case.capture.behind(case.exchange(first)).filter(|(_, far)| far.exchange.status != Some(status)) {
            Some((other, _)) => finding("what the client was answered")
                .and(Locus::response(other), "what the server answered to the same request")
                .kind("status-changed"),
            None => finding("no body and no headers of this MCP server")
                .assuming(Certainty::Likely, "the MCP server does not write such answers itself"),
        },
    );
}
