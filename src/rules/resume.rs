//! Rules about the client's request to resume.

pub mod cursor_dropped_on_reconnect;
pub mod cursor_from_other_stream;
pub mod last_event_id_on_post;
pub mod rejected_cursor_reused;
pub mod resume_after_terminal;
pub mod resume_while_connected;
pub mod stale_cursor;
pub mod stream_abandoned;
pub mod unknown_cursor;
pub mod unresumable_drop;
