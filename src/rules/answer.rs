//! What the body of a refusal speaks of; hints only, since texts differ from SDK to SDK.

use crate::model::{Content, Exchange};

fn details(exchange: &Exchange) -> impl Iterator<Item = &crate::model::Detail> {
    crate::reconstruct::answers(exchange).filter_map(|m| m.detail.as_deref())
}

fn other(exchange: &Exchange) -> Option<&crate::model::OtherKind> {
    match exchange.response.content()? {
        Content::Other(other) => Some(other),
        _ => None,
    }
}

/// It says that a session header is missing.
pub fn speaks_of_missing_session(exchange: &Exchange) -> bool {
    details(exchange).any(|d| d.missing_session_words) || other(exchange).is_some_and(|o| o.missing_session_words)
}

/// It says that the session is not known (any more).
pub fn speaks_of_unknown_session(exchange: &Exchange) -> bool {
    details(exchange).any(|d| d.session_words) || other(exchange).is_some_and(|o| o.session_words)
}

/// It says that something is already there or busy.
pub fn says_busy(exchange: &Exchange) -> bool {
    details(exchange).any(|d| d.busy_words) || other(exchange).is_some_and(|o| o.busy_words)
}

/// The code of the first JSON-RPC error in the answer.
pub fn error_code(exchange: &Exchange) -> Option<i64> {
    crate::reconstruct::answers(exchange).find_map(crate::model::Message::error_code)
}
