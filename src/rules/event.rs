//! Rules about event ids and the framing of events.

pub mod event_id_not_unique;
pub mod truncated_final_event;
