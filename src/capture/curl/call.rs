//! One request of curl and its answer, as it is put together from what curl prints.

use super::{chunked, clock, command::Command, ending::Ending, head};
use crate::{
    capture::{Headers, Limits, RawBody, RawExchange, encoded, header},
    model::{End, Missing, Side, Time, Vantage},
};
use std::borrow::Cow;

/// One request and its answer.
#[derive(Debug, Default)]
pub struct Call {
    /// Offset of its first line in the file.
    pub offset: u64,
    /// The shell's command line, where it stands in the text.
    pub command: Option<Command>,
    /// Request line: method and target.
    pub request: Option<(String, String)>,
    /// Request headers.
    pub request_headers: Vec<(String, String)>,
    /// The bytes that were sent as body, where the format holds them.
    pub request_body: Option<Vec<u8>>,
    /// The last response that is no 1xx.
    pub status: Option<u16>,
    /// Its headers.
    pub response_headers: Vec<(String, String)>,
    /// Its body, as far as it was printed.
    pub body: Vec<u8>,
    /// When the body had arrived up to an offset.
    pub marks: encoded::Marks,
    /// Times, where the trace has them.
    pub sent: Option<Time>,
    /// When the head of the response was there.
    pub head: Option<Time>,
    /// When curl said that the transfer was over.
    pub ended: Option<Time>,
    /// What it said.
    pub ending: Ending,
    /// How many bytes of body curl says that it received, where it does: at least so many arrived.
    pub announced: Option<u64>,
    /// The body holds the chunk framing of HTTP.
    pub framed: bool,
    /// The body was rebuilt from a format that loses bytes.
    pub rebuilt: bool,
    /// The format prints every byte of body that arrived.
    pub prints_bodies: bool,
    /// TLS was spoken.
    pub tls: bool,
}

impl Call {
    /// Nothing of it was seen yet.
    pub fn is_blank(&self) -> bool {
        self.request.is_none() && self.status.is_none()
    }

    /// A request to a proxy to open a tunnel.
    pub fn is_tunnel(&self) -> bool {
        self.request.as_ref().is_some_and(|(method, _)| method == "CONNECT")
    }

    /// curl's name and version, as its `User-Agent` says.
    pub fn version(&self) -> Option<&str> {
        let agent = find(&self.request_headers, "user-agent")?;
        agent.starts_with("curl/").then_some(agent)
    }

