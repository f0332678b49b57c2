//! One event stream, rebuilt from its log.

use super::message;
use crate::{
    audit::IdTexts,
    model::{EventFact, EventFlags, EventKind, EventLog, Exchange, SessionId, Time},
};

/// The text of an event stream, and when its parts arrived.
pub struct Written {
    /// The text.
    pub text: String,
    /// Up to this offset it had arrived at that time.
    pub marks: Vec<(u64, Time)>,
    /// So many bytes of it the client provably received.
    pub received: Option<u64>,
}

/// The text of a session id, where the user asked for it, or else its pseudonym.
pub fn session_name(id: &SessionId) -> String {
    id.text.as_ref().map_or_else(|| id.to_string(), ToString::to_string)
}

/// Writes the blocks of a log.
pub fn events(exchange: &Exchange, log: &EventLog, texts: &IdTexts) -> Written {
    let (mut text, mut marks): (String, Vec<(u64, Time)>) = (String::new(), Vec::new());
    let mut received = log.acknowledged.map(|_| 0);
    for (event, fact) in log.events.iter().enumerate() {
        let event = u32::try_from(event).unwrap_or(u32::MAX);
        block(&mut text, exchange, log, event, fact, texts);
        text.push('\n');
        if log.acknowledged.is_some_and(|events| event < events) {
            received = Some(text.len() as u64);
        }
        if let Some(time) = log.time_of(event) {
            // One mark for all that arrived at once.
            match marks.last_mut() {
                Some((end, at)) if *at == time => *end = text.len() as u64,
                _ => marks.push((text.len() as u64, time)),
            }
        }
    }
    if let Some(tail) = &log.tail {
        if let Some(id) = tail.id {
            text.push_str(&format!("id: {}\n", texts.name(id)));
        }
        match &tail.message {
            Some(whole) => text.push_str(&format!("data: {}\n", message::text(whole))),
            None if tail.has_data => text.push_str("data: {\"redacted"),
            None => {}
        }
    }
    Written { text, marks, received }
}

fn block(out: &mut String, exchange: &Exchange, log: &EventLog, event: u32, fact: &EventFact, texts: &IdTexts) {
    if fact.flags.contains(EventFlags::RESETS_ID) {
        out.push_str("id:\n");
    }
    if let Some(id) = fact.explicit_id() {
        // An id that is the session's own stays that.
        let session = exchange.session.as_ref().or(exchange.issued.as_ref());
        let own = session.filter(|_| fact.flags.contains(EventFlags::ID_IS_SESSION)).map(session_name);
        out.push_str(&format!("id: {}\n", own.unwrap_or_else(|| texts.name(id))));
    }
    if fact.flags.contains(EventFlags::HAS_RETRY) {
        let at = log.retries.partition_point(|(e, _)| *e < event);
        let retry = log.retries.get(at).filter(|(e, _)| *e == event).map_or(0, |(_, ms)| *ms);
        out.push_str(&format!("retry: {retry}\n"));
    }
    if !fact.flags.contains(EventFlags::IS_MESSAGE_TYPE) {
        let name = match fact.kind {
            EventKind::Endpoint => "endpoint",
            _ if fact.flags.contains(EventFlags::IS_ERROR_TYPE) => "error",
            _ => "vendor",
        };
        out.push_str(&format!("event: {name}\n"));
    }
    let data = match fact.kind {
        EventKind::None if fact.flags.contains(EventFlags::COMMENT_ONLY) => {
            out.push_str(": comment\n");
            return;
        }
        EventKind::None => return,
        EventKind::Empty => {
            out.push_str("data:\n");
            return;
        }
        EventKind::EmptyObject => "{}".to_owned(),
        EventKind::Progress => message::progress(log.token_of(event), fact.payload),
        EventKind::Endpoint => announced(exchange),
        EventKind::Vendor | EventKind::Undecodable => format!("d_{:016x}", fact.payload),
        EventKind::Message | EventKind::Misnamed => log.messages_of(event).map(message::text).collect(),
        EventKind::Batch => format!("[{}]", log.messages_of(event).map(message::text).collect::<Vec<_>>().join(",")),
    };
    out.push_str(&format!("data: {data}\n"));
}

/// What the first event of a legacy stream announces.
fn announced(exchange: &Exchange) -> String {
    let session = exchange.legacy_session.as_ref().map(|id| format!("?sessionId={id}")).unwrap_or_default();
    format!("{}{session}", exchange.announces.as_deref().unwrap_or("/"))
}
