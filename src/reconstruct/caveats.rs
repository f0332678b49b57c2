//! What the capture does not show: shortcomings that reconstruction found, counted by input.

use super::{Capture, Caveat, clock, hops::Differences};
use crate::model::{Body, Content, Exchange, MediaType, Method, Missing, Resolved, Transport};
use std::collections::BTreeMap;

/// Adds the caveats of exchanges and sessions to the capture.
pub fn gather(capture: &mut Capture, folded: &BTreeMap<u32, (u64, Differences)>) {
    for (source, (count, differences)) in folded {
        let message = "this traffic was recorded at two points; what was seen twice counts once";
        let message = format!("{message}{}", differences.words());
        capture.caveats.insert(("duplicate-viewpoint", *source), Caveat { count: *count, first: None, message });
    }
    let mut found: Vec<(&'static str, u32, &'static str)> = Vec::new();
    for (index, exchange) in capture.exchanges.iter().enumerate() {
        of_exchange(exchange, &mut |name, message| found.push((name, index as u32, message)));
    }
    for session in &capture.sessions {
        let first = session.exchanges.first().copied().unwrap_or(0);
        if session.placeholder {
            found.push(("placeholder-ids", first, "one session id was issued by several initialize responses: sessions are split by initialize and time, and session checks are limited"));
        }
        let streamable = session.transport == Transport::Streamable;
        let unknown_first =
            session.resumptions.first().is_some_and(|r| r.resolved == Resolved::Unknown && r.exchange == first);
        if streamable
            && !session.complete_from_start
            && (session.id.is_some() || unknown_first || !session.orphans.is_empty())
        {
            found.push((
                "begins-mid-session",
                first,
                "a session has no initialize in the capture: what came before is not known",
            ));
        }
    }
    for (name, index, message) in found {
        let source = capture.exchanges[index as usize].at.source;
        let caveat = capture.caveats.entry((name, source)).or_insert_with(|| Caveat {
            count: 0,
            first: Some(index),
            message: message.to_owned(),
        });
        caveat.count += 1;
    }
}

fn of_exchange(exchange: &Exchange, found: &mut dyn FnMut(&'static str, &'static str)) {
    let stream = exchange.headers.content_type == MediaType::EventStream;
    match &exchange.response {
        Body::NotCaptured(_) if stream || (exchange.method == Method::Post && exchange.status == Some(200)) => {
            found(
                "body-not-captured",
                "a response body was not recorded; that is not an empty body, and nothing is concluded from it",
            );
        }
        Body::Partial(Content::Events(log), Missing::NotRecorded | Missing::Sanitised) if log.rebuilt => {
            found("body-not-captured", "only the recorder's list of events is there, not the bytes of the body");
        }
        Body::Partial(_, why) if *why != Missing::CutOff => {
            found("body-truncated", "the capture holds only the beginning of a body");
        }
        _ => {}
    }
    if exchange.method == Method::Post && matches!(exchange.request, Body::NotCaptured(_)) {
        found("body-not-captured", "a request body was not recorded: which messages it carried is not known");
    }
    let Some(log) = clock::log(exchange) else { return };
    if log.tail.as_ref().is_some_and(|t| t.message.is_some()) {
        found(
            "undispatched-tail",
            "the last SSE block is complete but lacks its blank line: by the standard it is discarded, some clients deliver it",
        );
    }
    if log.events.len() > 1 && (exchange.sent.is_none() || exchange.coarse_times) {
        found("no-or-coarse-time", "times are missing or count whole seconds: what depends on them was not checked");
    }
}
