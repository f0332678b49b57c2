//! empty-replay-after-terminal: the harmless outcome of resume-after-terminal.

use super::ambiguous_empty_replay::{is_empty, open_for};
use crate::{
    evidence::Locus,
    model::Resumption,
    rules::{
        Case, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, case::SECOND,
        resume::resume_after_terminal::late_resumes,
    },
};
use std::collections::BTreeMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "empty-replay-after-terminal",
    family: Family::Replay,
    summary: "a needless resume after the answer got an empty replay: nothing was lost",
    severity: Severity::Note,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["ambiguous-empty-replay"],
    thresholds: &[],
    remedy: "see resume-after-terminal",
    page: include_str!("empty_replay_after_terminal.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    let mut groups: BTreeMap<u32, (u32, Vec<&Resumption>)> = BTreeMap::new();
    for late in late_resumes(case) {
        let exchange = case.exchange(late.resumption.exchange);
        let brief = open_for(case, exchange).is_none_or(|open| open < 60 * SECOND);
        if brief && is_empty(case, late.resumption, exchange) {
            groups.entry(late.stream).or_insert((late.request, Vec::new())).1.push(late.resumption);
        }
    }
    for (stream, (request, resumes)) in groups {
        let message = format!(
            "{} was already answered when the resume of its stream was answered with an empty replay",
            case.name_of(request)
        );
        found.push(
            case.finding(
                &RULE,
                Party::Client,
                message,
                Locus::response(resumes[0].exchange),
                "200, without any message",
            )
            .of_request(request)
            .of_stream(stream)
            .with_cursor(resumes[0].cursor.id)
            .counting(resumes.len(), resumes.iter().map(|r| r.exchange)),
        );
    }
}
