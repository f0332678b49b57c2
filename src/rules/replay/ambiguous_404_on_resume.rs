//! ambiguous-404-on-resume: 404 for a cursor, although the session lives: a conforming client must drop a live session.

use crate::{
    evidence::Locus,
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "ambiguous-404-on-resume",
    family: Family::Replay,
    summary: "404 means that the session is gone, and the server used it for a cursor",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["request-never-answered"],
    thresholds: &[],
    remedy: "servers: answer 400 for a cursor that cannot be replayed; 404 obliges the client to drop the session",
    page: include_str!("ambiguous_404_on_resume.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    let begins = |x: &u32| crate::reconstruct::initializes(case.exchange(*x));
    let beginnings: Vec<u32> = case.session.exchanges.iter().copied().filter(begins).collect();
    // Another request that is answered 404 in between speaks of an instance that does not know the session.
    let refused = case.session.exchanges.iter().copied().find(|x| {
        let other = case.exchange(*x);
        other.status == Some(404) && other.cursor.is_none() && !case.capture.is_from_gateway(other)
    });
    for (resumption, exchange) in case.resumes() {
        if exchange.status != Some(404) || exchange.session.is_none() || case.capture.is_from_gateway(exchange) {
            continue;
        }
        let Some(accepted) = case.accepted_after(resumption.exchange) else { continue };
        // Only an acceptance that no new `initialize` explains.
        let next = beginnings.get(beginnings.partition_point(|x| *x <= resumption.exchange));
        if next.is_some_and(|x| *x <= accepted) {
            continue;
        }
        let stream = case.meant(resumption);
        let request = stream.and_then(|(_, s)| case.open_request(s, resumption.exchange));
        let message =
            "the resume was answered 404, which says that the session is gone; yet the session was accepted afterwards"
                .to_owned();
        let finding = case
            .finding(&RULE, Party::Server, message, Locus::response(resumption.exchange), "404 to the resume")
            .and(Locus::response(accepted), "the same session is accepted")
            .of_request(request)
            .of_stream(stream.map(|(number, _)| number))
            .with_cursor(resumption.cursor.id);
        found.push(if refused.is_some_and(|x| x < accepted) {
            finding
                .severity(Severity::Warning)
                .assuming(Certainty::Possible, "the session is not merely unknown to one of several instances")
        } else {
            finding
        });
    }
}
