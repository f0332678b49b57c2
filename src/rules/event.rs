//! Rules about event ids and the framing of events.

pub mod buffered_stream;
pub mod cursor_unusable;
pub mod event_id_not_unique;
pub mod priming_missing;
pub mod priming_to_old_client;
pub mod truncated_final_event;
pub mod undecodable_message;
