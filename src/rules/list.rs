//! The list of all rules, by family. A new rule is a line here.

use super::{Rule, event, http, reconnect, replay, resume, session, terminal};

/// All rules, in the order of evaluation.
pub static ALL: &[&Rule] = &[
    &event::event_id_not_unique::RULE,
    &event::truncated_final_event::RULE,
    &session::cursor_from_legacy_sse::RULE,
    &session::cursor_from_other_session::RULE,
    &session::cursor_without_session::RULE,
    &session::dead_session_used::RULE,
    &resume::cursor_dropped_on_reconnect::RULE,
    &resume::cursor_from_other_stream::RULE,
    &resume::last_event_id_on_post::RULE,
    &resume::rejected_cursor_reused::RULE,
    &resume::resume_after_terminal::RULE,
    &resume::stale_cursor::RULE,
    &resume::stream_abandoned::RULE,
    &resume::unknown_cursor::RULE,
    &resume::unresumable_drop::RULE,
    &replay::ambiguous_404_on_resume::RULE,
    &replay::ambiguous_empty_replay::RULE,
    &replay::empty_replay_after_terminal::RULE,
    &replay::empty_replay_taken_as_success::RULE,
    &replay::replay_from_other_session::RULE,
    &replay::replay_from_other_stream::RULE,
    &replay::resume_black_hole::RULE,
    &replay::resume_rejected::RULE,
    &terminal::conflicting_terminals::RULE,
    &terminal::duplicate_terminal::RULE,
    &terminal::request_never_answered::RULE,
    &terminal::side_effecting_call_reissued::RULE,
    &reconnect::reconnect_storm::RULE,
    &reconnect::retry_ignored::RULE,
    &reconnect::terminal_replay_loop::RULE,
    &http::legacy_mechanism_in_modern_era::RULE,
    &http::modern_request_lost::RULE,
];
