//! One session from its exchanges: requests first, then streams and what was delivered on them, in order of start.

use super::{
    clock::{self, Clock},
    gateway::Usual,
    index::CursorIndex,
    progress::{Memory, Progress},
    scope::Seed,
};
use crate::{
    evidence::Locus,
    model::{
        Content, Direction, End, Era, Exchange, Leg, LegEnd, MediaType, Message, MessageFlags, MessageKind, Method,
        OpenedBy, Request, RequestState, Session, SessionEnd, Stream, Time, ToolHints,
    },
};
use foldhash::{HashMap, HashSet};
use std::{ops::Range, sync::Arc};

/// What all builders of a run share.
pub struct Run<'r> {
    /// All exchanges, in order of start.
    pub exchanges: &'r [Exchange],
    /// Event times and receipt.
    pub clock: &'r Clock,
    /// Where cursors were issued.
    pub index: &'r CursorIndex,
    /// The sessions to be, and which one each exchange belongs to.
    pub seeds: &'r [Seed],
    /// By exchange: index of its session.
    pub homes: &'r [u32],
    /// Annotations of tools, by endpoint.
    pub tools: &'r HashMap<Arc<str>, HashMap<Arc<str>, ToolHints>>,
    /// The last `initialize` of each endpoint and client scope.
    pub initialized: &'r HashMap<(Arc<str>, u64), u32>,
    /// What servers otherwise always send, by endpoint.
    pub usual: &'r Usual,
    /// The endpoints that issue session ids.
    pub with_sessions: &'r HashSet<Arc<str>>,
}

/// Builds one session.
pub struct Builder<'r> {
    pub(super) run: &'r Run<'r>,
    pub(super) seed: &'r Seed,
    pub(super) session: Session,
    /// Requests by direction and id, in order of occurrence.
    pub(super) by_id: HashMap<(Direction, Arc<str>), Vec<u32>>,
    /// Requests by progress token.
    pub(super) by_token: HashMap<u64, Vec<u32>>,
    /// The stream that an exchange is a leg of.
    pub(super) stream_of: HashMap<u32, u32>,
    /// What is known of each stream so far.
    pub(super) progress: Vec<Progress>,
    /// What is known of each cursor so far.
    pub(super) memory: Memory,
}

/// Builds one session from its seed.
pub fn session<'r>(run: &'r Run<'r>, seed: &'r Seed) -> Session {
    let mut builder = Builder {
        run,
        seed,
        session: blank(seed),
        by_id: HashMap::default(),
        by_token: HashMap::default(),
        stream_of: HashMap::default(),
        progress: Vec::new(),
        memory: Memory::default(),
    };
    builder.introduce();
    for &exchange in &seed.exchanges {
        builder.requests(exchange);
    }
    builder.cancellations();
    for &exchange in &seed.exchanges {
        builder.streams(exchange);
    }
    builder.settle();
    let mut session = builder.session;
    session.requests.shrink_to_fit();
    session.streams.shrink_to_fit();
    session
}

fn blank(seed: &Seed) -> Session {
    let mut hasher = blake3::Hasher::new();
    hasher.update(seed.endpoint.as_bytes()).update(&seed.scope.to_le_bytes()).update(&seed.ordinal.to_le_bytes());
    hasher.update(&[seed.transport as u8]).update(&seed.id.as_ref().map_or(0, |id| id.hash).to_le_bytes());
    let digest = hasher.finalize();
    let unnamed = u64::from_le_bytes(std::array::from_fn(|i| digest.as_bytes()[i]));
    Session {
        label: seed.id.as_ref().filter(|_| !seed.placeholder).map_or(unnamed, |id| id.hash),
        id: seed.id.clone(),
        endpoint: Arc::clone(&seed.endpoint),
        transport: seed.transport,
        era: Era::March2025,
        client_scope: seed.scope,
        client: None,
        server: None,
        started: None,
        ended: None,
        end: SessionEnd::CaptureEnd,
        ended_by: None,
        complete_from_start: false,
        placeholder: seed.placeholder,
        exchanges: seed.exchanges.clone(),
        requests: Vec::new(),
        streams: Vec::new(),
        resumptions: Vec::new(),
        orphans: Vec::new(),
    }
}

