//! `curl -i`: heads and bodies one after the other, without requests and times.

use super::{
    call::Call,
    command::{self, Command},
    ending::Ending,
    head::Head,
};

/// Hands over the calls of a text.
pub fn calls(text: &[u8], sink: &mut dyn FnMut(Call)) {
    let mut at = 0;
    let mut pending: Option<Command> = None;
    // Text before the first head: prompts, commands, notes.
    while at < text.len() {
        if let Some(head) = Head::at(&text[at..]) {
            let start = at;
            let mut call = Call { offset: start as u64, prints_bodies: true, ..Call::default() };
            let preliminary = head.is_preliminary();
            let rest = call.answered(head);
            at = text.len() - rest.len();
            if preliminary {
                continue;
            }
            call.command = pending.take();
            let known = call.response_header("content-length").and_then(|l| l.trim().parse::<usize>().ok());
            let whole = known.filter(|l| *l <= rest.len() && ends_there(&rest[*l..]));
            let (length, next) = match whole {
                Some(length) => (length, length),
                None => body(rest),
            };
            call.body = rest[..length].to_vec();
            if let Some(ending) = said(&rest[length..next]) {
                call.ending = ending;
            }
            at += next;
            sink(call);
            continue;
        }
        let line = &text[at..at + line_length(&text[at..])];
        if let Some((found, length)) = command::start(line).and_then(|from| {
            let (found, length) = Command::at(&text[at + from..])?;
            Some((found, from + length))
        }) {
            pending = Some(found);
            at += length.max(1);
        } else {
            at += line.len();
        }
    }
}

/// Length of the next line, its end included; at least 1.
fn line_length(text: &[u8]) -> usize {
    memchr::memchr(b'\n', text).map_or(text.len(), |n| n + 1)
}

/// Behind a body of known length there is nothing, another head, or a line of its own.
fn ends_there(rest: &[u8]) -> bool {
    rest.is_empty() || rest.starts_with(b"\n") || rest.starts_with(b"\r\n") || is_next(rest) || is_message(rest)
}

fn is_next(rest: &[u8]) -> bool {
    rest.starts_with(b"HTTP/") && Head::at(rest).is_some()
}

/// curl's own message on stderr.
fn is_message(rest: &[u8]) -> bool {
    rest.strip_prefix(b"curl: (").is_some_and(|r| r.first().is_some_and(u8::is_ascii_digit))
}

/// How long the body is, and where the next head, command or the end stands: a head may follow without a line end.
fn body(text: &[u8]) -> (usize, usize) {
    let mut headless = 0;
    for start in memchr::memchr2_iter(b'H', b'\n', text) {
        if text[start] == b'H' {
            if start >= headless && text[start..].starts_with(b"HTTP/") {
                match Head::or_length(&text[start..]) {
                    Ok(_) => return (start, start),
                    Err(length) => headless = start + length,
                }
            }
            continue;
        }
        let line = &text[start + 1..];
        if is_message(line) {
            return (start + 1, start + 1 + line_length(line));
        }
        let line = &line[..line.len().min(512)];
        if line.starts_with(b"curl ")
            || line.starts_with(b"$ ")
            || memchr::memmem::find(&line[..line_length(line)], b" curl ").is_some()
        {
            let line = &text[start + 1..];
            if command::start(&line[..line_length(line)]).is_some() {
                return (start + 1, start + 1);
            }
        }
    }
    if let Some(at) = memchr::memmem::rfind(text, b"curl: (").filter(|at| is_message(&text[*at..])) {
        return (at, text.len());
    }
    (text.len(), text.len())
}

/// What a message behind the body says of the end.
fn said(message: &[u8]) -> Option<Ending> {
    message.starts_with(b"curl: (").then(|| Ending::of(message))?
}
