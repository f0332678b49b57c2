//! Which stream a cursor means, in six steps; and what the guard would have said to the resume.

use super::{build::Builder, clock, progress::Progress};
use crate::{
    guard::{InvalidResumption, StreamResumptionGuard, Subject},
    model::{
        Advice, Body, Cursor, Direction, End, EventFact, EventId, Method, Next, OpenedBy, Outcome, Resolved,
        Resumption, Transport, Verdict,
    },
};

/// Of how many streams an id is remembered; it is ambiguous from the second on.
const MOST_OWNERS: usize = 8;

/// What the steps found.
struct Found {
    stream: Option<u32>,
    resolved: Resolved,
    /// Session and exchange that issued the cursor, where that is another session.
    owner: Option<(u32, u32)>,
}

impl Builder<'_> {
    /// Resolves the cursor of an exchange. The answer's meaning is filled in later.
    pub(super) fn resolve(&mut self, index: u32) -> Resumption {
        let exchange = self.exchange(index);
        let cursor = exchange.cursor.clone().expect("only exchanges with a cursor are resolved");
        let resumes = exchange.method == Method::Get;
        let found = self.find(index, &cursor, resumes);
        let guard = if resumes { self.advice(index, &found) } else { None };
        let log = clock::log(exchange);
        let mut resumption = Resumption {
            exchange: index,
            cursor: *cursor,
            stream: found.stream,
            resolved: found.resolved,
            owner: found.owner,
            status: exchange.status,
            replayed: log.map_or(0, |l| l.message_count() as u32),
            answers: Vec::new(),
            guard: guard.as_ref().map(|(advice, ..)| *advice),
            outcome: None,
            verdict: Verdict::Unknown,
            next: Next::NothingCaptured,
        };
        if found.stream.is_some() {
            self.memory.resolved.insert(resumption.cursor.id, self.session.resumptions.len() as u32);
        }
        resumption.outcome = self.outcome(index, guard.map(|(_, guard, subject)| (guard, subject)));
        resumption
    }

    fn find(&mut self, index: u32, cursor: &Cursor, resumes: bool) -> Found {
        let found = |stream: Option<u32>, resolved| Found { stream, resolved, owner: None };
        if let Some(exact) = self.exact(index, cursor) {
            return exact;
        }
        if let Some((session, exchange, legacy)) = self.elsewhere(index, cursor.id) {
            let stream = resumes.then(|| self.open(OpenedBy::Resume));
            let resolved = if legacy { Resolved::Legacy } else { Resolved::OtherSession };
            return Found { stream, resolved, owner: Some((session, exchange)) };
        }
        let by_content = if resumes { self.by_content(index) } else { None };
        if by_content.is_some() {
            return found(by_content, Resolved::Content);
        }
        // Step 3: the only stream whose ids have this stream part.
        if let Some(stream) = cursor.stream.and_then(|name| self.memory.names.get(&name).copied().flatten()) {
            return found(Some(stream), Resolved::Format);
        }
        // An earlier resume with the same unknown cursor named the same unknown stream.
        if let Some(known) = self.memory.resolved.get(&cursor.id) {
            let known = &self.session.resumptions[*known as usize];
            return found(known.stream, known.resolved);
        }
        if let Some(stream) = self.by_time(index) {
            return found(Some(stream), Resolved::Temporal);
        }
        found(resumes.then(|| self.open(OpenedBy::Resume)), Resolved::Unknown)
    }

    /// Step 1: events of this session that carried the id before.
    fn exact(&mut self, index: u32, cursor: &Cursor) -> Option<Found> {
        let deliveries = self.run.index.deliveries(cursor.id);
        let before = &deliveries[..deliveries.partition_point(|(x, _)| *x < index)];
        let (seen, owners) = self.memory.owners.entry(cursor.id).or_default();
        for (exchange, event) in before.get(*seen..).unwrap_or_default() {
            let Some(stream) = self.stream_of.get(exchange).copied() else { continue };
            let log = clock::log(&self.run.exchanges[*exchange as usize]);
            let content = log.and_then(|l| l.events.get(*event as usize)).map_or(0, EventFact::distinction);
            if owners.len() <= MOST_OWNERS && !owners.iter().any(|(s, _)| *s == stream) {
                owners.push((stream, content));
            }
        }
        *seen = before.len();
        let (first, rest) = owners.split_first()?;
        // The same event on several streams was replayed where it does not belong: its first stream is its own.
        let replayed = first.1 != 0 && rest.iter().all(|(_, content)| *content == first.1);
        if rest.is_empty() || replayed {
            return Some(Found { stream: Some(first.0), resolved: Resolved::Exact, owner: None });
        }
        let known = self.memory.resolved.get(&cursor.id).and_then(|r| self.session.resumptions[*r as usize].stream);
        let stream = known.unwrap_or_else(|| self.open(OpenedBy::Resume));
        Some(Found { stream: Some(stream), resolved: Resolved::Ambiguous, owner: None })
    }

    /// Step 2: legacy streams of the same host, and other sessions of the endpoint, that issued it before.
    fn elsewhere(&self, index: u32, id: EventId) -> Option<(u32, u32, bool)> {
        let deliveries = self.run.index.deliveries(id);
        let before = &deliveries[..deliveries.partition_point(|(x, _)| *x < index)];
        let own = self.run.homes[index as usize];
        let is_legacy = self.seed.transport == Transport::LegacySse;
        let mut other = None;
        for (exchange, _) in before.iter().rev().take(256) {
            let home = self.run.homes[*exchange as usize];
            let seed = &self.run.seeds[home as usize];
            if home == own || seed.transport == Transport::Messages {
                continue;
            }
            let crosses = (seed.transport == Transport::LegacySse) != is_legacy;
            if crosses && authority(&seed.endpoint) == authority(&self.seed.endpoint) {
                return Some((home, *exchange, true));
            }
            if !crosses && seed.endpoint == self.seed.endpoint {
                other = other.or(Some((home, *exchange, false)));
            }
        }
        other
    }

    /// What the guard would have done, had it seen what the capture shows.
    fn advice(&mut self, index: u32, found: &Found) -> Option<(Advice, StreamResumptionGuard, Subject)> {
        let exchange = self.exchange(index);
        let mut guard = StreamResumptionGuard::default();
        let nobody = Subject::Standalone { session: self.session.label, stream: "".into() };
        let sessions_exist = self.run.with_sessions.contains(&self.seed.endpoint);
        if exchange.session.is_none() && sessions_exist && self.seed.transport == Transport::Streamable {
            return Some((Advice::NoSession, guard, nobody));
        }
        let known =
            matches!(found.resolved, Resolved::Exact | Resolved::Format | Resolved::Content | Resolved::Temporal);
        let stream = found.stream.filter(|_| known)?;
        // The guard keeps a cursor a request: an open one if there is one, else the last.
        let first_open = self.first_open(stream, index);
        let facts = &self.session.streams[stream as usize];
        let open = first_open.or(facts.requests.last().copied());
        let subject = open.map_or_else(
            || Subject::Standalone { session: self.session.label, stream: facts.label.as_str().into() },
            |r| {
                let request = &self.session.requests[r as usize];
                Subject::Request {
                    session: self.session.label,
                    direction: Direction::Client,
                    id: request.id.clone(),
                    occurrence: request.occurrence,
                }
            },
        );
        if facts.opened_by == OpenedBy::Resume {
            return None;
        }
        let Progress { held: cursor, seen_all, .. } = self.progress[stream as usize];
        let terminal = open.is_some_and(|r| self.is_answered(r, index));
        if cursor.is_none() && !seen_all && !terminal {
            return None;
        }
        guard.observe_event(&subject, cursor, terminal);
        let session = exchange.session.as_ref().map_or("", |_| "present");
        let advice = match guard.build_resume_headers(&subject, Some(session)) {
            Ok(_) => Advice::Allow,
            Err(InvalidResumption::Terminal) => Advice::Terminal,
            Err(InvalidResumption::NoCursor) => Advice::NoCursor,
            Err(InvalidResumption::NoSession) => Advice::NoSession,
        };
        Some((advice, guard, subject))
    }

    /// How the guard reads the answer.
    fn outcome(&self, index: u32, guard: Option<(StreamResumptionGuard, Subject)>) -> Option<Outcome> {
        let exchange = self.exchange(index);
        let status = exchange.status?;
        let messages = clock::log(exchange).map_or(0, crate::model::EventLog::message_count)
            + usize::from(matches!(exchange.response.content(), Some(crate::model::Content::Messages(_))));
        let whole =
            exchange.response.is_whole() || clock::ended_on_wire(exchange) && exchange.response.content().is_some();
        if status == 200 && messages == 0 && (!whole || exchange.end == End::Open) {
            return None;
        }
        if status == 200 && matches!(exchange.response, Body::NotCaptured(_)) {
            return None;
        }
        let nobody = || (StreamResumptionGuard::default(), Subject::Standalone { session: 0, stream: "".into() });
        let (guard, subject) = guard.unwrap_or_else(nobody);
        Some(guard.interpret_resume_response(&subject, status, messages == 0))
    }
}

/// Scheme and host of an endpoint.
pub fn authority(endpoint: &str) -> &str {
    let start = endpoint.find("://").map_or(0, |at| at + 3);
    let end = endpoint[start..].find('/').map_or(endpoint.len(), |at| start + at);
    &endpoint[..end]
}
