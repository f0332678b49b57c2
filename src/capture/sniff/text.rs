//! Which format is it, where the file is text made of lines?

use super::{Format, json};

/// How many lines decide.
const LINES: usize = 64;
/// How much of the text decides whether it is an event stream.
const STREAM_PREFIX: usize = 4 << 10;

/// The format of a text; none where its lines are of no known kind.
pub fn format(text: &[u8]) -> Option<Format> {
    let start = text.trim_ascii_start();
    if start.starts_with(b"HTTP/1.") || start.starts_with(b"HTTP/2 ") || start.starts_with(b"HTTP/3 ") {
        return Some(Format::CurlInclude);
    }
    if start.starts_with(b"<") {
        return xml(start);
    }
    if text.contains(&0) && text.iter().filter(|b| **b == 0).count() > 4 {
        return None;
    }
    let lines: Vec<&[u8]> = start.split(|b| *b == b'\n').take(LINES).map(<[u8]>::trim_ascii_end).collect();
    fixed(&lines)
        .or_else(|| by_lines(&lines))
        .or_else(|| json::of_lines(start))
        .or_else(|| lines.iter().any(|l| is_combined(l)).then_some(Format::CombinedLog))
        .or_else(|| is_stream(text).then_some(Format::Sse))
}

/// Formats that a single line near the start gives away.
fn fixed(lines: &[&[u8]]) -> Option<Format> {
    let first = lines.first()?;
    if first.starts_with(b"====") && lines.get(1).is_some_and(|l| l.starts_with(b"Follow: ")) {
        return Some(Format::TsharkFollow);
    }
    if first.starts_with(b"{\"k\":\"") {
        return Some(Format::Rows);
    }
    if is_goreplay(first) {
        return Some(Format::Goreplay);
    }
    let yaml = lines.iter().take(4).any(|l| *l == b"interactions:" || *l == b"http_interactions:");
    yaml.then_some(Format::Vcr)
}

/// Formats of which any line may come first.
fn by_lines(lines: &[&[u8]]) -> Option<Format> {
    for (at, line) in lines.iter().enumerate() {
        if is_trace(line) {
            return Some(trace(&lines[at..]));
        }
        if line.starts_with(b"@ ") || line.starts_with(b"@\t") {
            let next = lines[at + 1..].iter().find(|l| !l.is_empty() && !l.starts_with(b"#"));
            if next.is_some_and(|l| is_request(l)) {
                return Some(Format::Transcript);
            }
        }
        if is_request(line) && !line.windows(6).any(|w| w == b" HTTP/") && line.windows(3).any(|w| w == b"://") {
            return Some(Format::Transcript);
        }
        if is_verbose(line) {
            return Some(Format::CurlVerbose);
        }
        if is_remote_log(line) {
            return Some(Format::McpRemoteLog);
        }
    }
    None
}

/// A line that only `curl -v` prints.
fn is_verbose(line: &[u8]) -> bool {
    // A progress meter may stand before the first message, on the same line.
    let line = line.rsplit(|b| *b == b'\r').find(|part| !part.is_empty()).unwrap_or_default();
    let info = memchr::memmem::find(line, b"*   Trying ").is_some()
        || line.starts_with(b"* Connected to ")
        || line.starts_with(b"* Host ")
        || line.starts_with(b"* processing: ")
        || line.starts_with(b"* Uses proxy env")
        || line.starts_with(b"* Re-using existing connection")
        || line.starts_with(b"* Could not resolve host");
    let request = is_request(line) && line.windows(6).any(|w| w == b" HTTP/");
    info || request || line.starts_with(b"< HTTP/")
}

/// `> METHOD target`.
fn is_request(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"> ") else { return false };
    let method = rest.iter().take_while(|b| b.is_ascii_uppercase()).count();
    (3..=10).contains(&method) && rest.get(method) == Some(&b' ')
}

