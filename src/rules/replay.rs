//! Rules about what the server did with a resume.

pub mod ambiguous_404_on_resume;
pub mod ambiguous_empty_replay;
pub mod empty_replay_after_terminal;
pub mod empty_replay_taken_as_success;
pub mod replay_from_other_session;
pub mod replay_from_other_stream;
pub mod replay_gap;
pub mod replay_includes_cursor;
pub mod resume_became_new_stream;
pub mod resume_black_hole;
pub mod resume_rejected;
pub mod resume_unexpected_status;
