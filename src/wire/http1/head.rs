//! The head of an HTTP/1 message: its start line and its fields, also where they break the grammar.

use std::borrow::Cow;

/// Field lines in order: name as sent, value without outer white space.
pub type Fields<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// Most field lines that are read strictly; heads with more go to the lenient reader.
const FIELDS: usize = 96;

/// Most field lines that are kept at all.
const MOST_FIELDS: usize = 10_000;

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHead<'a> {
    /// The method as sent.
    pub method: Cow<'a, str>,
    /// The target as sent: a path, an absolute URL, or an authority (`CONNECT`).
    pub target: Cow<'a, str>,
    /// Its field lines.
    pub fields: Fields<'a>,
}

/// The head of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead<'a> {
    /// The status code.
    pub status: u16,
    /// The version's minor number is 0: the connection ends with the body unless the fields say otherwise.
    pub is_http10: bool,
    /// Its field lines.
    pub fields: Fields<'a>,
}

impl<'a> RequestHead<'a> {
    /// Reads a head that may end early; none where not even the request line is whole.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let bytes = behind_empty_lines(bytes);
        let mut room = [httparse::EMPTY_HEADER; FIELDS];
        let mut strict = httparse::Request::new(&mut room);
        if let Ok(httparse::Status::Complete(_)) = strict.parse(bytes) {
            let (method, target) = (strict.method?, strict.path?);
            return Some(Self { method: method.into(), target: target.into(), fields: owned(strict.headers) });
        }
        let (line, rest) = line(bytes)?;
        let mut words = line.split(|b| *b == b' ' || *b == b'\t').filter(|word| !word.is_empty());
        let (method, target) = (text(words.next()?), text(words.next()?));
        Some(Self { method, target, fields: lenient(rest) })
    }
}

impl<'a> ResponseHead<'a> {
    /// Reads a head that may end early; none where not even the status line is whole.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let bytes = behind_empty_lines(bytes);
        let mut room = [httparse::EMPTY_HEADER; FIELDS];
        let mut strict = httparse::Response::new(&mut room);
        if let Ok(httparse::Status::Complete(_)) = strict.parse(bytes) {
            let is_http10 = strict.version? == 0;
            return Some(Self { status: strict.code?, is_http10, fields: owned(strict.headers) });
        }
        let (line, rest) = line(bytes)?;
        let is_http10 = line.get(7) == Some(&b'0');
        let mut words = line.split(|b| *b == b' ' || *b == b'\t').filter(|word| !word.is_empty());
        let code = words.nth(1)?.get(..3)?;
        let status = std::str::from_utf8(code).ok()?.parse().ok()?;
        Some(Self { status, is_http10, fields: lenient(rest) })
    }
}

/// The first value of a field, by case-insensitive name.
pub fn lookup<'f>(fields: &'f Fields<'_>, name: &str) -> Option<&'f str> {
    fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_ref())
}

/// The members of a list-valued field over all its lines, without parameters, in lower case.
pub fn tokens(fields: &Fields<'_>, name: &str) -> Vec<String> {
    let lines = fields.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name));
    lines
        .flat_map(|(_, value)| value.split(','))
        .map(|member| member.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
        .filter(|member| !member.is_empty())
        .collect()
}

/// Where the head ends that begins at the start of `bytes`: the offset behind its empty line. `from` is how far an
/// earlier call has looked.
pub fn head_end(bytes: &[u8], from: usize) -> Option<usize> {
    let begin = bytes.len() - behind_empty_lines(bytes).len();
    let from = from.saturating_sub(3).max(begin);
    for end in memchr::memchr_iter(b'\n', bytes.get(from..)?) {
        let behind = &bytes[from + end + 1..];
        match behind {
            [b'\n', ..] => return Some(from + end + 2),
            [b'\r', b'\n', ..] => return Some(from + end + 3),
            _ => {}
        }
    }
    None
}

fn behind_empty_lines(bytes: &[u8]) -> &[u8] {
    let skip = bytes.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    &bytes[skip..]
}

fn owned<'a>(strict: &[httparse::Header<'a>]) -> Fields<'a> {
    strict.iter().map(|h| (Cow::Borrowed(h.name), text(h.value))).collect()
}

/// UTF-8, or else Latin-1, in which every byte is a character.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => bytes.iter().map(|&b| char::from(b)).collect::<String>().into(),
    }
}

