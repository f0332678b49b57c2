//! How the end of a message's body is told (RFC 9112, section 6.3).

use super::{Fields, RequestHead, ResponseHead, head::tokens};

/// Where a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// There is none.
    None,
    /// After so many bytes.
    Length(u64),
    /// With the last chunk.
    Chunked,
    /// With the connection.
    Close,
}

impl Framing {
    /// The body of a request.
    pub fn of_request(head: &RequestHead<'_>) -> Self {
        match Self::declared(&head.fields) {
            Some(framing @ (Self::Length(_) | Self::Chunked)) => framing,
            _ => Self::None,
        }
    }

    /// The body of a response to `method`.
    pub fn of_response(method: &str, head: &ResponseHead<'_>) -> Self {
        let is_tunnel = method.eq_ignore_ascii_case("CONNECT") && (200..300).contains(&head.status);
        if method.eq_ignore_ascii_case("HEAD") || is_tunnel || matches!(head.status, 100..200 | 204 | 304) {
            return Self::None;
        }
        Self::declared(&head.fields).unwrap_or(Self::Close)
    }

    fn declared(fields: &Fields<'_>) -> Option<Self> {
        let codings = tokens(fields, "transfer-encoding");
        if let Some(last) = codings.last() {
            return Some(if last == "chunked" { Self::Chunked } else { Self::Close });
        }
        let mut lengths = tokens(fields, "content-length").into_iter();
        let first = lengths.next()?;
        let all_digits = !first.is_empty() && first.bytes().all(|b| b.is_ascii_digit());
        // Different lengths, or none that is a number: no recipient can know.
        if !all_digits || lengths.any(|other| other != first) {
            return Some(Self::Close);
        }
        Some(first.parse().map_or(Self::Close, Self::Length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(method: &str, head: &str) -> Framing {
        Framing::of_response(method, &ResponseHead::read(head.as_bytes()).expect("a head"))
    }

    #[test]
    fn a_response_ends_as_its_head_and_its_request_say() {
        let chunked = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: gzip, chunked\r\n\r\n";
        assert_eq!(response("POST", chunked), Framing::Chunked);
        assert_eq!(response("HEAD", chunked), Framing::None);
        assert_eq!(response("CONNECT", chunked), Framing::None);
        assert_eq!(response("GET", "HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n"), Framing::None);
        assert_eq!(response("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"), Framing::None);
        assert_eq!(response("GET", "HTTP/1.1 200 OK\r\nContent-Length: 9, 9\r\n\r\n"), Framing::Length(9));
        assert_eq!(response("GET", "HTTP/1.1 200 OK\r\nContent-Length: 9, 8\r\n\r\n"), Framing::Close);
        assert_eq!(response("GET", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"), Framing::Close);
        assert_eq!(response("GET", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n"), Framing::Close);
        assert_eq!(response("GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"), Framing::Close);
        assert_eq!(response("GET", "HTTP/1.1 200 OK\r\n\r\n"), Framing::Close);
    }

    #[test]
    fn a_request_has_no_body_unless_it_says_so() {
        let framing = |head: &str| Framing::of_request(&RequestHead::read(head.as_bytes()).expect("a head"));
        assert_eq!(framing("GET / HTTP/1.1\r\n\r\n"), Framing::None);
        assert_eq!(framing("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n"), Framing::Length(0));
        assert_eq!(framing("POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n"), Framing::Chunked);
        assert_eq!(framing("POST / HTTP/1.1\r\nTransfer-Encoding: x\r\n\r\n"), Framing::None);
    }
}