/// A trace's own line: `== Info:`, `=> Send header, …`, behind a time and connection ids where they were asked for.
fn is_trace(line: &[u8]) -> bool {
    let is_time = line.len() > 16 && line[2] == b':' && line[5] == b':' && line[8] == b'.' && line[15] == b' ';
    let rest = if is_time { &line[16..] } else { line };
    let rest = match rest.strip_prefix(b"[") {
        Some(ids) => ids.iter().position(|b| *b == b']').map_or(rest, |at| ids[at + 1..].trim_ascii_start()),
        None => rest,
    };
    let marks: [&[u8]; 3] = [b"== Info:", b"=> Send ", b"<= Recv "];
    marks.iter().any(|m| rest.starts_with(m))
}

/// Hex or ASCII, by the first line of data: `0000: 50 4f 53 …`.
fn trace(lines: &[&[u8]]) -> Format {
    let data = lines.iter().find_map(|l| l.strip_prefix(b"0000: "));
    let is_hex = data.is_some_and(|columns| {
        columns.len() >= 48
            && columns[..6].chunks(3).all(|c| c[0].is_ascii_hexdigit() && c[1].is_ascii_hexdigit() && c[2] == b' ')
    });
    if is_hex { Format::CurlTrace } else { Format::CurlTraceAscii }
}

fn is_goreplay(line: &[u8]) -> bool {
    let mut parts = line.split(|b| *b == b' ');
    let kind = parts.next().unwrap_or_default();
    let id = parts.next().unwrap_or_default();
    matches!(kind, b"1" | b"2" | b"3")
        && (24..=40).contains(&id.len())
        && id.iter().all(u8::is_ascii_hexdigit)
        && parts.next().is_some_and(|n| !n.is_empty() && n.iter().all(u8::is_ascii_digit))
}

/// `host - - [day/Mon/year:…] "METHOD target HTTP/…" status`.
fn is_combined(line: &[u8]) -> bool {
    let Some(bracket) = memchr::memchr(b'[', line) else { return false };
    let inner = &line[bracket + 1..];
    inner.get(2) == Some(&b'/')
        && inner.get(6) == Some(&b'/')
        && inner.windows(3).any(|w| w == b"] \"")
        && inner.windows(6).any(|w| w == b" HTTP/")
}

fn is_remote_log(line: &[u8]) -> bool {
    ["] Starting mcp-remote", "Local \u{2192} Remote", "Remote \u{2192} Local", "[Local\u{2192}Remote]"]
        .iter()
        .any(|mark| memchr::memmem::find(line, mark.as_bytes()).is_some())
}

fn xml(start: &[u8]) -> Option<Format> {
    let head = &start[..start.len().min(2048)];
    let has = |needle: &str| memchr::memmem::find(head, needle.as_bytes()).is_some();
    if has("<pdml") || has("<psml") {
        Some(Format::TsharkXml)
    } else if has("<items burpVersion") {
        Some(Format::Burp)
    } else if has("<?charles ") || has("<charles-session") {
        Some(Format::Charles)
    } else {
        None
    }
}

/// Every line of an event stream is blank, a comment, or begins with one of four names; few exceptions are borne.
fn is_stream(text: &[u8]) -> bool {
    let prefix = &text[..text.len().min(STREAM_PREFIX)];
    let prefix = prefix.strip_prefix(b"\xef\xbb\xbf").unwrap_or(prefix);
    let lines: Vec<&[u8]> = prefix.split(|b| matches!(b, b'\n' | b'\r')).filter(|l| !l.is_empty()).collect();
    let whole = if text.len() > STREAM_PREFIX && lines.len() > 1 { &lines[..lines.len() - 1] } else { &lines[..] };
    let fields = whole.iter().filter(|l| is_field(l)).count();
    let comments = whole.iter().filter(|l| l.starts_with(b":")).count();
    let foreign = whole.len() - fields - comments;
    let begins = whole.first().is_some_and(|l| is_field(l) || l.starts_with(b":"));
    // Comments alone may be anything that begins with colons; keep-alive comments begin with a space or `ping`.
    begins && foreign * 4 <= fields && (fields > 0 || whole.iter().all(|l| l.starts_with(b": ")))
}

fn is_field(line: &[u8]) -> bool {
    let name = line.split(|b| *b == b':').next().unwrap_or_default();
    matches!(name, b"data" | b"event" | b"id" | b"retry")
}
