//! One direction of an HTTP/1 connection, cut into heads and bodies.

use crate::wire::{
    http1::{Chunk, Chunked, Framing, Likeness, head_end, like_request, like_response},
    tcp::Stamp,
};

/// Longest head in bytes that is waited for.
const LONGEST_HEAD: usize = 256 << 10;

/// What the next bytes turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// Nothing that is of interest yet.
    Nothing,
    /// A whole head; [`Half::frame`] must be called before the next step.
    Head(Vec<u8>),
    /// Bytes of the body, transfer coding undone.
    Body(&'a [u8]),
    /// The message is over.
    End,
    /// The message cannot be followed any further.
    Broken,
}

/// What a hole in the stream did to the message around it.
#[derive(Debug, PartialEq, Eq)]
pub enum Torn {
    /// It fell between messages, or into what was not followed.
    Between,
    /// It tore the head: this much of it is there.
    Head(Vec<u8>),
    /// It tore the body, whose end can still be found.
    Body,
    /// It tore the body, and the end cannot be found any more.
    Rest,
}

#[derive(Debug)]
enum State {
    /// Between messages.
    Start,
    /// Within a head, or what may become one.
    Head {
        is_sure: bool,
    },
    /// A head was handed out.
    Unframed,
    Length(u64),
    Chunked(Chunked),
    Close,
    /// The place in the stream is lost: the next packet that begins like a message ends this.
    Searching,
}

/// Reads one direction.
pub struct Half {
    is_client: bool,
    state: State,
    head: Vec<u8>,
    scanned: usize,
    /// The packet with the first byte of the present message, and that byte's offset in the stream.
    pub began: (Stamp, i64),
}

impl Half {
    /// Requests, or else responses; `is_lost` where the stream does not begin with a message.
    pub fn new(is_client: bool, is_lost: bool) -> Self {
        let state = if is_lost { State::Searching } else { State::Start };
        Self { is_client, state, head: Vec::new(), scanned: 0, began: (Stamp::default(), 0) }
    }

    /// These bytes, which begin a packet or follow a message, would begin one.
    pub fn would_begin(&self, bytes: &[u8]) -> bool {
        match self.state {
            State::Start => true,
            State::Searching => self.likeness(bytes) == Likeness::Yes,
            _ => false,
        }
    }

    /// Gives up the present message.
    pub fn lose(&mut self) {
        self.state = State::Searching;
    }

    /// A head has begun and is not whole.
    pub fn torn_head(&mut self) -> Option<Vec<u8>> {
        matches!(self.state, State::Head { .. }).then(|| std::mem::take(&mut self.head))
    }

    /// Says how the body ends whose head was handed out. True where there is no body to wait for.
    pub fn frame(&mut self, framing: Framing) -> bool {
        self.state = match framing {
            Framing::None | Framing::Length(0) => State::Start,
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::Chunked(Chunked::default()),
            Framing::Close => State::Close,
        };
        matches!(self.state, State::Start)
    }

    /// Whether the present message is one that only the end of the connection ends.
    pub fn ends_with_connection(&self) -> bool {
        matches!(self.state, State::Close)
    }

    /// Reads from the front of `bytes`, which begin at `offset`: how many were used, and what they were.
    /// `is_fresh` says that a packet begins there.
    pub fn step<'a>(&mut self, bytes: &'a [u8], is_fresh: bool, offset: i64, own: Stamp) -> (usize, Event<'a>) {
        match &mut self.state {
            State::Start => self.start(bytes, offset, own),
            State::Head { .. } => self.read_head(bytes),
            State::Unframed => (bytes.len(), Event::Broken),
            State::Length(left) => {
                let take = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= take as u64;
                (take, Event::Body(&bytes[..take]))
            }
            State::Chunked(chunked) => {
                let mut at = 0;
                match chunked.next(bytes, &mut at) {
                    Chunk::Data(range) => (at, Event::Body(&bytes[range])),
                    Chunk::More => (bytes.len(), Event::Nothing),
                    Chunk::End(end) => {
                        self.state = State::Start;
                        (end, Event::End)
                    }
                    Chunk::Broken => {
                        self.state = State::Searching;
                        (bytes.len(), Event::Broken)
                    }
                }
            }
            State::Close => (bytes.len(), Event::Body(bytes)),
            State::Searching => {
                if is_fresh && self.likeness(bytes) == Likeness::Yes {
                    self.state = State::Start;
                    (0, Event::Nothing)
                } else {
                    (bytes.len(), Event::Nothing)
                }
            }
        }
    }

    /// To be called after each step: the body of known length has ended.
    pub fn has_ended(&mut self) -> bool {
        let is_end = matches!(self.state, State::Length(0));
        if is_end {
            self.state = State::Start;
        }
        is_end
    }

    /// Passes over a hole.
    pub fn tear(&mut self, length: u64) -> Torn {
        let torn = match &mut self.state {
            State::Start | State::Searching | State::Unframed => Torn::Between,
            State::Head { .. } => Torn::Head(std::mem::take(&mut self.head)),
            State::Close => return Torn::Body,
            State::Length(left) if *left >= length => {
                *left -= length;
                return Torn::Body;
            }
            State::Chunked(chunked) => {
                if chunked.skip(length) {
                    return Torn::Body;
                }
                Torn::Rest
            }
            State::Length(_) => Torn::Rest,
        };
        self.state = State::Searching;
        torn
    }

    fn likeness(&self, bytes: &[u8]) -> Likeness {
        if self.is_client { like_request(bytes) } else { like_response(bytes) }
    }

    fn start<'a>(&mut self, bytes: &'a [u8], offset: i64, own: Stamp) -> (usize, Event<'a>) {
        let skip = bytes.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        let rest = &bytes[skip..];
        if rest.is_empty() {
            return (skip, Event::Nothing);
        }
        self.began = (own, offset.saturating_add(skip as i64));
        self.scanned = 0;
        self.head.clear();
        self.state = State::Head { is_sure: false };
        let (used, event) = self.read_head(rest);
        (skip + used, event)
    }

    fn read_head<'a>(&mut self, bytes: &'a [u8]) -> (usize, Event<'a>) {
        let known = self.head.len();
        self.head.extend_from_slice(bytes);
        if let State::Head { is_sure: false } = self.state {
            match self.likeness(&self.head) {
                Likeness::Yes => self.state = State::Head { is_sure: true },
                Likeness::TooShort => return (bytes.len(), Event::Nothing),
                Likeness::No => {
                    self.head.clear();
                    self.state = State::Searching;
                    return (bytes.len(), Event::Nothing);
                }
            }
        }
        match head_end(&self.head, self.scanned) {
            Some(end) => {
                self.head.truncate(end);
                self.state = State::Unframed;
                (end.saturating_sub(known), Event::Head(std::mem::take(&mut self.head)))
            }
            None if self.head.len() > LONGEST_HEAD => {
                self.head = Vec::new();
                self.state = State::Searching;
                (bytes.len(), Event::Broken)
            }
            None => {
                self.scanned = self.head.len();
                (bytes.len(), Event::Nothing)
            }
        }
    }
}
