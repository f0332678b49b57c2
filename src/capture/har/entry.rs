//! One entry of a HAR as it stands in the text: which members it has and where, nothing decided yet.

use super::{Scratch, relevance};
use crate::capture::digest;
use crate::wire::har_split::{Buffer, Fault, Pairs, RawString, Scalar, Scanner};

/// The text of a body.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Text<'t> {
    /// There is no such member, or it is `null`.
    #[default]
    Absent,
    /// Not unescaped yet.
    Raw(RawString<'t>),
    /// Unescaped into the scratch buffer of its half of the exchange; `cut` where the limit was reached.
    Copied { cut: bool },
}

#[derive(Debug, Default)]
pub(super) struct Request<'t> {
    pub method: Scalar<'t>,
    pub url: Scalar<'t>,
    pub http_version: Scalar<'t>,
    pub headers: Pairs<'t>,
    pub body_size: Scalar<'t>,
    pub has_body: bool,
    pub mime: Scalar<'t>,
    pub text: Text<'t>,
    pub encoding: Scalar<'t>,
    pub file: Scalar<'t>,
    pub params: Scalar<'t>,
}

#[derive(Debug, Default)]
pub(super) struct Response<'t> {
    pub present: bool,
    pub status: Scalar<'t>,
    pub headers: Pairs<'t>,
    pub body_size: Scalar<'t>,
    pub error: Scalar<'t>,
    pub size: Scalar<'t>,
    pub mime: Scalar<'t>,
    pub text: Text<'t>,
    pub encoding: Scalar<'t>,
    pub file: Scalar<'t>,
    pub comment: Scalar<'t>,
}

#[derive(Debug, Default)]
pub(super) struct Timings<'t> {
    pub blocked: Scalar<'t>,
    pub dns: Scalar<'t>,
    pub connect: Scalar<'t>,
    pub send: Scalar<'t>,
    pub wait: Scalar<'t>,
    pub receive: Scalar<'t>,
}

/// One entry.
#[derive(Debug, Default)]
pub(super) struct Entry<'t> {
    pub started: Scalar<'t>,
    pub time: Scalar<'t>,
    pub comment: Scalar<'t>,
    pub server_address: Scalar<'t>,
    pub server_port: Scalar<'t>,
    pub connection: Scalar<'t>,
    pub connection_id: Scalar<'t>,
    pub from_cache: Scalar<'t>,
    /// The array `_eventSourceMessages`.
    pub messages: Scalar<'t>,
    pub request: Request<'t>,
    pub response: Response<'t>,
    pub timings: Timings<'t>,
}

impl<'t> Entry<'t> {
    /// Reads the entry at which the scanner stands. What the previous one said is forgotten, its allocations are not.
    pub fn read(&mut self, scanner: &mut Scanner<'t>, scratch: &mut Scratch, limit: usize) -> Result<(), Fault> {
        self.clear();
        scratch.clear();
        scanner.object(|scanner, key| {
            match key {
                b"startedDateTime" => self.started = scanner.scalar()?,
                b"time" => self.time = scanner.scalar()?,
                b"comment" => self.comment = scanner.scalar()?,
                b"serverIPAddress" => self.server_address = scanner.scalar()?,
                b"_serverPort" => self.server_port = scanner.scalar()?,
                b"connection" => self.connection = scanner.scalar()?,
                b"_connectionId" => self.connection_id = scanner.scalar()?,
                b"_fromCache" => self.from_cache = scanner.scalar()?,
                b"_eventSourceMessages" => self.messages = scanner.scalar()?,
                b"request" if scanner.peek() == Some(b'{') => self.request.read(scanner, scratch, limit)?,
                b"response" if scanner.peek() == Some(b'{') => self.response(scanner, scratch, limit)?,
                b"timings" if scanner.peek() == Some(b'{') => self.timings.read(scanner)?,
                _ => scanner.skip()?,
            }
            Ok(())
        })
    }

    fn clear(&mut self) {
        let (mut request, mut response) = (std::mem::take(&mut self.request), std::mem::take(&mut self.response));
        request.headers.clear();
        response.headers.clear();
        *self = Self {
            request: Request { headers: request.headers, ..Request::default() },
            response: Response { headers: response.headers, ..Response::default() },
            ..Self::default()
        };
    }