    /// Takes over the first head of some text, and gives the rest.
    pub fn answered<'t>(&mut self, head: head::Head<'t>) -> &'t [u8] {
        self.status = Some(head.status);
        self.response_headers = head.headers;
        head.rest
    }

    /// A response header.
    pub fn response_header(&self, name: &str) -> Option<&str> {
        find(&self.response_headers, name)
    }

    fn length(&self) -> Option<usize> {
        self.response_header("content-length").and_then(|l| l.trim().parse().ok())
    }

    /// The body is an event stream.
    pub fn streams(&self) -> bool {
        self.response_header("content-type").is_some_and(|t| t.trim_start().starts_with("text/event-stream"))
    }

    /// The body is chunked.
    pub fn is_chunked(&self) -> bool {
        self.response_header("transfer-encoding").is_some_and(|t| t.to_ascii_lowercase().contains("chunked"))
    }

    /// Everything is there: as an exchange.
    pub fn exchange(mut self, limits: &Limits) -> RawExchange<'static> {
        let mut finished = false;
        if self.framed {
            (self.body, self.marks, finished) = chunked::undone(&self.body, &self.marks);
        }
        if let Some(length) = self.length().filter(|l| *l < self.body.len()) {
            self.body.truncate(length);
        }
        let (body, end) = self.judged(finished);
        let marks = std::mem::take(&mut self.marks);
        let (method, url) = self.target();
        let mut raw = RawExchange::new(method, url);
        raw.at.offset = Some(self.offset);
        raw.vantage = Vantage::Client;
        raw.request_body = self.sent_body();
        raw.request_headers = owned(std::mem::take(&mut self.request_headers));
        if raw.request_headers.is_empty() {
            raw.request_headers = self.command.as_ref().map(Command::sent_headers).unwrap_or_default();
        }
        raw.status = self.status;
        raw.end = end;
        (raw.sent, raw.head, raw.ended) = (self.sent, self.head, self.ended);
        if raw.sent.is_none() && raw.head.is_none() {
            raw.head = self.response_header("date").and_then(clock::date);
            raw.coarse_times = raw.head.is_some();
        }
        raw.response_headers = owned(std::mem::take(&mut self.response_headers));
        raw.rebuilt = self.rebuilt;
        if end == End::Open || self.status.is_none() {
            raw.ended = None;
        }
        // curl undoes the coding only with `--compressed`, and does not say whether it did.
        let coded = header(&raw.response_headers, "content-encoding").is_some() && !looks_like_text(body.bytes());
        (raw.response_body, raw.marks) =
            if coded { encoded::decoded(&raw.response_headers, body, marks, limits) } else { (body, marks) };
        raw
    }

    /// What the printed body is, and how it ended.
    fn judged(&mut self, finished: bool) -> (RawBody<'static>, End) {
        let body = std::mem::take(&mut self.body);
        let Some(status) = self.status else {
            let end = match self.ending {
                Ending::ByServer => End::Abrupt(Side::Server),
                Ending::ByClient => End::Abrupt(Side::Client),
                Ending::Intact | Ending::Closed | Ending::NotSaid => End::Unknown,
            };
            let why = if end == End::Unknown { Missing::NotRecorded } else { Missing::Failed };
            return (RawBody::NotCaptured(why), end);
        };
        let bodiless = matches!(status, 204 | 304) || self.method() == Some("HEAD") || self.length() == Some(0);
        if bodiless {
            return (RawBody::EMPTY, End::Clean);
        }
        let complete = finished || self.length() == Some(body.len());
        let end = match self.ending {
            _ if complete => End::Clean,
            Ending::ByClient => End::Abrupt(Side::Client),
            Ending::ByServer => End::Abrupt(Side::Server),
            Ending::Intact => End::Clean,
            Ending::Closed if self.length().is_some() || self.is_chunked() => End::Clean,
            // Without a length the end of the connection is that of the body, whoever cut it.
            Ending::Closed => End::Unknown,
            Ending::NotSaid if self.prints_bodies && self.request.is_some() => End::Open,
            Ending::NotSaid => End::Unknown,
        };
        if body.is_empty() && !complete {
            let nothing_came = self.announced == Some(0) || self.prints_bodies;
            return match end {
                End::Abrupt(_) if nothing_came => (RawBody::Cut(Cow::Borrowed(&[]), Missing::CutOff), end),
                End::Open | End::Unknown if self.prints_bodies => {
                    (RawBody::Cut(Cow::Borrowed(&[]), Missing::CaptureEnd), end)
                }
                End::Clean if nothing_came => (RawBody::EMPTY, end),
                _ => (RawBody::NotCaptured(Missing::NotRecorded), end),
            };
        }
        let short = self.length().is_some_and(|l| l > body.len());
        let body = match end {
            End::Abrupt(_) => RawBody::Cut(body.into(), Missing::CutOff),
            End::Open => RawBody::Cut(body.into(), Missing::CaptureEnd),
            // Pasted text loses carriage returns, so that a short body need not be cut.
            End::Unknown if short && self.request.is_none() => RawBody::Cut(body.into(), Missing::CutOff),
            _ => RawBody::Whole(body.into()),
        };
        (body, end)
    }

    fn method(&self) -> Option<&str> {
        let printed = self.request.as_ref().map(|(method, _)| method.as_str());
        printed.or(self.command.as_ref().map(|c| c.method.as_str()))
    }

    /// Method and URL; without a request an anonymous message.
    fn target(&self) -> (String, String) {
        let Some((method, target)) = &self.request else {
            return match &self.command {
                Some(command) => (command.method.clone(), command.url.clone()),
                None => ("MESSAGE".into(), "curl:".into()),
            };
        };
        if target.contains("://") {
            return (method.clone(), target.clone());
        }
        let tls = self.tls || self.command.as_ref().is_some_and(|c| c.url.starts_with("https:"));
        let scheme = if tls { "https" } else { "http" };
        let host = find(&self.request_headers, "host").unwrap_or("unknown");
        (method.clone(), format!("{scheme}://{host}{target}"))
    }

    /// The request's body: what was printed, or, where only its length was, what the command line says.
    fn sent_body(&mut self) -> RawBody<'static> {
        if let Some(mut bytes) = self.request_body.take() {
            if find(&self.request_headers, "transfer-encoding").is_some() && chunked::begins(&bytes) {
                (bytes, ..) = chunked::undone(&bytes, &Vec::new());
            }
            let announced = find(&self.request_headers, "content-length").and_then(|l| l.trim().parse::<usize>().ok());
            if announced.is_some_and(|l| l > bytes.len()) {
                return RawBody::Cut(bytes.into(), Missing::NotRecorded);
            }
            return RawBody::Whole(bytes.into());
        }
        let typed = self.command.as_mut().and_then(|c| c.data.take());
        if self.request.is_none() {
            return match typed {
                Some(bytes) => RawBody::Whole(bytes.into()),
                None if self.command.as_ref().is_some_and(|c| !c.sends) => RawBody::EMPTY,
                None => RawBody::NotCaptured(Missing::NotRecorded),
            };
        }
        let announced = find(&self.request_headers, "content-length").and_then(|l| l.trim().parse::<usize>().ok());
        let chunked = find(&self.request_headers, "transfer-encoding").is_some();
        match (announced, typed) {
            (Some(0), _) => RawBody::EMPTY,
            (None, None) if !chunked && self.method() != Some("POST") => RawBody::EMPTY,
            (Some(length), Some(bytes)) if bytes.len() == length => RawBody::Whole(bytes.into()),
            _ => RawBody::NotCaptured(Missing::NotRecorded),
        }
    }
}

/// The first value of a header.
pub fn find<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
}

fn owned(headers: Vec<(String, String)>) -> Headers<'static> {
    headers.into_iter().map(|(n, v)| (n.into(), v.into())).collect()
}

/// A body that was decoded already: no compressed body begins with only text.
fn looks_like_text(body: &[u8]) -> bool {
    let head = &body[..body.len().min(64)];
    std::str::from_utf8(head).is_ok() && head.iter().all(|b| *b >= b' ' || b.is_ascii_whitespace())
}
