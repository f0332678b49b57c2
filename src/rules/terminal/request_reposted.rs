//! request-reposted: one request is sent twice, byte for byte, as HTTP libraries and proxies do when they retry.

use super::duplicate_request_id::{ERAS, Repeat, repeats};
use crate::{
    model::{Direction, Exchange, Transport, Vantage},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "request-reposted",
    family: Family::Terminal,
    summary: "the same request was sent twice under one id: a retry of the transport",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: ERAS,
    suppresses: &[],
    thresholds: &[],
    remedy: "switch off retries of POST in the HTTP library or proxy; servers: refuse an id that is in flight",
    page: include_str!("request_reposted.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    let modern = case.session.transport == Transport::Modern;
    for repeat in repeats(case) {
        let (a, b) = (case.exchange(repeat.first.at.exchange), case.exchange(repeat.second.at.exchange));
        let rejected = repeat.first.refused.is_some() || a.status.is_some_and(|s| (300..400).contains(&s));
        // Two hops of one file are two records of one request.
        let one_point = a.at.source != b.at.source || a.at.server == b.at.server;
        // Since 2026-07-28 an id is free again after completion; without a session only the shape of a retry counts.
        let apart = !repeat.in_flight && (modern || case.session.id.is_none() && a.status.is_some());
        if repeat.first.direction == Direction::Client
            && repeat.is_identical()
            && repeat.one_sender
            && one_point
            && !rejected
            && !apart
        {
            found.push(report(case, &repeat, a, b));
        }
    }
}

fn report(case: &Case<'_>, repeat: &Repeat<'_>, a: &Exchange, b: &Exchange) -> Finding {
    let at_server = a.vantage == Vantage::Server && b.vantage == Vantage::Server;
    let both = at_server || a.accepted() && b.accepted();
    // In packets it was seen on the wire; at a client or a proxy's log, what got no answer may never have left.
    let may_not_have_left =
        a.status.is_none() && (a.vantage == Vantage::Client || a.vantage == Vantage::Unknown && a.at.frame.is_none());
    let severity = match (both, &*repeat.first.method) {
        _ if may_not_have_left => Severity::Note,
        (true, "tools/call") => Severity::Error,
        _ => Severity::Warning,
    };
    // HTTP libraries and proxies repeat what got no answer; after the head of one only the client itself does.
    let party = if a.vantage == Vantage::Client || a.status.is_some() { Party::Client } else { Party::Unknown };
    let what = match (both, a.status.is_none()) {
        (true, _) => "and the server took both",
        (false, true) => "after the first had got no answer",
        (false, false) => "and nothing had refused the first",
    };
    let message = format!("{} was sent twice under the same id, {what}", case.name_of(repeat.earlier));
    let finding = case
        .finding(&RULE, party, message, repeat.second.at, "the same request again")
        .and(repeat.first.at, "the first time")
        .of_request(repeat.earlier)
        .of_stream(repeat.first.stream)
        .severity(severity);
    if may_not_have_left {
        finding.assuming(Certainty::Possible, "the first attempt left the client")
    } else if case.session.id.is_none() {
        finding.assuming(Certainty::Likely, "both requests come from one client; there is no session that says so")
    } else {
        finding
    }
}
