//! Whether an answer came from something between client and server (rules.md, intermediary-404).

use super::{Capture, hops::Hops};
use crate::model::{Content, Exchange, HeaderFlags, MediaType};
use foldhash::{HashMap, HashSet};
use std::sync::Arc;

/// `Server` and `X-Powered-By` that an endpoint's good answers always carry, where at least two do.
#[derive(Debug, Default)]
pub struct Usual {
    habits: HashMap<Arc<str>, [Habit; 2]>,
    /// Answers, by source and entry, that are not those which the server gave.
    replaced: HashSet<(u32, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Habit {
    value: Option<u64>,
    seen: u32,
    broken: bool,
}

impl Habit {
    fn learn(&mut self, value: Option<u64>) {
        self.broken |= self.seen > 0 && self.value != value;
        self.value = value;
        self.seen += 1;
    }

    /// The value differs from what is otherwise always sent.
    fn is_broken_by(&self, value: Option<u64>) -> bool {
        self.seen >= 2 && !self.broken && self.value.is_some() && self.value != value
    }
}

impl Usual {
    /// Learns from all good answers.
    pub fn new(exchanges: &[Exchange], hops: &Hops) -> Self {
        let mut usual: HashMap<Arc<str>, [Habit; 2]> = HashMap::default();
        for exchange in exchanges.iter().filter(|x| x.accepted() && !x.headers.has(HeaderFlags::NO_HEADERS)) {
            let habits = usual.entry(Arc::clone(&exchange.endpoint)).or_default();
            habits[0].learn(exchange.headers.server);
            habits[1].learn(exchange.headers.powered_by);
        }
        let other = |x: &&Exchange| hops.of(x).is_some_and(|(_, behind)| behind.exchange.status != x.status);
        let replaced = exchanges.iter().filter(other).map(|x| (x.at.source, x.at.entry)).collect();
        Self { habits: usual, replaced }
    }

    /// A gateway's mark on a refusal, HTML, or the lack of a header that this server otherwise always sends; never on a
    /// JSON body, which gateways do not write in JSON-RPC.
    pub fn is_from_gateway(&self, exchange: &Exchange) -> bool {
        if self.replaced.contains(&(exchange.at.source, exchange.at.entry)) {
            return exchange.status.is_some_and(|s| s >= 400);
        }
        let headers = &exchange.headers;
        if headers.has(HeaderFlags::NO_HEADERS) || exchange.status.is_none_or(|s| s < 400) {
            return false;
        }
        let json = headers.content_type == MediaType::Json
            || matches!(exchange.response.content(), Some(Content::Messages(_)))
            || matches!(exchange.response.content(), Some(Content::Other(other)) if other.json);
        if json {
            return false;
        }
        let html = headers.content_type == MediaType::Html
            || matches!(exchange.response.content(), Some(Content::Other(other)) if other.html);
        let habits = self.habits.get(&exchange.endpoint).copied().unwrap_or_default();
        let differs = habits[0].is_broken_by(headers.server) || habits[1].is_broken_by(headers.powered_by);
        // A gateway in front of every answer marks the good ones too; its mark then says nothing about who answered.
        let always_marked =
            habits[0].seen > 0 && !habits[0].broken && habits[0].value == headers.server && headers.server.is_some();
        html || differs || (headers.has(HeaderFlags::GATEWAY_MARK) && !always_marked)
    }
}

impl Capture {
    /// As [`Usual::is_from_gateway`], for the servers of this capture.
    pub fn is_from_gateway(&self, exchange: &Exchange) -> bool {
        self.usual.is_from_gateway(exchange)
    }
}
