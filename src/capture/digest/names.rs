//! Strings that repeat (endpoints, methods, tool names), one allocation each.

use foldhash::{HashMap, HashSet};
use std::sync::{Arc, RwLock};

/// How many different strings are shared; more than these are hostile, and get an allocation each.
const MOST: usize = 65_536;

/// The longest spelling of a place that is kept, in bytes.
const LONGEST: usize = 1024;

/// A set of shared strings, all made under one key.
#[derive(Debug, Default)]
pub struct Names {
    known: RwLock<HashSet<Arc<str>>>,
    /// Names of places by how they were written.
    places: RwLock<HashMap<Arc<str>, Arc<str>>>,
}

impl Names {
    /// The shared copy of a text.
    pub fn get(&self, text: &str) -> Arc<str> {
        if let Ok(known) = self.known.read()
            && let Some(name) = known.get(text)
        {
            return Arc::clone(name);
        }
        let name: Arc<str> = text.into();
        if let Ok(mut known) = self.known.write()
            && known.len() < MOST
        {
            known.insert(Arc::clone(&name));
        }
        name
    }

    /// The shared name of a place (an URL without its query); `name` makes it when it is met first.
    pub fn place(&self, written: &str, name: impl FnOnce() -> String) -> Arc<str> {
        if let Ok(places) = self.places.read()
            && let Some(name) = places.get(written)
        {
            return Arc::clone(name);
        }
        let name = self.get(&name());
        if let Ok(mut places) = self.places.write()
            && places.len() < MOST
            && written.len() <= LONGEST
        {
            places.insert(written.into(), Arc::clone(&name));
        }
        name
    }
}
