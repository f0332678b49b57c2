//! terminal-replay-loop: the guard's signature: resume after the terminal, the same terminal again, close, and again.

use crate::{
    evidence::Locus,
    model::End,
    reconstruct::is_open_stream,
    rules::{
        Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold,
        resume::resume_after_terminal::{Late, late_resumes},
    },
};
use std::collections::BTreeMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "terminal-replay-loop",
    family: Family::Reconnect,
    summary: "a client resumes a finished stream over and over",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["reconnect-storm"],
    thresholds: &[Threshold {
        name: "cycles",
        default: 2.0,
        about: "resumes after the answer, each replaying it or nothing, then closed",
    }],
    remedy: "keep a terminal flag per request and stop resuming; servers may refuse a cursor of a finished stream with 400",
    page: include_str!("terminal_replay_loop.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    let mut by_stream: BTreeMap<u32, Vec<Late<'_>>> = BTreeMap::new();
    for late in late_resumes(case) {
        by_stream.entry(late.stream).or_default().push(late);
    }
    for (stream, resumes) in by_stream {
        let cycles: Vec<&Late<'_>> = resumes.iter().filter(|late| is_cycle(case, late)).collect();
        let least = case.thresholds.get(&RULE, "cycles") as usize;
        if cycles.len() < least.max(1) {
            continue;
        }
        let request = cycles[0].request;
        let last = cycles[cycles.len() - 1];
        let replayed = cycles.iter().filter(|late| !late.resumption.answers.is_empty()).count();
        let evicted = replayed > 0 && last.resumption.answers.is_empty();
        let refused = resumes.iter().any(|late| late.resumption.exchange > last.resumption.exchange);
        let ending = match (evicted, refused) {
            (_, true) => "it ended when the server refused the cursor",
            (true, false) => "it ended when the server had evicted the cursor",
            (false, false) => "the capture shows no other end",
        };
        let name = case.name_of(request);
        let message = format!("the finished stream of {name} was resumed {} times in a loop; {ending}", cycles.len());
        let finding = case
            .finding(
                &RULE,
                Party::Client,
                message,
                Locus::request(cycles[0].resumption.exchange),
                "the first resume after the answer",
            )
            .and(Locus::response(last.resumption.exchange), "the last one")
            .of_request(request)
            .of_stream(stream)
            .with_cursor(cycles[0].resumption.cursor.id)
            .counting(cycles.len(), resumes.iter().map(|late| late.resumption.exchange));
        let proven = cycles.iter().any(|late| late.proven);
        found.push(if proven {
            finding
        } else {
            finding.assuming(Certainty::Likely, "one of the repeated answers had reached the client")
        });
    }
}

/// Resume, the same answer or nothing, close.
fn is_cycle(case: &Case<'_>, late: &Late<'_>) -> bool {
    let exchange = case.exchange(late.resumption.exchange);
    let known = exchange.response.is_whole() || exchange.response.content().is_some();
    let own = late.resumption.answers.iter().all(|(request, _)| case.request(*request).stream == Some(late.stream));
    is_open_stream(exchange) && exchange.end != End::Open && known && own
}
