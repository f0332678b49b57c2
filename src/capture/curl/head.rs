//! The head of a response within text: status line, headers, blank line.

/// The most header lines of one head.
const MOST_LINES: usize = 1024;

/// A head, and what follows it.
#[derive(Debug)]
pub struct Head<'t> {
    /// The status.
    pub status: u16,
    /// The reason phrase.
    pub reason: String,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The text behind the blank line.
    pub rest: &'t [u8],
}

impl<'t> Head<'t> {
    /// The head that `text` begins with; none where it does not, or the head is cut.
    pub fn at(text: &'t [u8]) -> Option<Self> {
        Self::or_length(text).ok()
    }

    /// The head that `text` begins with, or how much of the text is lines of a head that does not end as one: no other
    /// head can begin there.
    pub fn or_length(text: &'t [u8]) -> Result<Self, usize> {
        let (first, mut rest) = line(text).ok_or(0_usize)?;
        let (status, reason) = status(first).ok_or(0_usize)?;
        let mut headers = Vec::new();
        for _ in 0..MOST_LINES {
            let failed = text.len() - rest.len();
            let (next, after) = line(rest).ok_or(failed)?;
            rest = after;
            if next.is_empty() {
                return Ok(Self { status, reason, headers, rest });
            }
            headers.push(field(next).ok_or(failed)?);
        }
        Err(text.len() - rest.len())
    }

    /// An answer that another one follows: 1xx, or a proxy's to `CONNECT`.
    pub fn is_preliminary(&self) -> bool {
        self.status < 200 || self.reason.eq_ignore_ascii_case("connection established")
    }
}

/// The next line without its end, and what follows.
fn line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b'\n', text)?;
    let (line, rest) = (&text[..end], &text[end + 1..]);
    Some((line.strip_suffix(b"\r").unwrap_or(line), rest))
}

/// Status and reason of a status line such as `HTTP/1.1 200 OK`.
pub fn status(line: &[u8]) -> Option<(u16, String)> {
    let rest = line.strip_prefix(b"HTTP/")?;
    let version = rest.iter().position(|b| *b == b' ')?;
    if !matches!(&rest[..version], b"1.0" | b"1.1" | b"2" | b"2.0" | b"3") {
        return None;
    }
    let rest = &rest[version + 1..];
    let digits = rest.get(..3).filter(|d| d.iter().all(u8::is_ascii_digit))?;
    if !rest[3..].is_empty() && rest[3] != b' ' {
        return None;
    }
    let status = std::str::from_utf8(digits).ok()?.parse().ok().filter(|s| (100..1000).contains(s))?;
    Some((status, String::from_utf8_lossy(rest[3..].trim_ascii()).into_owned()))
}

/// `Name: value`.
pub fn field(line: &[u8]) -> Option<(String, String)> {
    let colon = memchr::memchr(b':', line)?;
    let name = std::str::from_utf8(&line[..colon]).ok()?;
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || !name.bytes().all(token) {
        return None;
    }
    Some((name.to_owned(), String::from_utf8_lossy(line[colon + 1..].trim_ascii()).into_owned()))
}
