//! Two viewpoints of one exchange: what the recording nearer to the server shows, where the client got something else.

use super::{clock, introduce::answers};
use crate::model::{Body, Content, End, EventLog, Exchange, Vantage};
use foldhash::{HashMap, HashSet};

/// An event that reached the nearer recording so much later, in microseconds, was held back between the two.
const HELD_BACK: i64 = 1_000_000;

/// An exchange as it was on the server's side of something between.
#[derive(Debug)]
pub struct Behind {
    /// The exchange there; its times are those of the clock that the run goes by.
    pub exchange: Exchange,
    /// One recorder saw both sides: their times are of one clock.
    pub one_clock: bool,
}

/// How many exchanges differ between two viewpoints, and in what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Another status.
    pub statuses: u64,
    /// Other messages.
    pub messages: u64,
    /// Events that were held back for a second and more.
    pub delays: u64,
}

impl Differences {
    /// In what the client's side of an exchange differs from the server's.
    pub fn of(near: &Exchange, far: &Exchange) -> Self {
        let status = near.status.is_some() && far.status.is_some() && near.status != far.status;
        let delay = !near.coarse_times && !far.coarse_times && held_back(near, far) >= Some(HELD_BACK);
        Self { statuses: status.into(), messages: (!status && differ(near, far)).into(), delays: delay.into() }
    }

    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: Self) {
        self.statuses += other.statuses;
        self.messages += other.messages;
        self.delays += other.delays;
    }

    /// In words; empty where nothing differs.
    pub fn words(self) -> String {
        let all = [(self.statuses, "in status"), (self.messages, "in messages"), (self.delays, "in delay")];
        let some: Vec<String> = all.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        if some.is_empty() {
            String::new()
        } else {
            format!("; between the two, exchanges differ: {}", some.join(", "))
        }
    }
}

/// The exchanges of a run that something between changed.
#[derive(Debug, Default)]
pub struct Hops {
    behind: Vec<Behind>,
    /// By source and entry of the exchange as the client saw it.
    places: HashMap<(u32, u32), u32>,
    /// Streams, by source and entry, whose events were on both sides at the same time.
    prompt: HashSet<(u32, u32)>,
}

impl Hops {
    /// The other side of an exchange, and its number.
    pub fn of(&self, exchange: &Exchange) -> Option<(u32, &Behind)> {
        if self.behind.is_empty() {
            return None;
        }
        let number = *self.places.get(&(exchange.at.source, exchange.at.entry))?;
        Some((number, self.behind.get(number as usize)?))
    }

    /// One of the other sides, by its number.
    pub fn get(&self, number: u32) -> Option<&Behind> {
        self.behind.get(number as usize)
    }

    /// Both sides were seen, and nothing held the events of this response back between them.
    pub fn is_prompt(&self, exchange: &Exchange) -> bool {
        self.prompt.contains(&(exchange.at.source, exchange.at.entry))
    }

    /// Takes note of a response whose two sides do not differ; `kept` is the one that the run goes by.
    pub fn pass(&mut self, kept: &Exchange, near: &Exchange, far: &Exchange) {
        if held_back(near, far).is_some() {
            self.prompt.insert((kept.at.source, kept.at.entry));
        }
    }

    /// Keeps the server's side of an exchange beside the client's.
    pub fn keep(&mut self, near: &Exchange, far: &Exchange) {
        self.places.insert((near.at.source, near.at.entry), self.behind.len() as u32);
        self.behind.push(Behind { exchange: far.clone(), one_clock: near.at.source == far.at.source });
    }
}

/// The client got other messages, though both responses are known to their ends.
fn differ(near: &Exchange, far: &Exchange) -> bool {
    match (clock::log(near), clock::log(far)) {
        (Some(_), Some(_)) => is_known(near) && !missing(near, far).is_empty(),
        _ => {
            let digests = |x: &Exchange| answers(x).map(|m| (m.id.clone(), m.payload)).collect::<Vec<_>>();
            near.response.is_whole() && far.response.is_whole() && digests(near) != digests(far)
        }
    }
}

/// The client provably got fewer messages, as far as it goes: its connection broke.
pub fn got_less(near: &Exchange, far: &Exchange) -> bool {
    let count = |x| clock::log(x).map(EventLog::message_count);
    is_known(near) && count(near).zip(count(far)).is_some_and(|(near, far)| near < far)
}

/// All that came is there: to the last byte, or until the connection broke.
fn is_known(exchange: &Exchange) -> bool {
    let is_cut =
        matches!(exchange.end, End::Abrupt(_)) && matches!(exchange.response, Body::Partial(Content::Events(_), _));
    exchange.response.is_whole() || is_cut && clock::ended_on_wire(exchange)
}

/// The messages (events of the far side) that the client did not get, although it got a later event of the stream or the
/// response was over for it.
pub fn missing(near: &Exchange, far: &Exchange) -> Vec<u32> {
    let (Some(own), Some(all)) = (clock::log(near), clock::log(far)) else { return Vec::new() };
    let got: HashSet<u64> = own.events.iter().filter(|e| e.is_message()).map(|e| e.payload).collect();
    let is_over = near.response.is_whole() && matches!(near.end, End::Clean | End::Unknown);
    let last = all.events.iter().rposition(|e| e.is_message() && got.contains(&e.payload));
    let events = all.events.iter().enumerate().filter(|(_, e)| e.is_message() && !got.contains(&e.payload));
    let lost = events.filter(|(i, _)| is_over || last.is_some_and(|last| *i < last));
    lost.map(|(i, _)| i as u32).collect()
}

/// How much later events were nearer to the client, at most, in microseconds; none where either side has no times.
pub fn held_back(near: &Exchange, far: &Exchange) -> Option<i64> {
    let timed = |x| -> Option<&EventLog> { clock::log(x).filter(|l: &&EventLog| !l.times.is_empty()) };
    let (near, far) = (timed(near)?, timed(far)?);
    let mut first: HashMap<u64, i64> = HashMap::default();
    for (event, time) in near.events.iter().zip(&near.times).filter(|(e, _)| e.is_message()) {
        first.entry(event.payload).or_insert(time.0);
    }
    let events = far.events.iter().zip(&far.times).filter(|(e, _)| e.is_message());
    events.filter_map(|(event, time)| Some(first.get(&event.payload)? - time.0)).max()
}

/// Which of two recordings is nearer to the client: true for the first; none where nothing tells.
pub fn nearer(exchanges: &[Exchange], pairs: &[(usize, usize)]) -> Option<bool> {
    let (a, b) = pairs.first()?;
    let (a, b) = (&exchanges[*a], &exchanges[*b]);
    if a.at.source == b.at.source {
        // A request reaches the client's hop first.
        let earlier = |(a, b): &&(usize, usize)| exchanges[*a].sent < exchanges[*b].sent;
        let later = |(a, b): &&(usize, usize)| exchanges[*a].sent > exchanges[*b].sent;
        let (earlier, later) = (pairs.iter().filter(earlier).count(), pairs.iter().filter(later).count());
        return (earlier.min(later) == 0 && earlier != later).then_some(earlier > later);
    }
    match (a.vantage, b.vantage) {
        (a, b) if a == b => None,
        (Vantage::Client, _) | (_, Vantage::Server) => Some(true),
        (_, Vantage::Client) | (Vantage::Server, _) => Some(false),
        _ => None,
    }
}
