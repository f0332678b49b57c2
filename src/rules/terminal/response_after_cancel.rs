//! response-after-cancel: a request is answered although its cancellation had been accepted.

use crate::{
    model::{Direction, Method, Terminal, Time},
    rules::{Case, Check, EVERY, Family, Finding, Party, Rule, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "response-after-cancel",
    family: Family::Terminal,
    summary: "a response arrived after its request had been cancelled: a legal race",
    severity: Severity::Note,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &[],
    thresholds: &[],
    remedy: "clients: ignore it; servers: send nothing more for a cancelled request",
    page: include_str!("response_after_cancel.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    for (number, request) in case.session.requests.iter().enumerate() {
        let Some((cancel, Some(time))) = request.cancelled else { continue };
        let exchange = case.exchange(cancel.exchange);
        if request.direction != Direction::Client || !(exchange.accepted() || exchange.method == Method::Message) {
            continue;
        }
        let Some(late) = request.terminals.iter().find(|t| is_after(t, time)) else { continue };
        let message = format!("{} was answered after its cancellation had been accepted", case.name_of(number as u32));
        found.push(
            case.finding(&RULE, Party::Server, message, late.at, "the response")
                .and(cancel, "the cancellation")
                .and(request.at, "the request")
                .of_request(number as u32)
                .of_stream(late.stream)
                .with_cursor(late.event_id),
        );
    }
}

fn is_after(terminal: &Terminal, time: Time) -> bool {
    terminal.time.is_some_and(|arrived| arrived > time)
}