impl<'r> Builder<'r> {
    pub(super) fn exchange(&self, index: u32) -> &'r Exchange {
        &self.run.exchanges[index as usize]
    }

    /// The requests that a client's POST carries.
    fn requests(&mut self, index: u32) {
        let exchange = self.exchange(index);
        for message in exchange.messages().iter().filter(|m| m.kind == MessageKind::Request) {
            let at = Locus::request(index);
            let number = self.request(message, Direction::Client, at, exchange.sent);
            // Clients send a POST again to where 307 and 308 say; other redirections lose it.
            let refused = exchange.status.filter(|s| *s >= 400 || matches!(s, 307 | 308));
            let request = &mut self.session.requests[number as usize];
            request.refused = refused;
            if exchange.is_modern() {
                request.era = exchange.declared_era().unwrap_or(Era::Modern2026);
            }
        }
    }

    /// Adds a request; a second one of the same id and direction is the next occurrence.
    pub(super) fn request(&mut self, message: &Message, direction: Direction, at: Locus, time: Option<Time>) -> u32 {
        let number = self.session.requests.len() as u32;
        let id = message.id.clone().unwrap_or_else(|| "null".into());
        let same = self.by_id.entry((direction, Arc::clone(&id))).or_default();
        let occurrence = same.len() as u32;
        same.push(number);
        if let Some(token) = message.token {
            self.by_token.entry(token).or_default().push(number);
        }
        let method = message.method.clone().unwrap_or_else(|| "".into());
        let side_effecting = self.side_effecting(&method, message.name.as_ref(), direction);
        self.session.requests.push(Request {
            id,
            direction,
            occurrence,
            method,
            name: message.name.clone(),
            arguments: message.arguments,
            payload: message.payload,
            token: message.token,
            at,
            time,
            era: self.session.era,
            state: RequestState::Open,
            terminals: Vec::with_capacity(1),
            refused: None,
            auth_retry: false,
            cancelled: None,
            stream: None,
            task: None,
            input_retry: message.flags.contains(MessageFlags::INPUT_RETRY),
            side_effecting,
        });
        number
    }

    fn side_effecting(&self, method: &str, name: Option<&Arc<str>>, direction: Direction) -> bool {
        match method {
            "tools/call" => {
                let hints = name.and_then(|n| self.run.tools.get(&self.seed.endpoint)?.get(n));
                !hints.is_some_and(|h| h.read_only == Some(true) || h.idempotent == Some(true))
            }
            "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel" | "tasks/cancel" | "tasks/update" => {
                true
            }
            _ => direction == Direction::Server && method != "ping" && method != "roots/list",
        }
    }

    /// What the client cancelled; a request is cancelled from its own session only.
    fn cancellations(&mut self) {
        for &index in &self.seed.exchanges {
            let exchange = self.exchange(index);
            for message in exchange.messages().iter().filter(|m| m.is("notifications/cancelled")) {
                self.cancel(message, Direction::Client, Locus::request(index), exchange.sent);
            }
        }
    }

    pub(super) fn cancel(&mut self, message: &Message, direction: Direction, at: Locus, time: Option<Time>) {
        let Some(id) = message.detail.as_ref().and_then(|d| d.cancels.clone()) else { return };
        let same = self.by_id.get(&(direction, id)).map_or(&[][..], Vec::as_slice);
        let requests = &mut self.session.requests;
        let before = same.partition_point(|r| requests[*r as usize].at.exchange <= at.exchange);
        if let Some(&request) = before.checked_sub(1).and_then(|last| same.get(last)) {
            requests[request as usize].cancelled.get_or_insert((at, time));
        }
    }

    /// What an exchange opened or resumed, and what was delivered on it.
    fn streams(&mut self, index: u32) {
        let exchange = self.exchange(index);
        let is_stream = exchange.headers.content_type == MediaType::EventStream
            && exchange.status.is_none_or(|s| s < 300)
            || matches!(exchange.response.content(), Some(Content::Events(_)));
        let stream = match exchange.method {
            Method::Get if exchange.cursor.is_some() => {
                let resumption = self.resolve(index);
                let stream = resumption.stream;
                self.session.resumptions.push(resumption);
                stream
            }
            Method::Get | Method::Message if is_stream => Some(self.open(OpenedBy::Get)),
            Method::Post if is_stream => Some(self.open(OpenedBy::Post)),
            _ => None,
        };
        if exchange.method != Method::Get && exchange.cursor.is_some() {
            let resumption = self.resolve(index);
            self.session.resumptions.push(resumption);
        }
        if let Some(stream) = stream {
            self.leg(stream, index);
        }
        self.own_requests(index, stream);
        self.deliveries(index, stream);
    }

    pub(super) fn open(&mut self, opened_by: OpenedBy) -> u32 {
        let letter = match opened_by {
            OpenedBy::Post => 'p',
            OpenedBy::Get => 'g',
            OpenedBy::Resume => 'r',
        };
        let number = self.session.streams.len() as u32;
        self.progress.push(Progress::default());
        self.session.streams.push(Stream {
            label: format!("{letter}{number}"),
            opened_by,
            requests: Vec::new(),
            legs: Vec::with_capacity(1),
        });
        number
    }

    fn leg(&mut self, stream: u32, index: u32) {
        let exchange = self.exchange(index);
        let log = clock::log(exchange);
        self.stream_of.insert(index, stream);
        self.follow(stream, exchange);
        self.session.streams[stream as usize].legs.push(Leg {
            exchange: index,
            cursor: exchange.cursor.as_ref().filter(|_| exchange.method == Method::Get).map(|c| c.id),
            status: exchange.status,
            events: log.map_or(0, |l| l.events.len() as u32),
            messages: log.map_or(0, |l| l.message_count() as u32),
            end: match exchange.end {
                End::Clean => LegEnd::Clean,
                End::Abrupt(_) => LegEnd::Abrupt,
                End::Open => LegEnd::Open,
                End::Unknown => LegEnd::Unknown,
            },
            started: exchange.sent,
            ended: exchange.ended,
        });
    }

    /// The client's requests that an exchange carried: they come before all of the server's, in order of sending.
    pub(super) fn requests_of(&self, index: u32) -> Range<usize> {
        let until = |end: u32| {
            self.session.requests.partition_point(|r| r.direction == Direction::Client && r.at.exchange < end)
        };
        until(index)..until(index.saturating_add(1))
    }

    /// The requests of a POST belong to the stream that it opened; without any answer they get one of their own.
    fn own_requests(&mut self, index: u32, stream: Option<u32>) {
        if self.exchange(index).method != Method::Post {
            return;
        }
        for number in self.requests_of(index) {
            self.session.requests[number].stream = stream;
            if let Some(stream) = stream {
                self.session.streams[stream as usize].requests.push(number as u32);
            }
        }
    }

    /// The stream of a request, opened now where its POST was never answered.
    pub(super) fn stream_of_request(&mut self, request: u32) -> u32 {
        if let Some(stream) = self.session.requests[request as usize].stream {
            return stream;
        }
        let stream = self.open(OpenedBy::Post);
        self.session.requests[request as usize].stream = Some(stream);
        self.session.streams[stream as usize].requests.push(request);
        stream
    }
}
