//! Rules about sessions and the namespaces of cursors.

pub mod cursor_from_legacy_sse;
pub mod cursor_from_other_session;
pub mod cursor_without_session;
pub mod dead_session_used;
