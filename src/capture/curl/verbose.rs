//! `curl -v`: info, heads of both sides and bodies, line by line, with the progress meter in between.

use super::{
    call::Call,
    command::{self, Command},
    ending::{Ending, is_closing},
    head::{self, Head},
    meter,
};

/// Where in a call the text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before a request, or between two.
    Between,
    /// In the head of the request.
    Request,
    /// In the head of the response; `false` for an answer that another one follows.
    Response(bool),
    /// In the body of the response.
    Body,
    /// Behind the end, where a body may still come whose printing was late.
    Late,
}

struct Reader<'s> {
    call: Call,
    place: Place,
    pending: Option<Command>,
    tls: bool,
    sink: &'s mut dyn FnMut(Call),
}

/// Hands over the calls of a text.
pub fn calls(text: &[u8], sink: &mut dyn FnMut(Call)) {
    let mut reader = Reader { call: Call::default(), place: Place::Between, pending: None, tls: false, sink };
    let mut at = 0;
    while at < text.len() {
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |n| at + n);
        let start = at;
        at = (end + 1).min(text.len());
        if let Some(from) = command::start(&text[start..end]) {
            reader.flush(start);
            if let Some((command, length)) = Command::at(&text[start + from..]) {
                reader.pending = Some(command);
                at = (start + from + length).max(at);
            }
            continue;
        }
        let has_end = end < text.len();
        if let Some(line) = meter::strip(&text[start..end]) {
            reader.line(&line.text, line.ends && has_end, start);
        }
    }
    reader.flush(text.len());
}

impl Reader<'_> {
    /// The call is over; the next one begins at `offset`.
    fn flush(&mut self, offset: usize) {
        let mut call = std::mem::take(&mut self.call);
        if !call.is_blank() {
            call.tls = self.tls;
            settle(&mut call);
            (self.sink)(call);
        }
        self.call.offset = offset as u64;
        self.place = Place::Between;
    }

    fn line(&mut self, line: &[u8], ends: bool, offset: usize) {
        let bare = line.strip_suffix(b"\r").unwrap_or(line);
        match (self.place, bare) {
            (Place::Body | Place::Late, _) => self.in_body(line, bare, ends, offset),
            (_, [b'*', b' ', info @ ..]) => self.info(info, offset),
            (_, [b'>', b' ', rest @ ..]) => self.request(rest, offset),
            (_, b">") => self.place = Place::Between,
            (_, [b'<', b' ', rest @ ..]) => self.response(rest),
            (Place::Response(_), b"<") => self.response(b""),
            _ => {
                if let Some(ending) = bare.starts_with(b"curl: (").then(|| Ending::of(bare)).flatten() {
                    self.ended(ending);
                }
            }
        }
    }

    fn request(&mut self, rest: &[u8], offset: usize) {
        if self.place == Place::Request {
            if rest.is_empty() {
                self.place = Place::Between;
            } else {
                self.call.request_headers.extend(head::field(rest));
            }
            return;
        }
        let Some((method, target)) = request_line(rest) else { return };
        if self.call.request.is_some() {
            self.flush(offset);
        }
        self.call.request = Some((method, target));
        if self.call.command.is_none() {
            self.call.command = self.pending.take();
        }
        self.place = Place::Request;
    }

    fn response(&mut self, rest: &[u8]) {
        if let Some((status, reason)) = head::status(rest) {
            let preliminary = status < 200 || reason.eq_ignore_ascii_case("connection established");
            (self.call.status, self.call.response_headers) = (Some(status), Vec::new());
            if preliminary {
                self.call.status = None;
            }
            self.place = Place::Response(!preliminary);
        } else if let Place::Response(last) = self.place {
            if rest.is_empty() {
                self.place = if last { Place::Body } else { Place::Between };
            } else if last {
                self.call.response_headers.extend(head::field(rest));
            }
        }
    }

    fn info(&mut self, info: &[u8], offset: usize) {
        let text = String::from_utf8_lossy(info);
        if text.starts_with("SSL connection using") || text.contains("TLS handshake") {
            self.tls = true;
        }
        let connects = text.trim_start().starts_with("Trying ");
        if connects {
            self.tls = false;
            if !self.call.is_blank() {
                self.flush(offset);
            }
        }
        self.said(&text);
        if let Some(ending) = Ending::of(info) {
            self.ended(ending);
            if is_closing(text.trim()) && self.place == Place::Body {
                self.place = if self.call.body.is_empty() { Place::Late } else { Place::Between };
            }
        }
    }

    /// How many bytes curl says that it got.
    fn said(&mut self, text: &str) {
        let words: Vec<&str> = text.split_ascii_whitespace().take(16).collect();
        if text.starts_with("Operation timed out")
            && let Some(at) = words.iter().position(|w| *w == "with")
        {
            self.call.announced = words.get(at + 1).and_then(|n| n.parse().ok());
        }
    }

    fn ended(&mut self, ending: Ending) {
        // Before a request it is one of several addresses that did not answer.
        if self.call.ending == Ending::NotSaid && !self.call.is_blank() {
            self.call.ending = ending;
        }
    }

    fn in_body(&mut self, line: &[u8], bare: &[u8], ends: bool, offset: usize) {
        if let Some(rest) = bare.strip_prefix(b"> ").filter(|r| request_line(r).is_some()) {
            return self.request(rest, offset);
        }
        if let Some(rest) = bare.strip_prefix(b"< ").filter(|r| head::status(r).is_some()) {
            return self.response(rest);
        }
        if let Some(rest) = bare.strip_prefix(b"* ") {
            return self.info(rest, offset);
        }
        if bare.starts_with(b"curl: (") && Ending::of(bare).is_some() {
            return self.ended(Ending::of(bare).unwrap_or_default());
        }
        if bare.starts_with(b"Note: ") && self.place == Place::Late {
            return;
        }
        // Messages follow a body that has no line end at once.
        if let Some(at) = message_within(bare) {
            self.call.body.extend_from_slice(&bare[..at]);
            return match &bare[at..] {
                [b'*', b' ', info @ ..] => self.info(info, offset),
                other => self.ended(Ending::of(other).unwrap_or_default()),
            };
        }
        if let Some((at, size)) = data_count(bare) {
            if bare[at] == b'{' {
                self.call.announced = Some(self.call.announced.unwrap_or(0).saturating_add(size));
            }
            self.call.body.extend_from_slice(&bare[..at]);
            return;
        }
        self.call.body.extend_from_slice(line);
        if ends {
            self.call.body.push(b'\n');
        }
    }
}

