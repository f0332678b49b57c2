//! A request and its response while they are under way, and what is handed over of them in the end.

use super::{
    body::Body,
    head::{Head, url},
};
use crate::{
    capture::{RawBody, RawExchange},
    model::{Address, End, Missing, Side, Time},
    wire::tcp::Stamp,
};

/// How far a message has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More of it is expected.
    Arriving,
    /// It is as complete as it will ever be.
    Over,
}

/// One message.
pub struct Message {
    /// Its head.
    pub head: Head,
    /// Part of the head was lost: a field that is not there may have been.
    pub is_head_torn: bool,
    /// The packet with its first byte.
    pub first: Stamp,
    /// The packet that completed the head.
    pub head_ready: Stamp,
    /// The body.
    pub body: Body,
    /// How far it has come.
    pub progress: Progress,
    /// Offset in its TCP stream behind its last byte, where that is known.
    pub upto: Option<i64>,
}

/// A request with its response, or one of the two.
pub struct Exchange {
    /// Ordinal within the file.
    pub entry: u32,
    /// How far in the server's stream the client had read when it asked, where that is known.
    pub asked: Option<i64>,
    /// The request; none where it was not captured.
    pub request: Option<Message>,
    /// The response; none where none was captured.
    pub response: Option<Message>,
    /// How the response ended.
    pub end: End,
    /// When it ended.
    pub ended: Option<i64>,
    /// Why there is no response.
    pub unanswered: Missing,
    /// Nothing more will become known.
    pub is_over: bool,
}

/// An exchange of which nothing more will become known, with what its connection knows.
pub struct Finished {
    /// The exchange.
    pub exchange: Exchange,
    /// Where it was seen.
    pub address: Address,
    /// Stands for a missing `Host`.
    pub authority: String,
    /// How far the client has acknowledged the server's stream, where the capture holds the client's packets.
    pub acknowledged: Option<i64>,
}

impl Finished {
    /// What a reader hands over.
    pub fn raw(&self) -> RawExchange<'_> {
        self.exchange.raw(self.address.clone(), &self.authority, self.acknowledged)
    }

    /// Bytes of memory that it takes.
    pub fn size(&self) -> usize {
        self.exchange.size()
    }
}

impl Exchange {
    /// An exchange of which nothing is known yet.
    pub fn new(entry: u32) -> Self {
        let (asked, request, response, ended) = (None, None, None, None);
        let unanswered = Missing::CaptureEnd;
        Self { entry, asked, request, response, end: End::Open, ended, unanswered, is_over: false }
    }

    /// Request and response are over.
    pub fn is_complete(&self) -> bool {
        let is_over = |m: &Option<Message>| m.as_ref().is_none_or(|m| m.progress == Progress::Over);
        self.is_over || (self.response.is_some() && is_over(&self.request) && is_over(&self.response))
    }

    /// Bytes of memory that it takes.
    pub fn size(&self) -> usize {
        let size = |m: &Option<Message>| m.as_ref().map_or(0, |m| m.head.size() + m.body.size());
        size(&self.request) + size(&self.response) + 512
    }

    /// The method of the request, as far as it decides how a response ends; none of those where it is not known.
    pub fn method(&self) -> &'static str {
        let Some(Head::Bytes(bytes)) = self.request.as_ref().map(|m| &m.head) else { return "" };
        let line = bytes.trim_ascii_start();
        // A lenient server takes any white space for the end of the method.
        let is = |name: &str| {
            line.split_at_checked(name.len()).is_some_and(|(method, rest)| {
                method.eq_ignore_ascii_case(name.as_bytes()) && rest.first().is_some_and(u8::is_ascii_whitespace)
            })
        };
        ["HEAD", "CONNECT"].into_iter().find(|name| is(name)).unwrap_or_default()
    }

    fn raw<'a>(&'a self, mut at: Address, authority: &str, acknowledged: Option<i64>) -> RawExchange<'a> {
        let request = self.request.as_ref().and_then(|m| Some((m, m.head.request()?)));
        let mut raw = match request {
            Some((message, head)) => {
                let url = url(&head, authority);
                let mut raw = RawExchange::new(head.method, url);
                raw.request_headers = head.fields;
                raw.request_body = message.body.raw();
                raw.sent = message.first.micros.map(Time);
                raw.no_headers = message.is_head_torn;
                at.frame = Some(message.first.frame);
                raw
            }
            // Nothing is known of the request but that there was one.
            None => {
                let mut raw = RawExchange::new("", format!("http://{authority}/"));
                raw.request_body = RawBody::NotCaptured(Missing::Hole);
                raw.no_headers = true;
                at.frame = self.response.as_ref().map(|m| m.first.frame);
                raw
            }
        };
        at.entry = self.entry;
        raw.at = at;
        raw.response_body = RawBody::NotCaptured(self.unanswered);
        if let Some(message) = &self.response {
            if let Some(head) = message.head.response() {
                raw.status = Some(head.status);
                raw.response_headers = head.fields;
            }
            raw.no_headers |= message.is_head_torn;
            raw.response_body = message.body.raw();
            raw.head = message.head_ready.micros.map(Time);
            raw.marks = message.body.times();
            raw.acknowledged = acknowledged.filter(|_| message.body.is_seen()).map(|upto| match message.upto {
                Some(end) if end <= upto => message.body.size() as u64,
                _ => message.body.arrived(upto),
            });
        }
        raw.end = self.end;
        raw.ended = self.ended.map(Time);
        raw
    }

    /// Marks the response as ended.
    pub fn close(&mut self, end: End, ended: Option<i64>) {
        self.end = end;
        self.ended = ended;
        if let Some(response) = &mut self.response {
            response.close();
        }
    }

    /// Marks what has not ended as cut off: by whom and when, or else by the end of the capture.
    pub fn cut(&mut self, by: Option<(Side, Option<i64>)>) {
        let why = if by.is_some() { Missing::CutOff } else { Missing::CaptureEnd };
        let at = by.and_then(|(_, at)| at);
        if let Some(request) = &mut self.request
            && request.progress == Progress::Arriving
        {
            request.body.lose(why);
            request.close();
        }
        let end = by.map_or(End::Open, |(side, _)| End::Abrupt(side));
        match &mut self.response {
            Some(response) if response.progress == Progress::Over => {}
            Some(response) => {
                response.body.lose(why);
                self.close(end, at);
            }
            None if !self.is_over => {
                self.unanswered = if by.is_some() { Missing::Failed } else { Missing::CaptureEnd };
                self.close(end, at);
            }
            None => {}
        }
        self.is_over = true;
    }
}

impl Message {
    /// A message whose head is there, as far as it is.
    pub fn new(head: Head, first: Stamp, head_ready: Stamp, body: Body) -> Self {
        let progress = Progress::Arriving;
        Self { head, is_head_torn: false, first, head_ready, body, progress, upto: None }
    }

    /// A message of which only the beginning of the head is there, and why.
    pub fn torn(head: Vec<u8>, first: Stamp, ready: Stamp, why: Missing) -> Self {
        let mut message = Self::new(Head::Bytes(head), first, ready, Body::lost(why));
        message.is_head_torn = true;
        message.progress = if why == Missing::Hole { Progress::Over } else { Progress::Arriving };
        message
    }

    /// Nothing more of it will come.
    pub fn close(&mut self) {
        self.body.finish();
        self.progress = Progress::Over;
    }
}
