//! Which exchanges belong together: session ids first, then clients, split at each `initialize`.

use crate::model::{Exchange, Message, MessageKind, Method, SessionId, Transport};
use foldhash::HashMap;
use std::sync::Arc;

/// The exchanges of one session, before anything is known of it.
#[derive(Debug)]
pub struct Seed {
    /// The session id, where there is one.
    pub id: Option<SessionId>,
    /// The endpoint; of a legacy session that of its GET.
    pub endpoint: Arc<str>,
    /// The transport.
    pub transport: Transport,
    /// Hash of what tells its client from others.
    pub scope: u64,
    /// Which of several sessions of one key it is.
    pub ordinal: u32,
    /// Several `initialize` answers issued the id.
    pub placeholder: bool,
    /// Indices of its exchanges, in order of start.
    pub exchanges: Vec<u32>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    endpoint: Arc<str>,
    transport: u8,
    session: u64,
    scope: u64,
    ordinal: u32,
}

/// What tells one client from another: authorization, else address and User-Agent.
pub fn client_scope(exchange: &Exchange) -> u64 {
    let agent = exchange.headers.user_agent.as_deref().unwrap_or_default();
    let place = exchange.headers.auth.or(exchange.at.client).unwrap_or_default();
    let mut hash = place ^ 0xcbf2_9ce4_8422_2325;
    if exchange.headers.auth.is_none() {
        for byte in agent.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

/// The exchange is a client's `initialize`.
pub fn initializes(exchange: &Exchange) -> bool {
    exchange.messages().iter().any(|m: &Message| m.kind == MessageKind::Request && m.is("initialize"))
}

/// Where legacy sessions post to, and which GET endpoint each address belongs to.
fn legacy_posts(exchanges: &[Exchange]) -> HashMap<Arc<str>, Arc<str>> {
    let announced = exchanges.iter().filter_map(|x| Some((Arc::clone(x.announces.as_ref()?), Arc::clone(&x.endpoint))));
    announced.collect()
}

/// Ids that several `initialize` answers issued, to clients that sent none: how many did.
fn issues(exchanges: &[Exchange]) -> HashMap<(Arc<str>, u64), u32> {
    let mut counts = HashMap::default();
    for exchange in exchanges.iter().filter(|x| initializes(x) && x.session.is_none()) {
        if let Some(id) = &exchange.issued {
            *counts.entry((Arc::clone(&exchange.endpoint), id.hash)).or_insert(0) += 1;
        }
    }
    counts
}

/// Groups exchanges, which are in order of start, into sessions, in order of their first exchange.
pub fn sessions(exchanges: &[Exchange]) -> Vec<Seed> {
    let legacy = legacy_posts(exchanges);
    let issues = issues(exchanges);
    let mut seeds: Vec<Seed> = Vec::new();
    let mut by_key: HashMap<Key, usize> = HashMap::default();
    // The running ordinal of ids that were issued several times, and of clients without ids.
    let mut ordinals: HashMap<(Arc<str>, u64, u64), u32> = HashMap::default();
    for (index, exchange) in exchanges.iter().enumerate() {
        let starts = initializes(exchange);
        let scope = client_scope(exchange);
        let mut endpoint = Arc::clone(&exchange.endpoint);
        // An `initialize` belongs to the session that it begins, also where it still carries the id of another one.
        let begun = if starts { exchange.issued.as_ref() } else { None };
        let mut id = begun.or(exchange.session.as_ref());
        let mut transport = Transport::Streamable;
        if exchange.method == Method::Message {
            transport = Transport::Messages;
        } else if exchange.announces.is_some()
            || legacy.contains_key(&exchange.endpoint) && exchange.method == Method::Post && id.is_none()
        {
            transport = Transport::LegacySse;
            endpoint = legacy.get(&endpoint).filter(|_| exchange.announces.is_none()).cloned().unwrap_or(endpoint);
            id = exchange.legacy_session.as_deref();
        } else if exchange.is_modern() && !starts {
            transport = Transport::Modern;
            id = None;
        }
        let placeholder = id.is_some_and(|id| issues.get(&(Arc::clone(&endpoint), id.hash)).is_some_and(|n| *n > 1));
        let counted = placeholder || id.is_none();
        let session = id.map_or(0, |id| id.hash);
        let group_scope = if id.is_some() { 0 } else { scope };
        let ordinal = if counted && transport != Transport::Messages {
            let running = ordinals.entry((Arc::clone(&endpoint), session, group_scope)).or_insert(0);
            let splits = match transport {
                Transport::LegacySse => exchange.announces.is_some(),
                _ => starts && exchange.session.is_none(),
            };
            *running += u32::from(splits);
            *running
        } else {
            0
        };
        let key =
            Key { endpoint: Arc::clone(&endpoint), transport: transport as u8, session, scope: group_scope, ordinal };
        let seed = *by_key.entry(key).or_insert_with(|| {
            seeds.push(Seed {
                id: id.cloned(),
                endpoint,
                transport,
                scope,
                ordinal,
                placeholder,
                exchanges: Vec::new(),
            });
            seeds.len() - 1
        });
        seeds[seed].exchanges.push(index as u32);
    }
    seeds
}
