//! truncated-final-event: a body ends inside an event; a client must discard it.

use crate::{
    evidence::Locus,
    model::{Body, Content, End, Missing},
    rules::{Case, Certainty, Check, EVERY, Family, Finding, Party, Rule, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "truncated-final-event",
    family: Family::Event,
    summary: "a stream ended in the middle of an event",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: EVERY,
    suppresses: &[],
    thresholds: &[],
    remedy: "servers and proxies: flush whole events before closing; for the client a resume is right",
    page: include_str!("truncated_final_event.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    for &index in &case.session.exchanges {
        let exchange = case.exchange(index);
        // A body that the capture cut short says nothing about the wire.
        let log = match &exchange.response {
            Body::Complete(Content::Events(log)) | Body::Partial(Content::Events(log), Missing::CutOff) => log,
            _ => continue,
        };
        let Some(tail) = log.tail.as_ref().filter(|t| t.message.is_none() && (t.has_data || t.id.is_some())) else {
            continue;
        };
        if exchange.end == End::Open || case.client_closed(index) || log.rebuilt {
            continue;
        }
        let clean = exchange.end == End::Clean;
        let stream = case.stream_of(index);
        let request = stream.and_then(|s| case.stream(s).requests.first().copied());
        let how = if clean { "closed cleanly" } else { "ended" };
        let message = format!(
            "the stream {how} in the middle of an event, which clients must discard ({} bytes)",
            tail.end.saturating_sub(tail.start)
        );
        // Its ordinal is that of the block which it would have become.
        let finding = case
            .finding(
                &RULE,
                Party::Unknown,
                message,
                Locus::event(index, log.events.len() as u32),
                "an event without its end",
            )
            .of_request(request)
            .of_stream(stream)
            .with_cursor(tail.id)
            .severity(if clean { Severity::Error } else { Severity::Warning });
        found.push(if exchange.end == End::Unknown {
            finding.assuming(Certainty::Likely, "the recorder kept the whole body")
        } else {
            finding
        });
    }
}
