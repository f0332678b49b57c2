//! Rules about sessions and the namespaces of cursors.

pub mod cursor_from_legacy_sse;
pub mod cursor_from_other_session;
pub mod cursor_without_session;
pub mod dead_session_used;
pub mod legacy_fallback_after_404;
pub mod no_reinitialize_after_404;
pub mod session_abandoned_for_get_stream;
pub mod session_flapping;
pub mod session_header_violation;
pub mod session_resurrected;
pub mod silent_session_reset;
pub mod unknown_session_not_404;
