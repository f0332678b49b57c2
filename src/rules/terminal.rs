//! Rules about responses: duplicates, conflicts, losses.

pub mod conflicting_terminals;
pub mod duplicate_request_id;
pub mod duplicate_terminal;
pub mod event_redelivered;
pub mod message_after_terminal;
pub mod message_broadcast;
pub mod orphan_response;
pub mod request_never_answered;
pub mod request_reposted;
pub mod response_after_cancel;
pub mod response_on_wrong_stream;
pub mod side_effecting_call_reissued;
