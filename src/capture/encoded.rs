//! Bodies that a recorder keeps as they went over the wire: the content coding is undone here.

use super::{Headers, Limits, RawBody};
use crate::{
    model::{Missing, Time},
    wire::coding::{Bounds, Decoder, Failure},
};

/// Moments at which a body had arrived up to an offset, as in [`super::RawExchange::marks`].
pub type Marks = Vec<(u64, Time)>;

/// A body with the codings undone that its headers name, and its marks moved to offsets of the decoded bytes.
///
/// Where the coding is not known or damaged, what could be decoded before is kept as the body's beginning.
pub fn decoded<'a>(headers: &Headers<'_>, body: RawBody<'a>, marks: Marks, limits: &Limits) -> (RawBody<'a>, Marks) {
    let (encoded, cut) = match &body {
        RawBody::Whole(bytes) if !bytes.is_empty() => (bytes, None),
        RawBody::Cut(bytes, why) if !bytes.is_empty() => (bytes, Some(*why)),
        _ => return (body, marks),
    };
    let values = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-encoding"));
    let tokens: Vec<String> =
        values.flat_map(|(_, value)| value.split(',').map(|t| t.trim().to_ascii_lowercase())).collect();
    let bounds = Bounds { size: limits.body, ratio: limits.ratio };
    let mut decoder = match Decoder::new(tokens.iter().map(String::as_str), bounds) {
        Ok(Some(decoder)) => decoder,
        Ok(None) => return (body, marks),
        Err(_) => return (RawBody::NotCaptured(Missing::Undecodable), Vec::new()),
    };
    let (mut out, mut moved, mut failed, mut from) = (Vec::new(), Marks::new(), None, 0);
    let ends = marks.iter().map(|(at, time)| (*at, Some(*time))).chain([(encoded.len() as u64, None)]);
    for (end, time) in ends {
        let end = usize::try_from(end).unwrap_or(usize::MAX).clamp(from, encoded.len());
        if let Err(failure) = decoder.feed(&encoded[from..end], &mut out) {
            failed = Some(failure);
            break;
        }
        from = end;
        moved.extend(time.map(|time| (decoder.produced(out.len() as u64), time)));
    }
    if failed.is_none() {
        failed = decoder.finish(&mut out).err();
    }
    moved.iter_mut().for_each(|(at, _)| *at = (*at).min(out.len() as u64));
    let why = match failed {
        // The end of a coded body that is cut cannot be sound.
        Some(Failure::Damaged) if cut.is_some() => cut,
        Some(Failure::TooLarge) => Some(Missing::SizeLimit),
        Some(Failure::Damaged | Failure::Unknown) => Some(Missing::Undecodable),
        None => cut,
    };
    let body = match why {
        None => RawBody::Whole(out.into()),
        Some(why) if out.is_empty() => RawBody::NotCaptured(why),
        Some(why) => RawBody::Cut(out.into(), why),
    };
    (body, moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn gzip(pieces: &[&[u8]]) -> (Vec<u8>, Vec<u64>) {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let ends = pieces.iter().map(|p| {
            encoder.write_all(p).expect("written");
            encoder.flush().expect("flushed");
            encoder.get_ref().len() as u64
        });
        let ends = ends.collect();
        (encoder.finish().expect("finished"), ends)
    }

    fn headers(coding: &'static str) -> Headers<'static> {
        vec![("Content-Encoding".into(), coding.into())]
    }

    #[test]
    fn marks_follow_the_bytes_that_each_piece_completes() {
        let (bytes, ends) = gzip(&[b"data: 1\n\n", b"data: 22\n\n"]);
        let marks = ends.iter().zip([5, 6]).map(|(end, t)| (*end, Time(t))).collect();
        let (body, marks) = decoded(&headers("gzip"), RawBody::Whole(bytes.into()), marks, &Limits::default());
        assert_eq!(body, RawBody::Whole(b"data: 1\n\ndata: 22\n\n".into()));
        assert_eq!(marks, [(9, Time(5)), (19, Time(6))]);
    }

    #[test]
    fn what_cannot_be_decoded_is_not_captured_and_a_damaged_end_leaves_the_beginning() {
        let of = |coding, body| decoded(&headers(coding), body, Marks::new(), &Limits::default()).0;
        assert_eq!(of("br9", RawBody::Whole(b"x".into())), RawBody::NotCaptured(Missing::Undecodable));
        assert_eq!(of("gzip", RawBody::Whole(b"plain".into())), RawBody::NotCaptured(Missing::Undecodable));
        let (bytes, ends) = gzip(&[b"data: 1\n\n", b"data: 22\n\n"]);
        #[expect(clippy::cast_possible_truncation)]
        let first = bytes[..ends[0] as usize].to_vec();
        let cut = of("gzip", RawBody::Cut(first.into(), Missing::CutOff));
        assert_eq!(cut, RawBody::Cut(b"data: 1\n\n".into(), Missing::CutOff));
        assert_eq!(of("gzip", RawBody::EMPTY), RawBody::EMPTY);
    }
}
