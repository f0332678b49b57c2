//! From exchanges to sessions, streams, requests and resumptions.
//!
//! All exchanges of a run are put in one order ([`order`]), recordings of one traffic are folded ([`fold`]), grouped into
//! sessions ([`scope`]), and each session is built on its own, in parallel ([`build`]): its requests, then its streams and
//! what was delivered on them ([`deliver`]), each cursor resolved to a stream ([`resolve`]), and what became of it ([`settle`]).

mod build;
mod caveats;
pub mod clock;
mod deliver;
mod fold;
mod gateway;
pub mod hops;
mod index;
mod introduce;
mod order;
mod progress;
mod resolve;
mod scope;
mod settle;
mod twins;

pub use introduce::answers;
pub use resolve::authority;
pub use scope::{client_scope, initializes};
pub use settle::is_open_stream;

use crate::model::{Exchange, Session, Time, ToolHints};
use build::Run;
use clock::Clock;
use foldhash::HashMap;
use index::CursorIndex;
use rayon::prelude::*;
use std::{collections::BTreeMap, sync::Arc};

/// A shortcoming of the capture that reconstruction found: how often, where first (index of an exchange), and in words.
#[derive(Clone, Debug)]
pub struct Caveat {
    /// How often.
    pub count: u64,
    /// The first exchange that it concerns.
    pub first: Option<u32>,
    /// What it means.
    pub message: String,
}

/// Everything that a run's inputs say: all inputs of a run are one capture.
#[derive(Debug, Default)]
pub struct Capture {
    /// All exchanges in order of start; folded ones are left out.
    pub exchanges: Vec<Exchange>,
    /// The sessions, in order of their start.
    pub sessions: Vec<Session>,
    /// Shortcomings of the capture, by name and source (index of the input).
    pub caveats: BTreeMap<(&'static str, u32), Caveat>,
    /// By exchange: index of its session.
    pub homes: Vec<u32>,
    /// Annotations of tools, by endpoint and name.
    pub tools: HashMap<Arc<str>, HashMap<Arc<str>, ToolHints>>,
    /// Event times and receipt.
    pub clock: Clock,
    /// Where cursors were issued.
    pub index: CursorIndex,
    /// Where answers that came again on resumed connections were delivered.
    pub twins: twins::Twins,
    /// What servers otherwise always send, by endpoint.
    usual: gateway::Usual,
    /// What was on the server's side of something that stands between.
    pub hops: hops::Hops,
    /// The exchanges that began sessions with an `initialize`, by endpoint and client, in order.
    beginnings: HashMap<(Arc<str>, u64), Vec<u32>>,
    /// The latest moment that anything was seen at.
    ends: Option<Time>,
}

impl Capture {
    /// One exchange.
    pub fn exchange(&self, index: u32) -> &Exchange {
        &self.exchanges[index as usize]
    }

    /// What a recording nearer to the server shows of an exchange, where it differs; with the index that evidence names
    /// it by.
    pub fn behind(&self, exchange: &Exchange) -> Option<(u32, &hops::Behind)> {
        let (number, behind) = self.hops.of(exchange)?;
        Some((u32::try_from(self.exchanges.len()).ok()?.checked_add(number)?, behind))
    }

    /// The exchange that evidence names: one of the run, or, with an index behind the last of those, the other side of one.
    pub fn witness(&self, index: u32) -> Option<&Exchange> {
        let beyond = (index as usize).checked_sub(self.exchanges.len());
        match beyond.and_then(|number| u32::try_from(number).ok()) {
            None => self.exchanges.get(index as usize),
            Some(number) => self.hops.get(number).map(|behind| &behind.exchange),
        }
    }

    /// When an event arrived, as well as the capture can say.
    pub fn event_time(&self, exchange: u32, event: u32) -> Option<Time> {
        self.clock.event(&self.exchanges, exchange, event)
    }

    /// The first `initialize` of a client after an exchange, of those that began a session.
    pub fn initialized_after(&self, endpoint: &Arc<str>, client_scope: u64, exchange: u32) -> Option<u32> {
        let all = self.beginnings.get(&(Arc::clone(endpoint), client_scope))?;
        all.get(all.partition_point(|x| *x <= exchange)).copied()
    }

