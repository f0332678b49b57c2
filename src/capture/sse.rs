//! The bytes of one event stream: an anonymous conversation of which nothing but the server's half is known.

use super::{Bytes, Context, FileFacts, RawBody, RawExchange, ReadError, whole};
use crate::model::Missing;

/// Reads an event stream.
///
/// # Errors
/// Where the file cannot be read.
pub fn read(input: &mut Bytes<'_>, context: &Context<'_>) -> Result<FileFacts, ReadError> {
    let mut facts = FileFacts::default();
    exchanges(context, input, &mut facts, &mut |facts, raw| facts.push(context, raw))?;
    Ok(facts)
}

fn exchanges(
    context: &Context<'_>,
    input: &mut Bytes<'_>,
    facts: &mut FileFacts,
    sink: &mut dyn FnMut(&mut FileFacts, &RawExchange<'_>),
) -> Result<(), ReadError> {
    let (bytes, complete) = whole::read(context, input, facts)?;
    let mut raw = RawExchange::new("MESSAGE", "sse:");
    raw.status = Some(200);
    raw.response_headers = vec![("content-type".into(), "text/event-stream".into())];
    // Whether the stream ended with the file is not known; what the file holds is all there is.
    raw.response_body =
        if complete { RawBody::Whole(bytes.into()) } else { RawBody::Cut(bytes.into(), Missing::SizeLimit) };
    sink(facts, &raw);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        capture::{Limits, header, specimen},
        model::End,
    };

    #[test]
    fn a_raw_stream_is_one_anonymous_message_exchange() {
        let bytes = b"\xef\xbb\xbfid: 1\r\ndata: {}\r\n\r\ndata: cut";
        let outcome = specimen::read(&exchanges, bytes);
        let [raw] = outcome.exchanges.as_slice() else { panic!("one exchange") };
        assert_eq!((raw.method.as_ref(), raw.url.as_ref(), raw.status), ("MESSAGE", "sse:", Some(200)));
        assert_eq!(header(&raw.response_headers, "Content-Type"), Some("text/event-stream"));
        assert_eq!(raw.response_body, RawBody::Whole(bytes.as_slice().into()));
        assert_eq!((raw.end, raw.sent, raw.ended), (End::Unknown, None, None));
    }

    #[test]
    fn a_stream_beyond_the_bound_is_cut_and_says_so() {
        let limits = Limits { body: 8, ..Limits::default() };
        let outcome = specimen::read_within(&exchanges, b"data: 1\n\ndata: 2\n\n", limits);
        assert_eq!(outcome.exchanges[0].response_body, RawBody::Cut(b"data: 1\n".into(), Missing::SizeLimit));
        assert_eq!(outcome.caveats(), [("limit-reached", 1)]);
    }
}
