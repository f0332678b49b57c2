//! cursor-unusable: an event id that no client can send back.

use crate::{
    evidence::Locus,
    model::EventFlags,
    rules::{Case, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "cursor-unusable",
    family: Family::Event,
    summary: "an event id resets the cursor or cannot travel in a header",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[],
    remedy: "servers: use short ids of visible ASCII, and no id field at all where an event has none",
    page: include_str!("cursor_unusable.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    for (number, stream) in case.session.streams.iter().enumerate() {
        for leg in &stream.legs {
            let Some(log) = case.log(leg.exchange) else { continue };
            let mut held = false;
            for (event, fact) in log.events.iter().enumerate() {
                // A reset takes a cursor away; where there was none it is harmless.
                let resets = fact.flags.contains(EventFlags::RESETS_ID) && held;
                let unusable = fact.flags.contains(EventFlags::UNUSABLE_ID);
                held = (held || fact.explicit_id().is_some()) && !fact.flags.contains(EventFlags::RESETS_ID);
                let (kind, words) = match (unusable, resets) {
                    (true, _) => ("unsendable", "an event id holds what a header cannot carry"),
                    (false, true) => {
                        ("reset", "an empty id resets the cursor: from here on the stream cannot be resumed")
                    }
                    (false, false) => continue,
                };
                let finding = case.finding(
                    &RULE,
                    Party::Server,
                    words.to_owned(),
                    Locus::event(leg.exchange, event as u32),
                    words,
                );
                let request = stream.requests.first().copied();
                found.push(
                    finding.kind(kind).of_request(request).of_stream(number as u32).with_cursor(fact.explicit_id()),
                );
            }
        }
    }
}