    fn response(&mut self, scanner: &mut Scanner<'t>, scratch: &mut Scratch, limit: usize) -> Result<(), Fault> {
        self.response.present = true;
        scanner.object(|scanner, key| {
            match key {
                b"status" => self.response.status = scanner.scalar()?,
                b"headers" => self.response.headers.read(scanner, digest::is_read)?,
                b"bodySize" => self.response.body_size = scanner.scalar()?,
                b"_error" | b"_failureText" => {
                    let error = scanner.scalar()?;
                    if error.is_present() {
                        self.response.error = error;
                    }
                }
                b"content" if scanner.peek() == Some(b'{') => self.content(scanner, scratch, limit)?,
                _ => scanner.skip()?,
            }
            Ok(())
        })
    }

    fn content(&mut self, scanner: &mut Scanner<'t>, scratch: &mut Scratch, limit: usize) -> Result<(), Fault> {
        scanner.object(|scanner, key| {
            match key {
                b"size" => self.response.size = scanner.scalar()?,
                b"mimeType" => self.response.mime = scanner.scalar()?,
                b"text" => {
                    // Once it is known that the body will be wanted, it is unescaped while its end is looked for.
                    let wanted = relevance::may_be_mcp(self);
                    self.response.text = text(scanner, wanted.then_some(&mut scratch.response), limit)?;
                }
                b"encoding" => self.response.encoding = scanner.scalar()?,
                b"_file" => self.response.file = scanner.scalar()?,
                b"comment" => self.response.comment = scanner.scalar()?,
                _ => scanner.skip()?,
            }
            Ok(())
        })
    }
}

impl<'t> Request<'t> {
    fn read(&mut self, scanner: &mut Scanner<'t>, scratch: &mut Scratch, limit: usize) -> Result<(), Fault> {
        scanner.object(|scanner, key| {
            match key {
                b"method" => self.method = scanner.scalar()?,
                b"url" => self.url = scanner.scalar()?,
                b"httpVersion" => self.http_version = scanner.scalar()?,
                b"headers" => self.headers.read(scanner, digest::is_read)?,
                b"bodySize" => self.body_size = scanner.scalar()?,
                b"postData" if scanner.peek() == Some(b'{') => self.body(scanner, scratch, limit)?,
                _ => scanner.skip()?,
            }
            Ok(())
        })
    }

    fn body(&mut self, scanner: &mut Scanner<'t>, scratch: &mut Scratch, limit: usize) -> Result<(), Fault> {
        self.has_body = true;
        scanner.object(|scanner, key| {
            match key {
                b"mimeType" => self.mime = scanner.scalar()?,
                b"text" => {
                    let wanted = relevance::is_of_type(&self.mime, &self.headers, b"json");
                    self.text = text(scanner, wanted.then_some(&mut scratch.request), limit)?;
                }
                b"encoding" => self.encoding = scanner.scalar()?,
                b"_file" => self.file = scanner.scalar()?,
                b"params" => self.params = scanner.scalar()?,
                _ => scanner.skip()?,
            }
            Ok(())
        })
    }
}

impl<'t> Timings<'t> {
    fn read(&mut self, scanner: &mut Scanner<'t>) -> Result<(), Fault> {
        scanner.object(|scanner, key| {
            match key {
                b"blocked" => self.blocked = scanner.scalar()?,
                b"dns" => self.dns = scanner.scalar()?,
                b"connect" => self.connect = scanner.scalar()?,
                b"send" => self.send = scanner.scalar()?,
                b"wait" => self.wait = scanner.scalar()?,
                b"receive" => self.receive = scanner.scalar()?,
                _ => scanner.skip()?,
            }
            Ok(())
        })
    }
}

/// Reads the text of a body, into `out` where that is given.
fn text<'t>(scanner: &mut Scanner<'t>, out: Option<&mut Buffer>, limit: usize) -> Result<Text<'t>, Fault> {
    match out {
        Some(out) if scanner.peek() == Some(b'"') => {
            out.clear();
            let copied = scanner.string_into(out, limit)?;
            Ok(Text::Copied { cut: copied.cut })
        }
        _ => Ok(scanner.scalar()?.raw().map_or(Text::Absent, Text::Raw)),
    }
}
