//! Answers that were delivered again on resumed connections: where else in the run their payloads were delivered.

use super::clock;
use crate::model::{Direction, Exchange, Id128, Session};
use foldhash::{HashMap, HashSet};

/// How many places are kept for one payload: what more sessions share than that is nobody's own.
const MOST: usize = 64;

/// Deliveries by payload, restricted to payloads that some resumed connection brought.
#[derive(Debug, Default)]
pub struct Twins(HashMap<Id128, Vec<(u32, u32, u32)>>);

impl Twins {
    /// Looks through all sessions once, if anybody resumed at all.
    pub fn new(exchanges: &[Exchange], sessions: &[Session]) -> Self {
        let resumed =
            sessions.iter().flat_map(|s| &s.resumptions).filter_map(|r| clock::log(&exchanges[r.exchange as usize]));
        let replies = resumed.flat_map(|log| &log.messages).filter(|(_, m)| m.is_reply());
        let wanted: HashSet<Id128> = replies.map(|(_, m)| m.payload).collect();
        let mut places: HashMap<Id128, Vec<(u32, u32, u32)>> = HashMap::default();
        if wanted.is_empty() {
            return Self(places);
        }
        for (session, facts) in sessions.iter().enumerate().filter(|(_, s)| s.id.is_some()) {
            let requests = facts.requests.iter().enumerate().filter(|(_, r)| r.direction == Direction::Client);
            for (request, facts) in requests {
                for (delivery, terminal) in
                    facts.terminals.iter().enumerate().filter(|(_, t)| wanted.contains(&t.payload))
                {
                    let known = places.entry(terminal.payload).or_default();
                    if known.len() < MOST {
                        known.push((session as u32, request as u32, delivery as u32));
                    }
                }
            }
        }
        Self(places)
    }

    /// Every delivery of a payload: session, request, and which of its deliveries.
    pub fn of(&self, payload: Id128) -> &[(u32, u32, u32)] {
        self.0.get(&payload).map_or(&[], Vec::as_slice)
    }
}
