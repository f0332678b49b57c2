//! last-event-id-on-post: a cursor travels on a POST or a DELETE, where it means nothing.

use crate::{
    evidence::Locus,
    model::{Body, Direction, EventId, Exchange, HeaderFlags, Method},
    rules::{Case, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};
use foldhash::HashSet;

/// The rule.
pub static RULE: Rule = Rule {
    id: "last-event-id-on-post",
    family: Family::Resume,
    summary: "Last-Event-ID is sent on a POST or a DELETE; resumption is always by GET",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[],
    remedy: "send Last-Event-ID only on the GET that resumes a stream",
    page: include_str!("last_event_id_on_post.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    let mut redirected: HashSet<EventId> = HashSet::default();
    let mut wrong: Vec<u32> = Vec::new();
    for resumption in &case.session.resumptions {
        let exchange = case.exchange(resumption.exchange);
        if exchange.method == Method::Get {
            if exchange.status.is_some_and(|s| (300..400).contains(&s)) {
                redirected.insert(resumption.cursor.id);
            }
        } else if !is_tunnelled(exchange) && !redirected.remove(&resumption.cursor.id) {
            wrong.push(resumption.exchange);
        }
    }
    let Some((&first, &last)) = wrong.first().zip(wrong.last()) else { return };
    let method = case.exchange(first).method;
    let message = match wrong.len() {
        1 => format!("a {method} carries Last-Event-ID; a stream is resumed by GET only"),
        many => format!("{many} requests other than GET carry Last-Event-ID; a stream is resumed by GET only"),
    };
    let request = case.session.requests.partition_point(|r| r.direction == Direction::Client && r.at.exchange < first);
    let own =
        case.session.requests.get(request).is_some_and(|r| r.direction == Direction::Client && r.at.exchange == first);
    let finding = case
        .finding(&RULE, Party::Client, message, Locus::request(first), format!("a {method} with Last-Event-ID"))
        .of_request((own && wrong.len() == 1).then_some(request as u32))
        .with_cursor(case.exchange(first).cursor.as_ref().map(|c| c.id))
        .counting(wrong.len(), wrong.iter().copied());
    found.push(if last == first { finding } else { finding.and(Locus::request(last), "the last one") });
}

/// A gateway sends a GET as a POST: it says so, or the POST has no body, which no message has.
pub fn is_tunnelled(exchange: &Exchange) -> bool {
    exchange.headers.has(HeaderFlags::METHOD_OVERRIDE)
        || exchange.method == Method::Post && matches!(exchange.request, Body::Empty)
}
