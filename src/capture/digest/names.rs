//! Strings that repeat (endpoints, methods, tool names), one allocation each.

use std::{
    collections::HashSet,
    sync::{Arc, RwLock},
};

/// How many different strings are shared; more than these are hostile, and get an allocation each.
const MOST: usize = 65_536;

/// A set of shared strings.
#[derive(Debug, Default)]
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
            && known.len() < MOST
        {
            known.insert(Arc::clone(&name));
        }
        name
    }
}
