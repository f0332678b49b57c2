//! The chunked transfer coding, undone piece by piece.

use std::ops::Range;

/// Longest size line, extensions included.
const LONGEST_SIZE_LINE: u32 = 16 << 10;

/// Most bytes of trailers.
const LONGEST_TRAILER: u32 = 64 << 10;

/// What the next bytes of a chunked body are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// Body bytes: this range of the input.
    Data(Range<usize>),
    /// The input is used up; the body goes on.
    More,
    /// The body is over; the input behind this offset is the next message.
    End(usize),
    /// No chunk begins here: the rest of the connection cannot be read.
    Broken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The digits of a size, as far as they were read.
    Size(Option<u64>),
    /// An extension, or white space behind the size.
    Extension(u64),
    Data(u64),
    /// The line end behind a chunk's data.
    DataEnd,
    /// A trailer line; whether it has begun.
    Trailer(bool),
    End,
    Broken,
}

/// Reads a chunked body that arrives in pieces.
#[derive(Debug)]
pub struct Chunked {
    state: State,
    line: u32,
}

impl Default for Chunked {
    fn default() -> Self {
        Self { state: State::Size(None), line: 0 }
    }
}

impl Chunked {
    /// Reads on from `*at` in `input` and moves it; call again until it says anything but [`Chunk::Data`].
    pub fn next(&mut self, input: &[u8], at: &mut usize) -> Chunk {
        loop {
            match self.state {
                State::End => return Chunk::End(*at),
                State::Broken => return Chunk::Broken,
                _ => {}
            }
            let Some(&byte) = input.get(*at) else { return Chunk::More };
            if let State::Data(left) = self.state {
                let rest = input.len() - *at;
                let take = usize::try_from(left).unwrap_or(usize::MAX).min(rest);
                let range = *at..*at + take;
                *at += take;
                self.passed(take as u64);
                return Chunk::Data(range);
            }
            *at += 1;
            self.state = self.step(byte);
        }
    }

    /// Passes over `length` bytes that were lost; says whether the body can be followed beyond them.
    pub fn skip(&mut self, length: u64) -> bool {
        match self.state {
            State::Data(left) if length <= left => {
                self.passed(length);
                true
            }
            _ => false,
        }
    }

    fn passed(&mut self, length: u64) {
        if let State::Data(left) = self.state {
            let left = left.saturating_sub(length);
            self.state = if left == 0 { State::DataEnd } else { State::Data(left) };
        }
    }

    fn step(&mut self, byte: u8) -> State {
        self.line += 1;
        match (self.state, byte) {
            (State::Size(size), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16).map_or(0, u64::from);
                match size.unwrap_or(0).checked_mul(16) {
                    Some(shifted) if self.line <= LONGEST_SIZE_LINE => State::Size(Some(shifted | digit)),
                    _ => State::Broken,
                }
            }
            (State::Size(Some(size)) | State::Extension(size), b'\n') => {
                self.line = 0;
                if size == 0 { State::Trailer(false) } else { State::Data(size) }
            }
            (State::Size(Some(size)), b';' | b' ' | b'\t' | b'\r') => State::Extension(size),
            (State::Extension(size), _) if self.line <= LONGEST_SIZE_LINE => State::Extension(size),
            (State::DataEnd, b'\r') if self.line == 1 => State::DataEnd,
            (State::DataEnd, b'\n') => {
                self.line = 0;
                State::Size(None)
            }
            (State::Trailer(false), b'\n') => State::End,
            (State::Trailer(true), b'\n') => State::Trailer(false),
            (State::Trailer(false), b'\r') => State::Trailer(false),
            (State::Trailer(_), _) if self.line <= LONGEST_TRAILER => State::Trailer(true),
            _ => State::Broken,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(pieces: &[&[u8]]) -> (Vec<u8>, Chunk) {
        let (mut chunked, mut body, mut last) = (Chunked::default(), Vec::new(), Chunk::More);
        for piece in pieces {
            let mut at = 0;
            last = loop {
                match chunked.next(piece, &mut at) {
                    Chunk::Data(range) => body.extend_from_slice(&piece[range]),
                    other => break other,
                }
            };
        }
        (body, last)
    }

    #[test]
    fn extensions_and_trailers_are_no_body() {
        let wire = b"4;name=\"v\"\r\nWiki\r\n5 \r\npedia\r\nE\r\n in\r\n\r\nchunks.\r\n0\r\nX: y\r\n\r\nHTTP";
        assert_eq!(body(&[wire]), (b"Wikipedia in\r\n\r\nchunks.".to_vec(), Chunk::End(wire.len() - 4)));
    }

    #[test]
    fn every_cut_into_two_pieces_gives_the_same_body() {
        let wire = b"A\r\n0123456789\r\n3;x\nabc\n0\r\nA: b\r\n\r\n";
        for cut in 0..wire.len() {
            let (bytes, last) = body(&[&wire[..cut], &wire[cut..]]);
            assert_eq!(bytes, b"0123456789abc", "cut at {cut}");
            assert_eq!(last, Chunk::End(wire.len() - cut), "cut at {cut}");
        }
    }

    #[test]
    fn what_is_no_chunk_is_broken_and_stays_so() {
        for wire in [&b"xyz\r\n"[..], b"\r\n", b"1\r\nab\r\n", b"11111111111111111\r\n", b"-1\r\n"] {
            assert_eq!(body(&[wire, b"0\r\n\r\n"]).1, Chunk::Broken, "{wire:?}");
        }
        let long = [&b"1;"[..], &[b'x'; 20_000]].concat();
        assert_eq!(body(&[&long]).1, Chunk::Broken);
    }

    #[test]
    fn a_hole_within_a_chunk_can_be_followed_and_one_beyond_it_cannot() {
        let mut chunked = Chunked::default();
        let mut at = 0;
        assert_eq!(chunked.next(b"a\r\nxy", &mut at), Chunk::Data(3..5));
        assert!(chunked.skip(8));
        let mut at = 0;
        assert_eq!(chunked.next(b"\r\n0\r\n\r\n", &mut at), Chunk::End(7));
        let mut chunked = Chunked::default();
        let mut at = 0;
        chunked.next(b"a\r\nxy", &mut at);
        assert!(!chunked.skip(9));
    }
}
