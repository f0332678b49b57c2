//! From the capture, which holds indices, to the document, which holds names and places.

use super::{BodyState, Implementation, Leg, Place, Request, Resumption, SCHEMA, Session, Sessions, Stream, Terminal};
use crate::{
    audit::{IdTexts, Run, caveats, places, pseudonym, real_id, stamp::Stamp},
    evidence::Locus,
    model::{self, Body},
    reconstruct::Capture,
};

/// The sessions of a run that `wanted` chooses by their pseudonym and endpoint.
pub fn sessions(captures: &[Capture], run: &Run<'_>, wanted: impl Fn(&str, &str) -> bool) -> Sessions {
    let files = run.files();
    let mut sessions = Vec::new();
    for capture in captures {
        let resolver = Resolver { capture, files: &files, texts: &IdTexts::of(run.key.show_ids, &capture.exchanges) };
        for session in &capture.sessions {
            let name = pseudonym(session);
            if wanted(&name, &session.endpoint) {
                sessions.push(resolver.session(name, real_id(run.key, session), session));
            }
        }
    }
    sessions.sort_by_key(|s| (s.started.is_none(), s.started));
    Sessions { schema: SCHEMA.to_owned(), sessions, caveats: caveats(&captures.iter().collect::<Vec<_>>(), run) }
}

struct Resolver<'r> {
    capture: &'r Capture,
    files: &'r [String],
    texts: &'r IdTexts,
}

impl Resolver<'_> {
    fn session(&self, name: String, real: Option<String>, session: &model::Session) -> Session {
        let named = |i: &Option<model::Implementation>| {
            i.as_ref().map(|i| Implementation { name: i.name.to_string(), version: i.version.to_string() })
        };
        Session {
            session: name,
            session_id: real,
            endpoint: session.endpoint.to_string(),
            transport: session.transport,
            era: session.era,
            client: named(&session.client),
            server: named(&session.server),
            started: session.started.map(Stamp),
            ended: session.ended.map(Stamp),
            end: session.end,
            complete_from_start: session.complete_from_start,
            requests: session.requests.iter().map(|r| self.request(session, r)).collect(),
            streams: session.streams.iter().map(|s| self.stream(session, s)).collect(),
            resumptions: session.resumptions.iter().map(|r| self.resumption(session, r)).collect(),
        }
    }

    fn request(&self, session: &model::Session, request: &model::Request) -> Request {
        let terminals = request.terminals.iter().map(|terminal| Terminal {
            kind: terminal.kind,
            stream: label(session, terminal.stream),
            at: self.place(terminal.at),
            redelivery: terminal.redelivery,
        });
        Request {
            id: request.id.to_string(),
            direction: request.direction,
            occurrence: request.occurrence,
            method: request.method.to_string(),
            name: request.name.as_deref().map(str::to_owned),
            state: request.state,
            opened_at: self.place(request.at),
            terminals: terminals.collect(),
        }
    }

    fn stream(&self, session: &model::Session, stream: &model::Stream) -> Stream {
        let requests = stream.requests.iter().filter_map(|i| session.requests.get(*i as usize));
        Stream {
            stream: stream.label.clone(),
            opened_by: stream.opened_by,
            requests: requests.map(|r| r.id.to_string()).collect(),
            legs: stream.legs.iter().map(|leg| self.leg(leg)).collect(),
        }
    }

    fn leg(&self, leg: &model::Leg) -> Leg {
        let (file, entry) = self.exchange(leg.exchange);
        let body = match self.capture.exchanges.get(leg.exchange as usize).map(|e| &e.response) {
            Some(Body::Complete(_)) => BodyState::Complete,
            Some(Body::Empty) => BodyState::Empty,
            Some(Body::Partial(..)) => BodyState::Partial,
            Some(Body::NotCaptured(_)) | None => BodyState::NotCaptured,
        };
        Leg {
            file,
            entry,
            cursor: leg.cursor.map(|id| self.texts.name(id)),
            status: leg.status,
            events: leg.events,
            messages: leg.messages,
            body,
            end: leg.end,
        }
    }

    fn resumption(&self, session: &model::Session, resumption: &model::Resumption) -> Resumption {
        let (file, entry) = self.exchange(resumption.exchange);
        Resumption {
            file,
            entry,
            cursor: self.texts.name(resumption.cursor.id),
            stream: label(session, resumption.stream),
            resolved: resumption.resolved,
            status: resumption.status,
            replayed: resumption.replayed,
            guard: resumption.guard,
            outcome: resumption.outcome,
            verdict: resumption.verdict,
            next: resumption.next,
        }
    }

    fn place(&self, at: Locus) -> Place {
        let (file, entry) = self.exchange(at.exchange);
        Place { file, entry, event: at.event }
    }

    fn exchange(&self, index: u32) -> (String, u32) {
        self.capture
            .exchanges
            .get(index as usize)
            .map_or_else(|| ("?".to_owned(), 0), |e| (places::file(self.files, e), e.at.entry))
    }
}

fn label(session: &model::Session, stream: Option<u32>) -> Option<String> {
    session.streams.get(stream? as usize).map(|s| s.label.clone())
}
