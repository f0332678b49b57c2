//! `curl --trace` and `--trace-ascii`: records with times, each a mark line and lines of bytes.

mod ascii;
mod hex;

use super::{
    call::{Call, find},
    chunked,
    clock::{self, Clock},
    ending::Ending,
    head::{self, Head},
};
use ascii::Rebuilt;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Info,
    SendHeader,
    SendData,
    RecvHeader,
    RecvData,
    /// TLS records.
    Other,
}

/// A record's first line, taken apart.
struct Mark<'t> {
    kind: Kind,
    /// Microseconds since midnight.
    time: Option<i64>,
    /// Transfer and connection, of `--trace-ids`.
    ids: &'t [u8],
    /// What follows: the message of an info, else the size.
    text: &'t [u8],
}

fn mark(line: &[u8]) -> Option<Mark<'_>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let time = line.get(..15).and_then(clock::time_of_day).filter(|_| line.get(15) == Some(&b' '));
    let mut rest = if time.is_some() { &line[16..] } else { line };
    let mut ids: &[u8] = b"";
    if rest.starts_with(b"[") {
        let end = memchr::memchr(b']', rest)?;
        ids = &rest[1..end];
        rest = rest[end + 1..].trim_ascii_start();
    }
    let kinds: [(&[u8], Kind); 7] = [
        (b"== Info: ", Kind::Info),
        (b"=> Send header, ", Kind::SendHeader),
        (b"=> Send data, ", Kind::SendData),
        (b"<= Recv header, ", Kind::RecvHeader),
        (b"<= Recv data, ", Kind::RecvData),
        (b"=> Send SSL data, ", Kind::Other),
        (b"<= Recv SSL data, ", Kind::Other),
    ];
    let (text, kind) = kinds.iter().find_map(|(m, kind)| Some((rest.strip_prefix(*m)?, *kind)))?;
    Some(Mark { kind, time, ids, text })
}

/// The size of `255 bytes (0xff)`.
fn size(text: &[u8]) -> Option<usize> {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(&text[..digits]).ok()?.parse().ok()
}

/// Calls that are under way: one a transfer, where the trace names transfers, else one.
struct Reader<'s> {
    open: Vec<(Vec<u8>, State)>,
    clock: Clock,
    lossy: bool,
    sink: &'s mut dyn FnMut(Call),
}

/// One call, with what is not decided yet.
#[derive(Default)]
struct State {
    call: Call,
    head: Vec<u8>,
    /// Continuous times of the trace; moments need a `Date`.
    sent: Option<i64>,
    headed: Option<i64>,
    ended: Option<i64>,
    marks: Vec<(u64, i64)>,
    data: Rebuilt,
    over: bool,
}

/// The most transfers that are followed at once.
const MOST_OPEN: usize = 64;

/// Hands over the calls of a text.
pub fn calls(text: &[u8], lossy: bool, sink: &mut dyn FnMut(Call)) {
    let mut reader = Reader { open: Vec::new(), clock: Clock::default(), lossy, sink };
    let mut at = 0;
    while at < text.len() {
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |n| at + n);
        let (start, line) = (at, &text[at..end]);
        at = (end + 1).min(text.len());
        let Some(mark) = mark(line) else { continue };
        let (bytes, next) = if mark.kind == Kind::Info {
            (Rebuilt::default(), at)
        } else if lossy {
            ascii::record(text, at, size(mark.text))
        } else {
            hex::record(text, at, size(mark.text))
        };
        at = next;
        reader.record(&mark, bytes, start);
    }
    reader.finish();
}

impl Reader<'_> {
    fn record(&mut self, mark: &Mark<'_>, bytes: Rebuilt, offset: usize) {
        let time = mark.time.map(|t| self.clock.continuous(t));
        // Transfers are told apart by the first number only: `0-1` is transfer 0 on connection 1.
        let ids = mark.ids.split(|b| *b == b'-').next().unwrap_or_default();
        if mark.kind == Kind::SendHeader {
            self.flush(ids);
            if self.open.len() >= MOST_OPEN {
                let (_, oldest) = self.open.remove(0);
                self.hand_over(oldest);
            }
            let mut state = State { sent: time, ..State::default() };
            state.call.offset = offset as u64;
            state.call.prints_bodies = true;
            state.call.rebuilt = self.lossy;
            request(&mut state.call, &bytes.bytes);
            self.open.push((ids.to_vec(), state));
            return;
        }
        let Some((_, state)) = self.open.iter_mut().rev().find(|(i, _)| i == ids) else { return };
        match mark.kind {
            Kind::SendData => {
                state.call.request_body.get_or_insert_default().extend_from_slice(&bytes.bytes);
            }
            Kind::RecvHeader => {
                if state.over {
                    return;
                }
                state.head.extend_from_slice(&bytes.bytes);
                if bytes.bytes == b"\r\n" || bytes.bytes == b"\n" || state.head.ends_with(b"\r\n\r\n") {
                    let text = std::mem::take(&mut state.head);
                    let Some(head) = Head::at(&text) else { return };
                    if !head.is_preliminary() {
                        state.call.answered(head);
                        state.headed = time;
                        let date = state.call.response_header("date").and_then(clock::date);
                        if let (Some(time), Some(date)) = (time, date) {
                            self.clock.dated(time, date);
                        }
                    }
                }
            }
            Kind::RecvData => {
                state.data.extend(bytes);
                state.marks.extend(time.map(|t| (state.data.bytes.len() as u64, t)));
            }
            Kind::Info => {
                if let Some(ending) = Ending::of(mark.text)
                    && state.call.ending == Ending::NotSaid
                {
                    (state.call.ending, state.ended) = (ending, time);
                }
                state.over |= state.call.ending != Ending::NotSaid;
            }
            Kind::SendHeader | Kind::Other => {}
        }
    }

    /// Hands over what is open for a transfer.
    fn flush(&mut self, ids: &[u8]) {
        if let Some(at) = self.open.iter().position(|(i, _)| i == ids) {
            let (_, state) = self.open.remove(at);
            self.hand_over(state);
        }
    }

    fn finish(&mut self) {
        for (_, state) in std::mem::take(&mut self.open) {
            self.hand_over(state);
        }
    }

    fn hand_over(&mut self, mut state: State) {
        let call = &mut state.call;
        let moment = |time: Option<i64>| time.and_then(|t| self.clock.moment(t));
        (call.sent, call.head, call.ended) = (moment(state.sent), moment(state.headed), moment(state.ended));
        call.marks = state.marks.iter().filter_map(|(at, t)| Some((*at, self.clock.moment(*t)?))).collect();
        call.framed = call.is_chunked() && chunked::begins(&state.data.bytes);
        call.body = if self.lossy && call.streams() { state.data.event_stream() } else { state.data.bytes };
        (self.sink)(state.call);
    }
}

/// Request line and headers, from the bytes of `Send header`.
fn request(call: &mut Call, head: &[u8]) {
    let mut lines = head.split(|b| *b == b'\n').map(|l| l.strip_suffix(b"\r").unwrap_or(l));
    let first = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let mut words = first.split(' ');
    call.request = words.next().zip(words.next()).map(|(m, t)| (m.to_owned(), t.to_owned()));
    call.request_headers = lines.filter_map(head::field).collect();
    // A body follows in records of its own, unless there is none.
    if find(&call.request_headers, "content-length").is_none_or(|l| l.trim() == "0")
        && find(&call.request_headers, "transfer-encoding").is_none()
    {
        call.request_body = Some(Vec::new());
    }
}