/// A whole line without its end, and what follows it.
fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b'\n', bytes)?;
    let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
    Some((line.strip_suffix(b"\r").unwrap_or(line), rest))
}

/// Field lines that a strict parser refuses: spaces before the colon, folded lines, odd bytes, a head cut short.
/// Lines without a colon are dropped, and so is a last line that is not whole.
fn lenient(mut rest: &[u8]) -> Fields<'_> {
    let mut fields: Fields<'_> = Vec::new();
    while let Some((bytes, behind)) = line(rest) {
        rest = behind;
        if bytes.is_empty() || fields.len() >= MOST_FIELDS {
            break;
        }
        if matches!(bytes[0], b' ' | b'\t') {
            if let Some((_, value)) = fields.last_mut() {
                let value = value.to_mut();
                value.push(' ');
                value.push_str(&text(bytes.trim_ascii()));
            }
        } else if let Some(colon) = memchr::memchr(b':', bytes) {
            fields.push((text(bytes[..colon].trim_ascii()), text(bytes[colon + 1..].trim_ascii())));
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs<'a>(fields: &'a Fields<'_>) -> Vec<(&'a str, &'a str)> {
        fields.iter().map(|(n, v)| (n.as_ref(), v.as_ref())).collect()
    }

    #[test]
    fn a_regular_head_is_read() {
        let head = RequestHead::read(b"\r\nPOST /mcp HTTP/1.1\r\nHost: a\r\nAccept: x,\r\nAccept: y\r\n\r\nbody");
        let head = head.expect("a head");
        assert_eq!((&*head.method, &*head.target), ("POST", "/mcp"));
        assert_eq!(pairs(&head.fields), [("Host", "a"), ("Accept", "x,"), ("Accept", "y")]);
        let head = ResponseHead::read(b"HTTP/1.0 404 Not Found\r\nServer: \xe4\r\n\r\n").expect("a head");
        assert_eq!((head.status, head.is_http10, pairs(&head.fields)), (404, true, vec![("Server", "\u{e4}")]));
    }

    #[test]
    fn a_head_that_breaks_the_grammar_is_still_read() {
        let bytes = b"POST /a b HTTP/1.1\nHost : h\nX-Folded: one\n two\nno colon\n: empty name\n\n";
        let head = RequestHead::read(bytes).expect("a head");
        assert_eq!(&*head.target, "/a");
        assert_eq!(pairs(&head.fields), [("Host", "h"), ("X-Folded", "one two"), ("", "empty name")]);
    }

    #[test]
    fn a_head_cut_short_keeps_its_whole_lines() {
        let head = RequestHead::read(b"GET /mcp HTTP/1.1\r\nHost: a\r\nMcp-Session").expect("a head");
        assert_eq!(pairs(&head.fields), [("Host", "a")]);
        assert_eq!(RequestHead::read(b"GET /mcp HT"), None);
        assert_eq!(ResponseHead::read(b"HTTP/1.1 20"), None);
        assert_eq!(ResponseHead::read(b"HTTP/1.1 2\r\n\r\n"), None);
    }

    #[test]
    fn more_fields_than_the_strict_reader_takes_are_read() {
        let lines: String = (0..500).map(|n| format!("X-{n}: {n}\r\n")).collect();
        let bytes = format!("GET / HTTP/1.1\r\n{lines}\r\n");
        assert_eq!(RequestHead::read(bytes.as_bytes()).expect("a head").fields.len(), 500);
    }

    #[test]
    fn the_end_of_a_head_is_found_over_pieces() {
        let bytes = b"\r\nGET / HTTP/1.1\r\nA: b\r\n\r\nrest";
        assert_eq!(head_end(bytes, 0), Some(bytes.len() - 4));
        for cut in 0..bytes.len() - 4 {
            assert_eq!(head_end(&bytes[..cut], 0), None, "cut at {cut}");
            assert_eq!(head_end(bytes, cut), Some(bytes.len() - 4), "from {cut}");
        }
        assert_eq!(head_end(b"GET /\n\nx", 0), Some(7));
    }

    #[test]
    fn list_values_are_joined_over_lines_and_stripped() {
        let fields: Fields<'_> =
            vec![("TE".into(), "Gzip ; q=1, ,br".into()), ("x".into(), "no".into()), ("te".into(), "chunked".into())];
        assert_eq!(tokens(&fields, "te"), ["gzip", "br", "chunked"]);
    }
}
