//! modern-request-lost: a 2026-07-28 response stream ended without its response; nothing can bring it back.

use crate::{
    evidence::Locus,
    model::{Direction, End, Exchange, Request, RequestState, Side, Transport},
    reconstruct::{clock, is_open_stream},
    rules::{Case, Certainty, Check, Family, Finding, MODERN, Party, Rule, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "modern-request-lost",
    family: Family::Http,
    summary: "a 2026-07-28 stream ended without the response",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: MODERN,
    suppresses: &["request-never-answered"],
    thresholds: &[],
    remedy: "issue the request again under a new id, with idempotency protection; use tasks for work that must survive",
    page: include_str!("modern_request_lost.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if case.session.transport != Transport::Modern {
        return;
    }
    for (number, request) in case.session.requests.iter().enumerate() {
        if request.direction != Direction::Client {
            continue;
        }
        let exchange = case.exchange(request.at.exchange);
        if &*request.method == "subscriptions/listen" {
            found.extend(listen(case, number as u32, request, exchange));
        } else if request.state == RequestState::Open {
            found.extend(lost(case, number as u32, request, exchange));
        }
    }
}

/// The stream ended on the wire without the response, and the client did not close it.
fn ended_without(exchange: &Exchange) -> bool {
    let captured =
        exchange.response.is_whole() || exchange.response.content().is_some() && clock::ended_on_wire(exchange);
    let undispatched = clock::log(exchange).is_some_and(|l| l.tail.as_ref().is_some_and(|t| t.message.is_some()));
    is_open_stream(exchange)
        && captured
        && !undispatched
        && !matches!(exchange.end, End::Abrupt(Side::Client) | End::Open)
}

fn lost(case: &Case<'_>, number: u32, request: &Request, exchange: &Exchange) -> Option<Finding> {
    if !ended_without(exchange) {
        return None;
    }
    let again = case.sent_again(request).map(|r| case.request(r));
    let same_id = again.is_some_and(|other| other.id == request.id);
    if again.is_some() && !same_id {
        // Issued again under a new id, as the revision wants it.
        return None;
    }
    let (kind, severity, how) = if same_id {
        ("reissued-same-id", Severity::Error, "issued again under the same id")
    } else {
        ("not-reissued", Severity::Warning, "not issued again")
    };
    let party = if same_id { Party::Client } else { Party::Unknown };
    let message =
        format!("the stream of {} ended before the response, and the request was {how}", case.name_of(number));
    let mut finding = case
        .finding(&RULE, party, message, Locus::response(request.at.exchange), "the stream ended without the response")
        .and(Locus::request(request.at.exchange), "the request")
        .of_request(number)
        .of_stream(request.stream)
        .kind(kind)
        .severity(severity);
    if let Some(other) = again {
        finding = finding.and(other.at, "the same request under the same id");
    }
    Some(match exchange.end {
        // Closing is how a client cancels: where nobody knows who closed, only a repetition shows that it did not.
        End::Abrupt(Side::Unknown) if !same_id => finding
            .assuming(Certainty::Possible, "the client did not close the connection, which would be a cancellation"),
        End::Unknown => finding.assuming(Certainty::Likely, "the connection was not closed by the client"),
        _ => finding,
    })
}

fn listen(case: &Case<'_>, number: u32, request: &Request, exchange: &Exchange) -> Option<Finding> {
    let log = clock::log(exchange)?;
    let first = log.messages.first();
    let acknowledged = first.is_some_and(|(_, m)| m.is("notifications/subscriptions/acknowledged"));
    if let Some((event, _)) = first.filter(|_| !acknowledged) {
        let message =
            format!("the first message of the subscription ({}) is not its acknowledgement", case.name_of(number));
        let finding =
            case.finding(&RULE, Party::Server, message, Locus::event(request.at.exchange, *event), "the first message");
        return Some(
            finding.of_request(number).of_stream(request.stream).kind("listen-no-ack").severity(Severity::Error),
        );
    }
    if request.terminals.is_empty() && ended_without(exchange) && exchange.end != End::Unknown {
        let message = "a subscription ended without its final result; the client may subscribe again".to_owned();
        let finding = case.finding(
            &RULE,
            Party::Unknown,
            message,
            Locus::response(request.at.exchange),
            "the end of the subscription",
        );
        return Some(
            finding.of_request(number).of_stream(request.stream).kind("listen-abrupt").severity(Severity::Note),
        );
    }
    None
}
