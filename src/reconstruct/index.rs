//! Where the cursors of a run were issued: an index of event ids, restricted to those that somebody resumed with.

use crate::model::{Content, EventId, Exchange};
use foldhash::{HashMap, HashSet};
use rayon::prelude::*;

/// Every delivery of an id that was used as a cursor: exchange and event, in order.
#[derive(Debug, Default)]
pub struct CursorIndex(HashMap<EventId, Vec<(u32, u32)>>);

impl CursorIndex {
    /// Looks through all event streams once, if there is any cursor at all.
    pub fn new(exchanges: &[Exchange]) -> Self {
        let cursors = exchanges.iter().filter_map(|x| x.cursor.as_ref());
        let wanted: HashSet<EventId> =
            cursors.flat_map(|c| std::iter::once(c.id).chain(c.normalised.iter().copied())).collect();
        if wanted.is_empty() {
            return Self::default();
        }
        let found: Vec<Vec<(EventId, u32, u32)>> = exchanges
            .par_iter()
            .enumerate()
            .map(|(index, exchange)| {
                let Some(Content::Events(log)) = exchange.response.content() else { return Vec::new() };
                let ids = log.events.iter().enumerate().filter_map(|(event, fact)| Some((fact.explicit_id()?, event)));
                let used = ids.filter(|(id, _)| wanted.contains(id));
                used.map(|(id, event)| (id, index as u32, event as u32)).collect()
            })
            .collect();
        let mut index: HashMap<EventId, Vec<(u32, u32)>> = HashMap::default();
        for (id, exchange, event) in found.into_iter().flatten() {
            index.entry(id).or_default().push((exchange, event));
        }
        Self(index)
    }

    /// The deliveries of an id, in order of exchange and event.
    pub fn deliveries(&self, id: EventId) -> &[(u32, u32)] {
        self.0.get(&id).map_or(&[], Vec::as_slice)
    }
}
