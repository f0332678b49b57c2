//! empty-replay-taken-as-success: after a resume without the answer, the client stops asking and loses a result in silence.

use super::ambiguous_empty_replay::is_empty;
use crate::{
    evidence::Locus,
    model::{End, OpenedBy, RequestState, Resolved, Resumption},
    reconstruct::{clock, is_open_stream},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold, case::SECOND},
};
use std::collections::BTreeMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "empty-replay-taken-as-success",
    family: Family::Replay,
    summary: "a resume brought no answer, and the client went on as if nothing were missing",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["stream-abandoned", "request-never-answered"],
    thresholds: &[Threshold {
        name: "silence",
        default: 60.0,
        about: "seconds of further use of the session without the answer",
    }],
    remedy: "escalate: poll again, then retry with idempotency protection, or report the loss to the caller",
    page: include_str!("empty_replay_taken_as_success.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    // The last resume of each stream: what came before it was followed by another try.
    let mut last: BTreeMap<u32, &Resumption> = BTreeMap::new();
    for (resumption, _) in case.resumes() {
        if let Some((stream, facts)) = case.meant(resumption)
            && facts.opened_by == OpenedBy::Post
        {
            last.insert(stream, resumption);
        }
    }
    for (stream, resumption) in last {
        let exchange = case.exchange(resumption.exchange);
        let facts = case.stream(stream);
        let ended = exchange.end != End::Open && (exchange.response.is_whole() || clock::ended_on_wire(exchange));
        if !is_open_stream(exchange) || !ended || exchange.response.content().is_none() && !exchange.response.is_whole()
        {
            continue;
        }
        let open = facts.requests.iter().copied().find(|r| case.request(*r).state == RequestState::Open);
        let Some(request) = open else { continue };
        let asked_again = case.sent_again(case.request(request)).is_some()
            || case.request(request).task.is_some()
            // Whoever waits for a task may ask again as often as it likes.
            || case.request(request).method.starts_with("tasks/");
        let tail = clock::log(exchange).is_some_and(|l| l.tail.as_ref().is_some_and(|t| t.message.is_some()));
        if asked_again || tail || !case.streams_are_captured_since(case.request(request).at.exchange) {
            continue;
        }
        let Some(use_) = went_on(case, stream, resumption) else { continue };
        // A new session right away is how a client escalates; one much later is not.
        if case.reinitialized_after(resumption.exchange).is_none_or(|new| new > use_) {
            found.push(report(case, stream, request, resumption, use_));
        }
    }
}

/// The client used the session for long enough, or ended it: the exchange that shows it.
fn went_on(case: &Case<'_>, stream: u32, resumption: &Resumption) -> Option<u32> {
    let exchange = case.exchange(resumption.exchange);
    let since = exchange.ended.or(exchange.head).or(exchange.sent)?;
    let retry = case.retry_of(stream).map_or(0, |retry| retry.saturating_mul(5));
    let silence = ((case.thresholds.get(&RULE, "silence") * SECOND as f64) as i64).max(retry);
    let long = case.sent_after(resumption.exchange, since.plus(silence));
    long.or(case.deletion().filter(|x| *x > resumption.exchange))
}

fn report(case: &Case<'_>, stream: u32, request: u32, resumption: &Resumption, use_: u32) -> Finding {
    let facts = case.request(request);
    let empty = is_empty(case, resumption, case.exchange(resumption.exchange));
    let what = if empty { "an empty replay" } else { "a replay without the answer" };
    let message = format!(
        "the resume for {} brought {what}; the client took that for success, and the result was lost",
        case.name_of(request)
    );
    let noticed = facts.name.is_some() && case.last_answered(facts).is_some_and(|x| x > resumption.exchange);
    let finding = case
        .finding(
            &RULE,
            Party::Client,
            message,
            Locus::response(resumption.exchange),
            format!("the last resume of the stream: {what}"),
        )
        .and(Locus::request(facts.at.exchange), "the request that was never answered")
        .and(Locus::request(use_), "the session was still used, or ended, without asking again")
        .of_request(request)
        .of_stream(stream)
        .with_cursor(resumption.cursor.id)
        .assuming(
            Certainty::Likely,
            "the client did not report the loss to its caller, which leaves no trace on the wire",
        );
    if resumption.resolved == Resolved::Temporal {
        let why = "the cursor belongs to the only stream that could be meant";
        return finding.severity(Severity::Warning).assuming(Certainty::Possible, why);
    }
    if noticed {
        let why = "a later call of the same tool was not made because the loss was noticed";
        return finding.severity(Severity::Warning).assuming(Certainty::Possible, why);
    }
    finding
}
