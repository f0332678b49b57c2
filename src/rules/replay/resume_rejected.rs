//! resume-rejected: a resume was answered 4xx; the sub-kind says what that means.

use crate::{
    evidence::Locus,
    model::{Exchange, Resumption},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, answer},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "resume-rejected",
    family: Family::Replay,
    summary: "a resume was answered with a 4xx status",
    severity: Severity::Note,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[],
    remedy: "retry the request from scratch with idempotency protection",
    page: include_str!("resume_rejected.md"),
    check: Check::Session(check),
};

/// What a refusal means: sub-kind, severity, party, message, remedy.
struct Refusal {
    kind: Option<&'static str>,
    severity: Severity,
    party: Party,
    message: &'static str,
    remedy: &'static str,
}

const REJECTED: Refusal = Refusal {
    kind: Some("cursor-rejected"),
    severity: Severity::Warning,
    party: Party::Server,
    message: "the server says that it cannot replay from this cursor; the session is alive",
    remedy: "retry the request from scratch with idempotency protection, in the same session",
};
const BUSY: Refusal = Refusal {
    kind: Some("stream-busy"),
    severity: Severity::Note,
    party: Party::Server,
    message: "the stream still has a connection, as far as the server knows",
    remedy: "back off and try the same cursor again; the request is not lost",
};
const NOT_FOUND: Refusal = Refusal {
    kind: Some("cursor-rejected-404"),
    severity: Severity::Note,
    party: Party::Server,
    message: "404 for a cursor, although the session is accepted afterwards",
    remedy: "retry the request from scratch with idempotency protection, in the same session",
};
const GONE: Refusal = Refusal {
    kind: Some("session-gone"),
    severity: Severity::Note,
    party: Party::Server,
    message: "the session is gone, and its requests in flight with it",
    remedy: "initialize again without a session id, then decide on the requests that were in flight",
};
const UNSUPPORTED: Refusal = Refusal {
    kind: Some("resume-unsupported"),
    severity: Severity::Note,
    party: Party::Server,
    message: "the server offers no stream by GET",
    remedy: "never resume here; issue the request again",
};
const AUTH: Refusal = Refusal {
    kind: Some("auth"),
    severity: Severity::Note,
    party: Party::Client,
    message: "the resume was not authorised; that says nothing about the cursor",
    remedy: "authenticate again, then resume with the same cursor",
};
/// Whatever the status.
const GATEWAY: Refusal = Refusal {
    kind: None,
    severity: Severity::Note,
    party: Party::Proxy,
    message: "the answer is that of something between client and server, and says nothing of session or cursor",
    remedy: "try the same cursor again, with a bounded number of tries and a growing wait",
};

fn refusal(case: &Case<'_>, resumption: &Resumption, exchange: &Exchange) -> Option<&'static Refusal> {
    match exchange.status? {
        401 | 403 => Some(&AUTH),
        404 if case.accepted_after(resumption.exchange).is_some() => Some(&NOT_FOUND),
        404 => Some(&GONE),
        405 | 501 => Some(&UNSUPPORTED),
        406 | 429 => None,
        409 => Some(&BUSY),
        400 if exchange.session.is_none() || answer::speaks_of_missing_session(exchange) => None,
        400 if answer::says_busy(exchange) => Some(&BUSY),
        400..=499 => Some(&REJECTED),
        _ => None,
    }
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    for (resumption, exchange) in case.resumes() {
        let Some(refusal) = refusal(case, resumption, exchange) else { continue };
        let status = exchange.status.unwrap_or_default();
        let stream = case.meant(resumption);
        let request =
            stream.and_then(|(_, s)| case.open_request(s, resumption.exchange).or(s.requests.first().copied()));
        let asks_to_authenticate = refusal.kind == AUTH.kind;
        let gateway = case.capture.is_from_gateway(exchange) && !asks_to_authenticate;
        let refusal = if gateway { &GATEWAY } else { refusal };
        let mut finding = case
            .finding(
                &RULE,
                refusal.party,
                format!("a resume was answered {status}: {}", refusal.message),
                Locus::response(resumption.exchange),
                "the refusal",
            )
            .of_request(request)
            .of_stream(stream.map(|(number, _)| number))
            .with_cursor(resumption.cursor.id)
            .severity(refusal.severity)
            .remedy(refusal.remedy);
        finding.kind = refusal.kind;
        if refusal.kind == GONE.kind {
            finding = finding.assuming(Certainty::Likely, "nothing later in the capture shows the session alive");
        }
        found.push(finding);
    }
}
