//! One direction of an HTTP/2 connection, cut into frames.

use crate::wire::{
    http1::PREFACE,
    http2::{FrameHead, HEADER, kind, like_frames},
};

/// Longest frame, other than of a body, that is kept.
const LONGEST: usize = 1 << 20;

/// What the next bytes are.
#[derive(Debug)]
pub enum Event<'a> {
    /// Nothing that is of interest yet.
    Nothing,
    /// Bytes of a body, on this stream.
    Data(u32, &'a [u8]),
    /// A frame with bytes of a body is over; whether the body is.
    DataEnd(u32, bool),
    /// Any other frame as a whole.
    Frame(FrameHead, Vec<u8>),
    /// The place in the stream is lost.
    Lost,
}

/// What a hole did.
#[derive(Debug, PartialEq, Eq)]
pub enum Torn {
    /// It fell into what is not read.
    Nothing,
    /// It tore a body, on this stream.
    Data(u32),
    /// It tore a frame of this kind, and the next one can be found.
    Frame(u8),
    /// The place in the stream is lost.
    Rest,
}

#[derive(Debug)]
enum State {
    Preface(usize),
    Head,
    Padding(FrameHead),
    Data { head: FrameHead, left: usize, padding: usize },
    Payload(FrameHead),
    Skip(usize),
    Searching,
}

/// Reads one direction.
pub struct Frames {
    state: State,
    kept: Vec<u8>,
}

impl Frames {
    /// A direction; the client's begins with the preface. `is_lost` where its beginning is not in the capture.
    pub fn new(is_client: bool, is_lost: bool) -> Self {
        let state = match (is_lost, is_client) {
            (true, _) => State::Searching,
            (false, true) => State::Preface(0),
            (false, false) => State::Head,
        };
        Self { state, kept: Vec::new() }
    }

    /// Another step is due even without further bytes.
    pub fn is_due(&self) -> bool {
        matches!(self.state, State::Data { left: 0, padding: 0, .. })
    }

    /// Reads from the front of `bytes`: how many were used, and what they were. `is_fresh` says that a packet begins
    /// there.
    pub fn step<'a>(&mut self, bytes: &'a [u8], is_fresh: bool) -> (usize, Event<'a>) {
        match &mut self.state {
            State::Preface(seen) => {
                let shared = (PREFACE.len() - *seen).min(bytes.len());
                if bytes[..shared] != PREFACE[*seen..*seen + shared] {
                    self.state = State::Searching;
                    return (bytes.len(), Event::Lost);
                }
                *seen += shared;
                if *seen == PREFACE.len() {
                    self.state = State::Head;
                }
                (shared, Event::Nothing)
            }
            State::Head => {
                let used = self.keep(bytes, HEADER);
                let Some(head) = self.kept.first_chunk().map(FrameHead::read) else { return (used, Event::Nothing) };
                self.kept.clear();
                self.state = match head.kind {
                    kind::DATA if head.is_padded() && head.length > 0 => State::Padding(head),
                    kind::DATA => State::Data { head, left: head.length, padding: 0 },
                    _ if head.length > LONGEST => State::Skip(head.length),
                    _ if head.length == 0 => {
                        return (used, Event::Frame(head, Vec::new()));
                    }
                    _ => State::Payload(head),
                };
                (used, Event::Nothing)
            }
            State::Padding(head) => {
                let padding = bytes.first().map_or(0, |b| usize::from(*b));
                let Some(left) = (head.length - 1).checked_sub(padding) else {
                    self.state = State::Searching;
                    return (bytes.len(), Event::Lost);
                };
                self.state = State::Data { head: *head, left, padding };
                (1, Event::Nothing)
            }
            State::Data { head, left: 0, padding: 0 } => {
                let event = Event::DataEnd(head.stream, head.ends_stream());
                self.state = State::Head;
                (0, event)
            }
            State::Data { left: 0, padding, .. } => {
                let used = (*padding).min(bytes.len());
                *padding -= used;
                (used, Event::Nothing)
            }
            State::Data { head, left, .. } => {
                let used = (*left).min(bytes.len());
                *left -= used;
                (used, Event::Data(head.stream, &bytes[..used]))
            }
            State::Payload(head) => {
                let head = *head;
                let used = self.keep(bytes, head.length);
                if self.kept.len() < head.length {
                    return (used, Event::Nothing);
                }
                self.state = State::Head;
                (used, Event::Frame(head, std::mem::take(&mut self.kept)))
            }
            State::Skip(left) => {
                let used = (*left).min(bytes.len());
                *left -= used;
                if *left == 0 {
                    self.state = State::Head;
                }
                (used, Event::Nothing)
            }
            State::Searching => {
                if is_fresh && like_frames(bytes) {
                    self.state = State::Head;
                    return (0, Event::Nothing);
                }
                (bytes.len(), Event::Nothing)
            }
        }
    }

    /// Passes over a hole.
    pub fn tear(&mut self, length: u64) -> Torn {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        match &mut self.state {
            State::Data { head, left, .. } if *left >= length => {
                *left -= length;
                return Torn::Data(head.stream);
            }
            State::Payload(head) if head.length - self.kept.len() >= length => {
                let (kind, left) = (head.kind, head.length - self.kept.len() - length);
                self.kept.clear();
                self.state = if left == 0 { State::Head } else { State::Skip(left) };
                return Torn::Frame(kind);
            }
            State::Skip(left) if *left > length => {
                *left -= length;
                return Torn::Nothing;
            }
            State::Searching => return Torn::Nothing,
            _ => {}
        }
        self.kept.clear();
        self.state = State::Searching;
        Torn::Rest
    }

    fn keep(&mut self, bytes: &[u8], wanted: usize) -> usize {
        let used = wanted.saturating_sub(self.kept.len()).min(bytes.len());
        self.kept.extend_from_slice(&bytes[..used]);
        used
    }
}
