//! Reads transcripts, line by line; what is not understood is an error that names its line.

use super::{
    head::{self, Received, State},
    is_event_stream, mark, time,
};
use crate::{
    capture::{Bytes, Context, FileFacts, RawBody, RawExchange, ReadError},
    model::{End, Missing, Time, Vantage},
};
use std::{borrow::Cow, io::Read as _};

/// A transcript, parsed.
#[derive(Debug, Default)]
pub struct File {
    /// `# vantage:`.
    pub vantage: Vantage,
    /// `# recorder:`.
    pub recorder: Option<String>,
    /// The exchanges.
    pub exchanges: Vec<RawExchange<'static>>,
    /// The file ends inside a body.
    pub truncated: bool,
}

/// Reads one transcript file.
///
/// # Errors
/// Where the file cannot be read, is larger than the limit of a body, or holds a line that is not understood.
pub fn read(context: &Context<'_>, bytes: &mut Bytes<'_>) -> Result<FileFacts, ReadError> {
    let mut text = Vec::new();
    bytes.take(context.limits.body).read_to_end(&mut text)?;
    let file = parse(&text).map_err(ReadError::Damaged)?;
    let mut facts = FileFacts { vantage: file.vantage, recorder: file.recorder, ..FileFacts::default() };
    if text.len() as u64 == context.limits.body {
        facts.caveat("limit-reached", format!("only the first {} bytes were read (--limit body)", text.len()));
    }
    if file.truncated {
        facts.caveat("input-truncated", "the transcript ends inside a body: no line that begins with = follows it");
    }
    for raw in &file.exchanges {
        facts.push(context, raw);
    }
    Ok(facts)
}

/// Parses a transcript.
///
/// # Errors
/// `line 12: …` for the first line that is not understood.
pub fn parse(text: &[u8]) -> Result<File, String> {
    let mut reader = Reader::default();
    let mark = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let (text, mut offset) = (&text[mark..], mark);
    for (number, line) in text.split_inclusive(|b| *b == b'\n').enumerate() {
        reader.line(line, offset as u64).map_err(|e| format!("line {}: {e}", number + 1))?;
        offset += line.len();
    }
    reader.finish()?;
    Ok(reader.file)
}

/// Which lines may come next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Between,
    RequestHead,
    RequestBody,
    ResponseHead,
    ResponseBody,
}

#[derive(Default)]
struct Reader {
    file: File,
    part: Part,
    current: Option<RawExchange<'static>>,
    /// Where the next exchange begins and when, once its `@` line was read.
    begins: Option<(u64, Option<Time>)>,
    /// The start that a relative one counts from.
    last_start: Option<Time>,
    /// The time that a relative one within the exchange counts from.
    clock: Option<Time>,
    /// When the bytes behind the last mark arrived.
    segment: Option<Time>,
    /// A mark stands in the body.
    marked: bool,
    body: Vec<u8>,
    /// What the request's head says of its body.
    state: Option<State>,
}

impl Reader {
    fn line(&mut self, line: &[u8], offset: u64) -> Result<(), String> {
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        let in_body = matches!(self.part, Part::RequestBody | Part::ResponseBody);
        let Some(mark) = mark(bare) else {
            return if in_body {
                self.body_line(line, bare)
            } else if bare.trim_ascii().is_empty() {
                // A blank line ends a request's head as > alone does.
                if self.part == Part::RequestHead {
                    self.part = Part::RequestBody;
                }
                Ok(())
            } else {
                Err("this stands in no body (a body follows a line that is > or < alone)".to_owned())
            };
        };
        let text = std::str::from_utf8(&bare[1..]).map_err(|_| "this line is not UTF-8")?.trim();
        match mark {
            b'#' => self.comment(text),
            b'@' => self.at(text, offset),
            b'>' => self.request(text, offset),
            b'<' => self.response(text),
            _ => self.end(text),
        }
    }

