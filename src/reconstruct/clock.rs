//! When an event arrived, as well as the capture can say, and whether the client got it.

use super::index::CursorIndex;
use crate::model::{Body, Content, End, EventLog, Exchange, Missing, Receipt, Side, Time, Vantage};
use foldhash::HashMap;

/// Estimates of event times: own times first; else between head and end of the body, corrected by causality.
#[derive(Debug, Default)]
pub struct Clock {
    /// By exchange: up to this event, everything had arrived by that time, since a resume used its id. In order of
    /// events, and so of times: a later event cannot have arrived before an earlier one.
    caps: HashMap<u32, Vec<(u32, Time)>>,
}

impl Clock {
    /// Learns from cursors: an id is received before it is sent back.
    pub fn new(exchanges: &[Exchange], index: &CursorIndex) -> Self {
        let mut caps: HashMap<u32, Vec<(u32, Time)>> = HashMap::default();
        for (at, exchange) in exchanges.iter().enumerate() {
            let (Some(cursor), Some(sent)) = (&exchange.cursor, exchange.sent) else { continue };
            // The last delivery before the resume, in the same session.
            let deliveries = index.deliveries(cursor.id);
            let before = deliveries.partition_point(|(x, _)| (*x as usize) < at);
            let owner = deliveries[..before].iter().rev().take(64).find(|(x, _)| {
                let owner = &exchanges[*x as usize];
                owner.endpoint == exchange.endpoint && (owner.session.is_none() || owner.session == exchange.session)
            });
            if let Some((owner, event)) = owner {
                caps.entry(*owner).or_default().push((*event, sent));
            }
        }
        for caps in caps.values_mut() {
            caps.sort_unstable();
            let mut earliest = Time(i64::MAX);
            for (_, time) in caps.iter_mut().rev() {
                earliest = earliest.min(*time);
                *time = earliest;
            }
            caps.dedup_by_key(|(event, _)| *event);
        }
        Self { caps }
    }

    /// The first use of the id of this event, or of a later one of the same body, as a cursor.
    fn cap(&self, exchange: u32, event: u32) -> Option<Time> {
        let caps = self.caps.get(&exchange)?;
        caps.get(caps.partition_point(|(used, _)| *used < event)).map(|(_, time)| *time)
    }

    /// When one event of an exchange's response arrived at the latest.
    pub fn event(&self, exchanges: &[Exchange], exchange: u32, event: u32) -> Option<Time> {
        let facts = &exchanges[exchange as usize];
        if let Some(Content::Events(log)) = facts.response.content()
            && let Some(time) = log.time_of(event)
        {
            return Some(time);
        }
        let estimate = facts.ended.or(facts.head).or(facts.sent);
        match (estimate, self.cap(exchange, event)) {
            (Some(estimate), Some(cap)) => Some(estimate.min(cap)),
            (estimate, cap) => estimate.or(cap),
        }
    }

    /// When a body that is no event stream arrived.
    pub fn answer(exchange: &Exchange) -> Option<Time> {
        exchange.ended.or(exchange.head).or(exchange.sent)
    }

    /// Whether the client got one event of a response.
    pub fn receipt(&self, exchanges: &[Exchange], exchange: u32, event: u32) -> Receipt {
        let facts = &exchanges[exchange as usize];
        if self.cap(exchange, event).is_some() {
            return Receipt::Proven;
        }
        let Some(Content::Events(log)) = facts.response.content() else { return Self::whole_receipt(facts) };
        match log.acknowledged {
            Some(acknowledged) if event < acknowledged => Receipt::Proven,
            Some(_) if matches!(facts.end, End::Abrupt(_)) => Receipt::Disproven,
            Some(_) => Receipt::Unknown,
            None if facts.vantage == Vantage::Client && (event as usize) < log.events.len() => Receipt::Proven,
            None => Receipt::Unknown,
        }
    }

    /// Whether the client got a body that is no event stream.
    pub fn whole_receipt(exchange: &Exchange) -> Receipt {
        match (&exchange.response, exchange.vantage) {
            (Body::Complete(_), Vantage::Client) => Receipt::Proven,
            _ => Receipt::Unknown,
        }
    }
}

/// The response ended on the wire, as far as was captured; a body that the *capture* cut short did not.
pub fn ended_on_wire(exchange: &Exchange) -> bool {
    let cut_by_capture = |why: Missing| !matches!(why, Missing::CutOff);
    !matches!(exchange.end, End::Open) && !exchange.response.lacks().is_some_and(cut_by_capture)
}

/// The client closed the connection itself.
pub fn client_closed(exchange: &Exchange) -> bool {
    exchange.end == End::Abrupt(Side::Client)
}

/// The log of an event stream response.
pub fn log(exchange: &Exchange) -> Option<&EventLog> {
    match exchange.response.content()? {
        Content::Events(log) => Some(log),
        _ => None,
    }
}
