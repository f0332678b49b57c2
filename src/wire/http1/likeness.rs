//! Do these bytes begin an HTTP/1 message?

use memchr::memchr;

/// How sure it is that bytes begin a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// They do.
    Yes,
    /// They do not.
    No,
    /// There are too few of them to say.
    TooShort,
}

/// What a client sends first that speaks HTTP/2 without asking.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Methods that are believed without seeing the rest of the request line.
const METHODS: [&[u8]; 9] =
    [b"POST ", b"GET ", b"DELETE ", b"OPTIONS ", b"HEAD ", b"PUT ", b"PATCH ", b"CONNECT ", b"TRACE "];

/// Longest method of which the request line is waited for.
const LONGEST_METHOD: usize = 32;

/// Longest request line that is waited for to believe an unknown method.
const LONGEST_LINE: usize = 8192;

/// Whether the bytes begin a request; empty lines before it are allowed, as servers do.
pub fn like_request(bytes: &[u8]) -> Likeness {
    let bytes = behind_empty_lines(bytes);
    for method in METHODS {
        let shared = method.len().min(bytes.len());
        if bytes[..shared] == method[..shared] {
            return if shared == method.len() { Likeness::Yes } else { Likeness::TooShort };
        }
    }
    let is_token = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    let method = bytes.iter().take_while(|b| is_token(b)).count();
    if method > LONGEST_METHOD || (method == 0 && !bytes.is_empty()) {
        return Likeness::No;
    }
    match bytes.get(method) {
        None => return Likeness::TooShort,
        Some(b' ') => {}
        Some(_) => return Likeness::No,
    }
    match memchr(b'\n', bytes) {
        Some(end) => {
            let line = &bytes[..end];
            let is_http = memchr::memmem::rfind(line, b" HTTP/1.").is_some_and(|at| line.len() - at <= 12);
            if is_http { Likeness::Yes } else { Likeness::No }
        }
        None if bytes.len() < LONGEST_LINE && bytes.is_ascii() => Likeness::TooShort,
        None => Likeness::No,
    }
}

/// Whether the bytes begin a response.
pub fn like_response(bytes: &[u8]) -> Likeness {
    let bytes = behind_empty_lines(bytes);
    let start = b"HTTP/1.";
    let shared = start.len().min(bytes.len());
    match bytes[..shared] == start[..shared] {
        false => Likeness::No,
        true if shared == start.len() => Likeness::Yes,
        true => Likeness::TooShort,
    }
}

fn behind_empty_lines(bytes: &[u8]) -> &[u8] {
    let skip = bytes.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    &bytes[skip..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_by_method_or_by_the_whole_line() {
        assert_eq!(like_request(b"POST /mcp HT"), Likeness::Yes);
        assert_eq!(like_request(b"\r\nGET / HTTP/1.1\r\n"), Likeness::Yes);
        assert_eq!(like_request(b"PO"), Likeness::TooShort);
        assert_eq!(like_request(b""), Likeness::TooShort);
        assert_eq!(like_request(b"QUERY /x HTTP/1.1\r\n"), Likeness::Yes);
        assert_eq!(like_request(b"QUERY /x HT"), Likeness::TooShort);
        assert_eq!(like_request(b"HELO mail.example\r\n"), Likeness::No);
        assert_eq!(like_request(b"\x16\x03\x01\x02\x00"), Likeness::No);
        assert_eq!(like_request(b"{\"jsonrpc\""), Likeness::No);
        assert_eq!(like_request(&[b'A'; 64]), Likeness::No);
        assert_eq!(like_request(b"AB \xff\xfe"), Likeness::No);
        assert_eq!(like_request(PREFACE), Likeness::No);
    }

    #[test]
    fn responses_are_told_by_their_version() {
        assert_eq!(like_response(b"HTTP/1.1 200"), Likeness::Yes);
        assert_eq!(like_response(b"HTT"), Likeness::TooShort);
        assert_eq!(like_response(b"5\r\ndata"), Likeness::No);
    }
}