    fn comment(&mut self, text: &str) -> Result<(), String> {
        let preamble = self.file.exchanges.is_empty() && self.current.is_none() && self.begins.is_none();
        let Some((name, value)) = text.split_once(": ").filter(|_| preamble) else { return Ok(()) };
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') {
            return Ok(());
        }
        match (name, value.trim()) {
            ("vantage", "client") => self.file.vantage = Vantage::Client,
            ("vantage", "proxy") => self.file.vantage = Vantage::Proxy,
            ("vantage", "server") => self.file.vantage = Vantage::Server,
            ("vantage", "unknown") => self.file.vantage = Vantage::Unknown,
            ("vantage", other) => {
                return Err(format!("no vantage is called '{other}' (client, proxy, server, unknown)"));
            }
            ("recorder", recorder) => self.file.recorder = Some(recorder.to_owned()),
            _ => {
                return Err(format!(
                    "no directive is called '{name}' (vantage, recorder; a comment has no such colon)"
                ));
            }
        }
        Ok(())
    }

    fn at(&mut self, text: &str, offset: u64) -> Result<(), String> {
        if self.part == Part::ResponseBody {
            let time = time::parse(text, self.clock).map_err(|e| format!("{e} (in a body, \\@ begins such a line)"))?;
            self.close_segment();
            (self.marked, self.segment) = (true, time);
            self.clock = time.or(self.clock);
            return Ok(());
        }
        self.finish()?;
        let start = time::parse(text, self.last_start)?;
        self.last_start = start.or(self.last_start);
        self.begins = Some((offset, start));
        Ok(())
    }

    fn request(&mut self, text: &str, offset: u64) -> Result<(), String> {
        match self.part {
            Part::RequestHead if text.is_empty() => self.part = Part::RequestBody,
            Part::RequestHead => {
                let raw = self.current.as_mut().ok_or("a request line comes first")?;
                if let Some(state) = text.strip_prefix("= ") {
                    let (state, rest) = head::state(state.trim());
                    self.state =
                        Some(state.filter(|_| rest.is_empty()).ok_or("write > = not-captured or > = partial")?);
                } else {
                    let (name, value) = head::header(text)?;
                    raw.request_headers.push((name.into(), value.into()));
                }
            }
            Part::ResponseBody => {
                return Err("a request begins inside a body: end the body with = clean (\\> begins such a line)".into());
            }
            Part::Between | Part::RequestBody | Part::ResponseHead => {
                self.finish()?;
                let (method, url) = head::request(text)?;
                let mut raw = RawExchange::new(method, url);
                let (offset, sent) = self.begins.take().unwrap_or((offset, None));
                raw.at.offset = Some(offset);
                raw.at.entry = u32::try_from(self.file.exchanges.len()).unwrap_or(u32::MAX);
                raw.sent = sent;
                self.clock = raw.sent;
                self.current = Some(raw);
                self.part = Part::RequestHead;
            }
        }
        Ok(())
    }

    fn response(&mut self, text: &str) -> Result<(), String> {
        match self.part {
            Part::RequestHead | Part::RequestBody => {
                self.request_ends()?;
                let (status, head) = head::status(text, self.clock)?;
                let raw = self.current.as_mut().ok_or("a request comes first")?;
                (raw.status, raw.head) = (status, head);
                raw.end = End::Clean;
                self.clock = head.or(self.clock);
                self.segment = head;
                self.part = Part::ResponseHead;
            }
            Part::ResponseHead if text.is_empty() => self.part = Part::ResponseBody,
            Part::ResponseHead => {
                let (name, value) = head::header(text)?;
                let raw = self.current.as_mut().ok_or("a request comes first")?;
                raw.response_headers.push((name.into(), value.into()));
            }
            Part::ResponseBody => return Err("a second response begins (in a body, \\< begins such a line)".into()),
            Part::Between => return Err("a response without a request".into()),
        }
        Ok(())
    }

    fn end(&mut self, text: &str) -> Result<(), String> {
        let ended = head::ended(text, self.clock)?;
        let failed = match self.part {
            Part::Between => return Err("nothing is open that could end".into()),
            Part::RequestHead | Part::RequestBody => {
                self.request_ends()?;
                true
            }
            Part::ResponseHead | Part::ResponseBody => false,
        };
        let usual = self.clock.filter(|_| matches!(ended.end, End::Clean | End::Abrupt(_)));
        let state = ended.state.or(failed.then_some(State::NotCaptured(Missing::Failed)));
        self.response_ends(ended.end, ended.time.unwrap_or(usual), state)?;
        if let Some(raw) = self.file.exchanges.last_mut() {
            raw.acknowledged = ended.received.map(|received| match received {
                Received::All => raw.response_body.bytes().len() as u64,
                Received::Bytes(bytes) => bytes,
            });
        }
        Ok(())
    }

    /// A line of a body: escaped, or as it stands.
    fn body_line(&mut self, line: &[u8], bare: &[u8]) -> Result<(), String> {
        match bare.strip_prefix(b"\\") {
            Some(rest) => match rest.strip_prefix(b"e ") {
                Some(escaped) => {
                    self.body.extend(super::escape::unbytes(escaped.strip_suffix(b"\r").unwrap_or(escaped))?);
                }
                None => self.body.extend_from_slice(&line[1..]),
            },
            None => self.body.extend_from_slice(line),
        }
        Ok(())
    }

    fn request_ends(&mut self) -> Result<(), String> {
        let state = self.state.take();
        if let Some(raw) = &mut self.current {
            raw.request_body = take(&mut self.body, state, false)?;
        }
        Ok(())
    }

    fn response_ends(&mut self, end: End, ended: Option<Time>, state: Option<State>) -> Result<(), String> {
        self.close_segment();
        let Some(mut raw) = self.current.take() else { return Ok(()) };
        (raw.end, raw.ended) = (end, ended);
        let streams = is_event_stream(&raw.response_headers);
        raw.response_body = take(&mut self.body, state, streams)?;
        // The line end that is no part of the body cannot have arrived.
        let length = raw.response_body.bytes().len() as u64;
        raw.marks.iter_mut().for_each(|(end, _)| *end = (*end).min(length));
        raw.marks.dedup_by_key(|(end, _)| *end);
        raw.marks.retain(|(end, _)| *end > 0);
        if !self.marked {
            // Without a mark nothing is known of when the events of the body arrived.
            raw.marks.clear();
        }
        (self.marked, self.segment, self.part) = (false, None, Part::Between);
        self.file.exchanges.push(raw);
        Ok(())
    }

    /// Everything since the last mark had arrived by the time of its segment.
    fn close_segment(&mut self) {
        let end = self.body.len() as u64;
        if let (Some(raw), Some(time)) = (&mut self.current, self.segment)
            && raw.marks.last().is_none_or(|(begun, _)| end > *begun)
            && end > 0
        {
            raw.marks.push((end, time));
        }
    }

    /// The exchange ends without a line that says so: where the next one begins, or the file ends.
    fn finish(&mut self) -> Result<(), String> {
        match self.part {
            Part::RequestHead | Part::RequestBody => self.request_ends()?,
            // A head that no body follows.
            Part::ResponseHead => return self.response_ends(End::Clean, self.clock, None),
            Part::ResponseBody => {
                self.file.truncated = true;
                return self.response_ends(End::Unknown, None, Some(State::Partial(Missing::CaptureEnd)));
            }
            Part::Between => {}
        }
        self.part = Part::Between;
        self.file.exchanges.extend(self.current.take());
        Ok(())
    }
}

/// The body that was read, by what is said of it. The last line end belongs to event streams only.
fn take(body: &mut Vec<u8>, state: Option<State>, streams: bool) -> Result<RawBody<'static>, String> {
    let mut bytes = std::mem::take(body);
    if !streams && bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    match state.unwrap_or(State::Whole) {
        State::Whole => Ok(RawBody::Whole(Cow::Owned(bytes))),
        State::Partial(why) => Ok(RawBody::Cut(Cow::Owned(bytes), why)),
        State::NotCaptured(why) if bytes.is_empty() => Ok(RawBody::NotCaptured(why)),
        State::NotCaptured(_) => Err("a body stands above, and yet it is said to be not captured".to_owned()),
    }
}
