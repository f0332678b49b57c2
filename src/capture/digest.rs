//! From a raw exchange to facts, the same way for every format.

use super::{Context, RawExchange};
use crate::model::{Exchange, Vantage};
use std::{
    collections::HashSet,
    sync::{Arc, RwLock},
};

/// Strings that repeat, one allocation each.
#[derive(Default)]
pub struct Names(RwLock<HashSet<Arc<str>>>);

impl Names {
    /// The shared copy of a text.
    pub fn get(&self, text: &str) -> Arc<str> {
        if let Ok(known) = self.0.read()
            && let Some(name) = known.get(text)
        {
            return Arc::clone(name);
        }
        let name: Arc<str> = text.into();
        if let Ok(mut known) = self.0.write()
            && known.len() < 65_536
        {
            known.insert(Arc::clone(&name));
        }
        name
    }
}

/// The facts of one exchange; none where it cannot be MCP.
pub fn exchange(_context: &Context<'_>, _raw: &RawExchange<'_>, _vantage: Vantage) -> Option<Exchange> {
    None
}
