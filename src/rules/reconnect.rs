//! Rules about the dynamics of coming back.

pub mod reconnect_storm;
pub mod retry_ignored;
pub mod terminal_replay_loop;
