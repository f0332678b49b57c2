//! Messages that a recording on the server's side shows, and that never reached the client.

use super::RULE;
use crate::{
    evidence::Locus,
    model::{EventFact, Message},
    reconstruct::hops,
    rules::{Case, Certainty, Finding, Party, Severity},
};
use foldhash::HashSet;

/// Reports connections on which something between server and client lost messages that no other connection brought.
pub(super) fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    let mut delivered: Option<HashSet<u64>> = None;
    for (number, stream) in case.session.streams.iter().enumerate() {
        for leg in &stream.legs {
            let Some((other, behind)) = case.capture.behind(case.exchange(leg.exchange)) else { continue };
            let far = &behind.exchange;
            let Some(log) = crate::reconstruct::clock::log(far) else { continue };
            let delivered = delivered.get_or_insert_with(|| all(case));
            let is_lost =
                |event: &u32| log.events.get(*event as usize).is_some_and(|e| !delivered.contains(&e.payload));
            let lost: Vec<u32> = hops::missing(case.exchange(leg.exchange), far).into_iter().filter(is_lost).collect();
            let Some(&first) = lost.first() else { continue };
            let answer = lost.iter().copied().find(|event| log.messages_of(*event).any(Message::is_reply));
            let what = if answer.is_some() { ", an answer among them" } else { "" };
            let message = format!("{} message(s) that the server sent were lost on the way{what}", lost.len());
            let finding = case
                .finding(
                    &RULE,
                    Party::Proxy,
                    message,
                    Locus::event(other, answer.unwrap_or(first)),
                    "sent, on the server's side",
                )
                .and(Locus::response(leg.exchange), "the same response on the client's side, without it")
                .kind("lost-between")
                .of_request(stream.requests.first().copied())
                .of_stream(number as u32)
                .with_cursor(leg.cursor)
                .remedy(
                    "proxies: hand on every event before ending a response; clients: resume with the last event's id",
                )
                .severity(if answer.is_some() { Severity::Error } else { Severity::Warning });
            found.push(if behind.one_clock {
                finding
            } else {
                finding.assuming(Certainty::Likely, "neither of the two recorders lost a message by itself")
            });
        }
    }
}

/// Every message that some connection of the session brought to the client.
fn all(case: &Case<'_>) -> HashSet<u64> {
    let logs = case.session.exchanges.iter().filter_map(|x| case.log(*x));
    logs.flat_map(|log| &log.events).filter(|e: &&EventFact| e.is_message()).map(|e| e.payload).collect()
}
