//! The body of one HTTP/1 message that is there as a whole: without its framing.

use super::RawBody;
use crate::{
    model::Missing,
    wire::http1::{Chunk, Chunked, Framing},
};
use std::borrow::Cow;

/// A body without its framing, and whether it is complete, where that can be told.
pub fn unframed<'a>(bytes: &'a [u8], framing: Framing) -> (RawBody<'a>, Option<bool>) {
    let judged = |bytes: Cow<'a, [u8]>, complete: bool| {
        let body = if complete { RawBody::Whole(bytes) } else { RawBody::Cut(bytes, Missing::CutOff) };
        (body, Some(complete))
    };
    match framing {
        Framing::None => (RawBody::EMPTY, Some(true)),
        Framing::Length(length) => {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            judged(bytes[..bytes.len().min(length)].into(), bytes.len() >= length)
        }
        Framing::Close => (RawBody::Whole(bytes.into()), None),
        Framing::Chunked => {
            let (mut chunked, mut at, mut body) = (Chunked::default(), 0, Vec::new());
            loop {
                match chunked.next(bytes, &mut at) {
                    Chunk::Data(range) => body.extend_from_slice(&bytes[range]),
                    Chunk::End(_) => return judged(body.into(), true),
                    Chunk::More => return judged(body.into(), false),
                    // Decoded by hand, as in Fiddler, which leaves the header.
                    Chunk::Broken if body.is_empty() => return (RawBody::Whole(bytes.into()), None),
                    Chunk::Broken => return judged(body.into(), false),
                }
            }
        }
    }
}

/// A body that outlives its message.
pub fn owned(body: RawBody<'_>) -> RawBody<'static> {
    match body {
        RawBody::NotCaptured(why) => RawBody::NotCaptured(why),
        RawBody::Whole(bytes) => RawBody::Whole(bytes.into_owned().into()),
        RawBody::Cut(bytes, why) => RawBody::Cut(bytes.into_owned().into(), why),
    }
}
