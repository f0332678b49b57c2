//! resume-after-terminal: a cursor is sent for a stream whose requests were all answered.

use crate::{
    evidence::Locus,
    model::{Resolved, Resumption, Terminal},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};
use std::collections::BTreeMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "resume-after-terminal",
    family: Family::Resume,
    summary: "a stream is resumed although every request on it was answered",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["stale-cursor"],
    thresholds: &[],
    remedy: "keep a terminal flag per request, set on result or error, and consult it before attaching Last-Event-ID",
    page: include_str!("resume_after_terminal.md"),
    check: Check::Session(check),
};

/// A resume of a stream that was complete: the stream, the resume, and the answer that made it complete.
pub struct Late<'c> {
    /// Index of the stream.
    pub stream: u32,
    /// The resume.
    pub resumption: &'c Resumption,
    /// The last request of the stream.
    pub request: u32,
    /// Its answer.
    pub answer: &'c Terminal,
    /// The client had provably received the answers to all requests of the stream.
    pub proven: bool,
}

/// Every resume after the terminal, in order; the rules about its consequences start from these.
pub fn late_resumes<'c>(case: &Case<'c>) -> Vec<Late<'c>> {
    if !case.is_streamable() {
        return Vec::new();
    }
    let late = case.resumes().filter_map(|(resumption, _)| {
        let (stream, _) = case.meant(resumption)?;
        let completion = case.completed_before(stream, resumption.exchange)?;
        let answer = case.request(completion.request).terminals.get(completion.answer)?;
        Some(Late { stream, resumption, request: completion.request, answer, proven: completion.proven })
    });
    late.collect()
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    let mut by_stream: BTreeMap<u32, Vec<Late<'_>>> = BTreeMap::new();
    for late in late_resumes(case) {
        by_stream.entry(late.stream).or_default().push(late);
    }
    for (stream, resumes) in by_stream {
        let first = &resumes[0];
        let (request, answer) = (first.request, first.answer);
        let times = if resumes.len() == 1 { "resumed".to_owned() } else { format!("resumed {} times", resumes.len()) };
        let message = format!("{} was answered, then its stream was {times}", case.name_of(request));
        let at = Locus::request(first.resumption.exchange);
        let mut finding = case
            .finding(&RULE, Party::Client, message, at, "resumed with this cursor")
            .and(answer.at, format!("the answer to request {}, before the resume", case.request(request).id))
            .of_request(request)
            .of_stream(stream)
            .with_cursor(first.resumption.cursor.id)
            .counting(resumes.len(), resumes.iter().map(|late| late.resumption.exchange));
        if resumes.len() > 1 {
            let last = resumes[resumes.len() - 1].resumption.exchange;
            finding = finding.and(Locus::request(last), "the last such resume");
        }
        found.push(weigh(case, finding, &resumes));
    }
}

/// Certainty by the best proof among the resumes.
fn weigh(case: &Case<'_>, finding: Finding, resumes: &[Late<'_>]) -> Finding {
    let proven = |late: &&Late<'_>| late.proven;
    let exact = |late: &&Late<'_>| late.resumption.resolved == Resolved::Exact;
    if resumes.iter().all(|late| case.owner_is_uncertain(late.resumption)) {
        let why = "no stream that the capture lacks carried the same id";
        return finding.severity(Severity::Warning).assuming(Certainty::Possible, why);
    }
    if resumes.iter().any(|late| proven(&late) && exact(&late)) {
        return finding;
    }
    if !resumes.iter().any(|late| proven(&late)) {
        return finding.severity(Severity::Warning).assuming(
            Certainty::Possible,
            "the client received the answer; this viewpoint only proves that it was sent",
        );
    }
    let temporal = resumes.iter().all(|late| late.resumption.resolved == Resolved::Temporal);
    let certainty = if temporal { Certainty::Possible } else { Certainty::Likely };
    finding.assuming(
        certainty,
        "the cursor belongs to this stream, which follows from its form, the answer or the time alone",
    )
}
