//! The bytes of one event stream: an anonymous conversation of which nothing but the server's half is known.
//!
//! The stream is read in parts that end behind blank lines, side by side, and is never held as a whole.

use super::{Bytes, Context, FileFacts, RawBody, RawExchange, ReadError, digest};
use crate::model::{Body, Missing};
use parts::Parts;

mod parts;

/// How many parts each thread gets at a time.
const PARTS: usize = 4;

/// Reads an event stream.
///
/// # Errors
/// Where the file cannot be read.
pub fn read(input: &mut Bytes<'_>, context: &Context<'_>) -> Result<FileFacts, ReadError> {
    read_in_parts(input, context, parts::SIZE)
}

/// As [`read`], with parts of so many bytes and a little more. The result does not depend on it.
fn read_in_parts(input: &mut Bytes<'_>, context: &Context<'_>, size: usize) -> Result<FileFacts, ReadError> {
    let mut facts = FileFacts::default();
    let mut parts = Parts::new(input, context.limits.body, size);
    let first = parts.next()?.unwrap_or_default();
    let mut lines = parts::lines(&first);
    let mut raw = RawExchange::new("MESSAGE", "sse:");
    raw.status = Some(200);
    raw.response_headers = vec![("content-type".into(), "text/event-stream".into())];
    // Whether the stream ended with the file is not known; what the file holds is all there is.
    raw.response_body = RawBody::Whole(first.into());
    facts.push(context, &raw);
    let mut batch = parts.batch(PARTS * rayon::current_num_threads())?;
    while !batch.is_empty() {
        let exchange = facts.exchanges.last_mut();
        let (next, ()) = rayon::join(
            || parts.batch(PARTS * rayon::current_num_threads()),
            || exchange.into_iter().for_each(|x| digest::continue_stream(context, x, &mut lines, &batch)),
        );
        batch = next?;
    }
    if parts.is_cut() {
        let most = context.limits.body;
        let message = format!("the file is longer than {most} bytes (limit `body`); the rest was dropped");
        facts.caveat("limit-reached", message);
        for exchange in &mut facts.exchanges {
            exchange.response = match std::mem::replace(&mut exchange.response, Body::Empty) {
                Body::Complete(content) => Body::Partial(content, Missing::SizeLimit),
                other => other,
            };
        }
    }
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        capture::{Limits, digest::Names},
        model::{Content, End, EventLog, Method},
        redact::Key,
    };
    use std::{io::Cursor, sync::atomic::AtomicU64};

    fn facts(bytes: &[u8], body: u64, size: usize) -> FileFacts {
        let (key, names, consumed) = (Key::new(None, false), Names::default(), AtomicU64::new(0));
        let limits = Limits { body, ..Limits::default() };
        let context = Context { key: &key, limits, names: &names, consumed: &consumed, vantage: None };
        read_in_parts(&mut Cursor::new(bytes), &context, size).unwrap()
    }

    fn log(facts: &FileFacts) -> &EventLog {
        match facts.exchanges[0].response.content() {
            Some(Content::Events(log)) => log,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_raw_stream_is_one_anonymous_message_exchange() {
        let facts = facts(b"\xef\xbb\xbfid: 1\r\ndata: {}\r\n\r\ndata: cut", 1 << 20, 64);
        let [exchange] = facts.exchanges.as_slice() else { panic!("one exchange") };
        assert_eq!((exchange.method, &*exchange.endpoint, exchange.status), (Method::Message, "sse:", Some(200)));
        assert_eq!((exchange.end, exchange.sent, exchange.ended), (End::Unknown, None, None));
        assert!(exchange.response.is_whole());
        let log = log(&facts);
        assert_eq!((log.events.len(), log.size), (1, 31));
        assert_eq!(log.tail.as_ref().map(|t| (t.start, t.end, t.line)), Some((22, 31, 4)));
    }

    #[test]
    fn an_empty_stream_is_an_empty_body() {
        assert_eq!(facts(b"", 8, 8).exchanges[0].response, Body::Empty);
    }

    #[test]
    fn a_stream_beyond_the_bound_is_cut_and_says_so() {
        for size in [1, 4, 64] {
            let facts = facts(b"data: 1\n\ndata: 2\n\n", 8, size);
            assert!(matches!(facts.exchanges[0].response, Body::Partial(_, Missing::SizeLimit)), "{size}");
            assert_eq!(log(&facts).size, 8);
            assert_eq!(facts.caveats["limit-reached"].count, 1);
        }
    }

    #[test]
    fn the_size_of_the_parts_changes_nothing() {
        let progress = |token: u8, n: u32| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"{token}","progress":{n}}}}}"#
            )
        };
        let mut text = "\u{feff}: hello\n\nretry: 5\nid: a_0\ndata\n\n".to_owned();
        for n in 0..40 {
            let end = if n % 3 == 0 { "\r\n" } else { "\n" };
            text += &format!("id: {}_{n}{end}data: {}{end}{end}", n % 5, progress((n / 7) as u8, n));
        }
        text += "data: a\rdata: b\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n\n\nevent: endpoint\ndata: /m\n\nretry: 9\ndata: x\n\nid: cut";
        let whole = facts(text.as_bytes(), 1 << 20, 1 << 20);
        assert_eq!(log(&whole).events.len(), 45);
        for size in [1, 7, 64, 100, 333, 1000] {
            let parts = facts(text.as_bytes(), 1 << 20, size);
            assert_eq!(log(&parts), log(&whole), "{size}");
        }
    }
}
