//! stale-cursor: the cursor is older than the newest id that the client had received on that stream.

use crate::{
    evidence::Locus,
    model::{Receipt, Resolved, Resumption, Stream},
    reconstruct::clock::Clock,
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "stale-cursor",
    family: Family::Resume,
    summary: "a resume uses an older cursor than the newest one received, so events are replayed again",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[],
    remedy: "update the cursor on every event that has an id, priming and keep-alive included, before dispatching it",
    page: include_str!("stale_cursor.md"),
    check: Check::Session(check),
};

/// The newest id that was received before the resume, where it is not the cursor: exchange, event.
fn newer(case: &Case<'_>, resumption: &Resumption, stream: &Stream) -> Option<(u32, u32, Receipt)> {
    let sent = case.exchange(resumption.exchange).sent;
    let before = stream.legs.iter().rev().filter(|leg| leg.exchange < resumption.exchange);
    for leg in before {
        let Some(log) = case.log(leg.exchange) else { continue };
        for (event, fact) in log.events.iter().enumerate().rev() {
            let Some(id) = fact.explicit_id() else { continue };
            let event = event as u32;
            let arrived = case.capture.event_time(leg.exchange, event);
            if arrived.zip(sent).is_some_and(|(arrived, sent)| arrived > sent) {
                continue;
            }
            let receipt = receipt(&case.capture.clock, case, leg.exchange, event);
            if receipt == Receipt::Disproven {
                continue;
            }
            return (id != resumption.cursor.id).then_some((leg.exchange, event, receipt));
        }
    }
    None
}

fn receipt(clock: &Clock, case: &Case<'_>, exchange: u32, event: u32) -> Receipt {
    clock.receipt(&case.capture.exchanges, exchange, event)
}

/// Where the cursor itself was delivered last before the resume.
fn own(case: &Case<'_>, resumption: &Resumption) -> Option<(u32, u32)> {
    let deliveries = case.capture.index.deliveries(resumption.cursor.id);
    deliveries
        .iter()
        .rev()
        .find(|(x, _)| *x < resumption.exchange && case.capture.homes[*x as usize] == case.index)
        .copied()
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    for (resumption, _) in case.resumes().filter(|(r, _)| r.resolved == Resolved::Exact) {
        let Some((number, stream)) = case.meant(resumption) else { continue };
        let Some(own) = own(case, resumption) else { continue };
        let Some((exchange, event, receipt)) = newer(case, resumption, stream) else { continue };
        if (exchange, event) <= own {
            continue;
        }
        let repeated = resumption.answers.iter().filter(|(request, delivery)| {
            *delivery > 0 && case.request(*request).terminals[0].receipt == Receipt::Proven
        });
        let repeated: Vec<u32> = repeated.map(|(request, _)| *request).collect();
        let later_connection = exchange != own.0;
        let severity = match repeated.first() {
            Some(request) if case.request(*request).side_effecting => Severity::Error,
            Some(_) => Severity::Warning,
            None if later_connection && receipt == Receipt::Proven => Severity::Warning,
            None => Severity::Note,
        };
        let request = repeated.first().copied().or(stream.requests.first().copied());
        let message = "the cursor is older than the newest event id received on its stream".to_owned();
        let finding = case
            .finding(&RULE, Party::Client, message, Locus::request(resumption.exchange), "resumed with this cursor")
            .and(Locus::event(own.0, own.1), "where the cursor was delivered")
            .and(Locus::event(exchange, event), "a newer id, delivered before the resume")
            .of_request(request)
            .of_stream(number)
            .with_cursor(resumption.cursor.id)
            .severity(severity);
        found.push(if receipt == Receipt::Proven {
            finding
        } else {
            finding.assuming(
                Certainty::Likely,
                "the client received the newer id; this viewpoint only proves that it was sent",
            )
        });
    }
}