/// `METHOD target HTTP/version`.
fn request_line(line: &[u8]) -> Option<(String, String)> {
    let text = std::str::from_utf8(line).ok()?;
    let mut words = text.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let valid = (3..=20).contains(&method.len())
        && method.bytes().all(|b| b.is_ascii_uppercase() || b == b'-')
        && version.starts_with("HTTP/");
    valid.then(|| (method.to_owned(), target.to_owned()))
}

/// `{ [55 bytes data]`, at the end of a line: where it begins, and the count.
fn data_count(line: &[u8]) -> Option<(usize, u64)> {
    let front = line.strip_suffix(b" bytes data]")?;
    let digits = front.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let number = std::str::from_utf8(&front[front.len() - digits..]).ok()?.parse().ok()?;
    let front = &front[..front.len() - digits];
    let at = front.strip_suffix(b"{ [").or_else(|| front.strip_suffix(b"} ["))?.len();
    Some((at, number))
}

/// Where, within a line of body, a message of curl begins that says of the end.
fn message_within(line: &[u8]) -> Option<usize> {
    let marks = [
        "* Connection #",
        "* Closing connection",
        "* Operation timed out",
        "* transfer closed with",
        "* shutting down connection",
        "curl: (",
    ];
    let at = marks.iter().filter_map(|m| memchr::memmem::rfind(line, m.as_bytes())).max()?;
    let message = &line[at..];
    let message = message.strip_prefix(b"* ").unwrap_or(message);
    let whole = String::from_utf8_lossy(message);
    let closes = is_closing(&whole) && whole.bytes().filter(|b| matches!(b, b'"' | b'}')).count() == 0;
    let fails =
        Ending::of(message).is_some_and(|e| !matches!(e, Ending::Intact | Ending::Closed)) && !whole.contains('"');
    (at > 0 && (closes || fails)).then_some(at)
}

/// What can be said only at the end: the second head of `-i`, late line ends, whether bodies are in the text at all.
fn settle(call: &mut Call) {
    let mut rest = &*call.body;
    while let Some(head) = Head::at(rest) {
        rest = head.rest;
    }
    let heads = call.body.len() - rest.len();
    call.prints_bodies = heads > 0;
    call.body.drain(..heads);
    if !call.body.iter().any(|b| !b.is_ascii_whitespace()) {
        // Line ends alone are those of a script between two runs.
        call.body.clear();
    }
    call.prints_bodies |= !call.body.is_empty();
    // The last chunk alone has five bytes; curl counts the framing.
    call.prints_bodies |= call.is_chunked() && call.announced == Some(5) && call.ending == Ending::Intact;
}
