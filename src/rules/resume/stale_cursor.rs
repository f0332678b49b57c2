//! stale-cursor: the cursor is older than the newest id that the client had received on that stream.

use crate::{
    evidence::Locus,
    model::{Receipt, Resolved, Resumption, Stream},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};
use foldhash::HashMap;

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

/// Connections of one stream that delivered ids, in order: the exchange, and the ordinals of its events that have one.
struct Delivered(Vec<(u32, Vec<u32>)>);

impl Delivered {
    fn new(case: &Case<'_>, stream: &Stream) -> Self {
        let legs = stream.legs.iter().filter_map(|leg| {
            let events = case.log(leg.exchange)?.events.iter().enumerate();
            let with_id: Vec<u32> = events.filter_map(|(n, e)| e.explicit_id().map(|_| n as u32)).collect();
            (!with_id.is_empty()).then_some((leg.exchange, with_id))
        });
        Self(legs.collect())
    }

    /// The newest event with an id that had arrived before a resume, and whether its receipt is proven.
    fn newest_before(&self, case: &Case<'_>, resume: u32) -> Option<(u32, u32, Receipt)> {
        let sent = case.exchange(resume).sent;
        let before = self.0.partition_point(|(exchange, _)| *exchange < resume);
        self.0.get(..before)?.iter().rev().take(MOST_CONNECTIONS).find_map(|(exchange, events)| {
            let received = |event: u32| {
                let arrived = case.capture.event_time(*exchange, event);
                let in_time = arrived.zip(sent).is_none_or(|(arrived, sent)| arrived <= sent);
                let receipt = case.capture.clock.receipt(&case.capture.exchanges, *exchange, event);
                (in_time && receipt != Receipt::Disproven).then_some(receipt)
            };
            // What arrived is a beginning of the body.
            let arrived = events.partition_point(|event| received(*event).is_some());
            let newest = *events.get(arrived.checked_sub(1)?)?;
            Some((*exchange, newest, received(newest)?))
        })
    }
}

/// How many connections before a resume are looked at for one that had brought something by then.
const MOST_CONNECTIONS: usize = 64;

/// Where the cursor itself was delivered last before the resume.
fn own(case: &Case<'_>, resumption: &Resumption) -> Option<(u32, u32)> {
    let deliveries = case.capture.index.deliveries(resumption.cursor.id);
    let before = deliveries.get(..deliveries.partition_point(|(x, _)| *x < resumption.exchange))?;
    before.iter().rev().find(|(x, _)| case.capture.homes[*x as usize] == case.index).copied()
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    let mut delivered: HashMap<u32, Delivered> = HashMap::default();
    for (resumption, _) in case.resumes().filter(|(r, _)| r.resolved == Resolved::Exact) {
        let Some((number, stream)) = case.meant(resumption) else { continue };
        let Some(own) = own(case, resumption) else { continue };
        let delivered = delivered.entry(number).or_insert_with(|| Delivered::new(case, stream));
        let Some((exchange, event, receipt)) = delivered.newest_before(case, resumption.exchange) else { continue };
        let newest = case.log(exchange).and_then(|log| log.events.get(event as usize)?.explicit_id());
        if newest == Some(resumption.cursor.id) || (exchange, event) <= own {
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
