//! Rules about the dynamics of coming back.

pub mod conflict_loop;
pub mod idle_cut;
pub mod reconnect_storm;
pub mod retry_ignored;
pub mod server_close_without_retry;
pub mod standalone_streams_evict_each_other;
pub mod terminal_replay_loop;