    /// The latest moment of the capture.
    pub fn ends(&self) -> Option<Time> {
        self.ends
    }
}

/// Reconstructs what the exchanges of a run mean.
pub fn capture(mut exchanges: Vec<Exchange>) -> Capture {
    order::sort(&mut exchanges);
    let folded = fold::fold(&mut exchanges);
    if !folded.sources.is_empty() {
        order::sort(&mut exchanges);
    }
    let index = CursorIndex::new(&exchanges);
    let clock = Clock::new(&exchanges, &index);
    let seeds = scope::sessions(&exchanges);
    let mut homes = vec![0; exchanges.len()];
    for (number, seed) in seeds.iter().enumerate() {
        for &exchange in &seed.exchanges {
            homes[exchange as usize] = number as u32;
        }
    }
    let tools = tools(&exchanges);
    let initialized = exchanges.iter().enumerate().filter(|(_, x)| initializes(x) && x.session.is_none());
    let initialized = initialized.map(|(i, x)| ((Arc::clone(&x.endpoint), client_scope(x)), i as u32)).collect();
    let usual = gateway::Usual::new(&exchanges, &folded.hops);
    let with_sessions = seeds.iter().filter(|s| s.id.is_some()).map(|s| Arc::clone(&s.endpoint)).collect();
    let run = Run {
        exchanges: &exchanges,
        clock: &clock,
        index: &index,
        seeds: &seeds,
        homes: &homes,
        tools: &tools,
        initialized: &initialized,
        usual: &usual,
        with_sessions: &with_sessions,
    };
    let mut sessions: Vec<Session> = seeds.par_iter().map(|seed| build::session(&run, seed)).collect();
    name_owners(&mut sessions);
    let ends = exchanges.iter().filter_map(last_seen).max();
    let twins = twins::Twins::new(&exchanges, &sessions);
    let mut capture =
        Capture { twins, exchanges, sessions, homes, tools, clock, index, usual, ends, ..Capture::default() };
    capture.hops = folded.hops;
    capture.beginnings = beginnings(&capture);
    caveats::gather(&mut capture, &folded.sources);
    capture
}

fn beginnings(capture: &Capture) -> HashMap<(Arc<str>, u64), Vec<u32>> {
    let mut beginnings: HashMap<(Arc<str>, u64), Vec<u32>> = HashMap::default();
    for session in &capture.sessions {
        let first = session.exchanges.first().filter(|x| initializes(capture.exchange(**x)));
        let Some(&first) = first else { continue };
        beginnings.entry((Arc::clone(&session.endpoint), session.client_scope)).or_default().push(first);
    }
    for all in beginnings.values_mut() {
        all.sort_unstable();
    }
    beginnings
}

/// When something of an exchange was seen last: events of a stream that is still open count.
fn last_seen(exchange: &Exchange) -> Option<Time> {
    let event = clock::log(exchange).and_then(|log| log.times.last().copied());
    exchange.ended.or(exchange.head).or(exchange.sent).max(event)
}

/// Cursors of other sessions were resolved to an exchange; now that all sessions are built, to its stream.
fn name_owners(sessions: &mut [Session]) {
    let mut owners = Vec::new();
    let mut streams: HashMap<u32, HashMap<u32, u32>> = HashMap::default();
    for (session, facts) in sessions.iter().enumerate() {
        for (number, resumption) in facts.resumptions.iter().enumerate() {
            let Some((owner, exchange)) = resumption.owner else { continue };
            let streams = streams.entry(owner).or_insert_with(|| streams_by_exchange(&sessions[owner as usize]));
            owners.push((session, number, streams.get(&exchange).map(|stream| (owner, *stream))));
        }
    }
    for (session, number, owner) in owners {
        sessions[session].resumptions[number].owner = owner;
    }
}

/// The stream that each exchange of a session is a connection of.
fn streams_by_exchange(session: &Session) -> HashMap<u32, u32> {
    let streams = session.streams.iter().enumerate();
    streams.flat_map(|(number, s)| s.legs.iter().map(move |leg| (leg.exchange, number as u32))).collect()
}

/// The annotations of every captured `tools/list`; of several, the last one counts.
fn tools(exchanges: &[Exchange]) -> HashMap<Arc<str>, HashMap<Arc<str>, ToolHints>> {
    let mut tools: HashMap<Arc<str>, HashMap<Arc<str>, ToolHints>> = HashMap::default();
    for exchange in exchanges {
        for detail in answers(exchange).filter_map(|m| m.detail.as_ref()) {
            for hints in &detail.tools {
                tools.entry(Arc::clone(&exchange.endpoint)).or_default().insert(Arc::clone(&hints.name), hints.clone());
            }
        }
    }
    tools
}
