//! Real texts of event ids, for runs whose user asked for them.

use crate::model::{Content, EventFact, EventId, Exchange};
use foldhash::HashMap;
use std::sync::Arc;

/// The texts behind pseudonyms; empty unless real ids are shown.
#[derive(Debug, Default)]
pub struct IdTexts(HashMap<EventId, Arc<str>>);

impl IdTexts {
    /// Gathers the texts that digestion kept, if they are wanted at all.
    pub fn of<'e>(wanted: bool, exchanges: impl IntoIterator<Item = &'e Exchange>) -> Self {
        let mut texts = HashMap::default();
        for exchange in exchanges.into_iter().filter(|_| wanted) {
            if let Some((id, text)) = exchange.cursor.as_ref().and_then(|c| Some((c.id, c.text.as_ref()?))) {
                texts.insert(id, Arc::clone(text));
            }
            if let Some(Content::Events(log)) = exchange.response.content() {
                for (event, text) in &log.id_texts {
                    if let Some(id) = log.events.get(*event as usize).and_then(EventFact::explicit_id) {
                        texts.insert(id, Arc::clone(text));
                    }
                }
            }
        }
        Self(texts)
    }

    /// The real text if it is shown, else the pseudonym.
    pub fn name(&self, id: EventId) -> String {
        self.0.get(&id).map_or_else(|| id.to_string(), ToString::to_string)
    }
}
