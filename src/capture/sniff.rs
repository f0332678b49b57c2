//! Which format is it? By content alone, from the first bytes of an unpacked file.

mod format;
mod json;
mod text;

pub use format::Format;

/// How many leading bytes [`sniff`] makes use of.
pub const PREFIX: usize = 64 << 10;

/// The format of a file that begins with `prefix` (up to [`PREFIX`] bytes of it are looked at).
///
/// # Errors
/// Where it is no capture: what it is instead, as far as that is known.
pub fn sniff(prefix: &[u8]) -> Result<Format, &'static str> {
    let prefix = &prefix[..prefix.len().min(PREFIX)];
    if let Some(format) = magic(prefix) {
        return Ok(format);
    }
    let text = prefix.strip_prefix(b"\xef\xbb\xbf").unwrap_or(prefix);
    let start = text.trim_ascii_start();
    if start.is_empty() {
        return Err(if prefix.is_empty() { "it is empty" } else { "it holds white space only" });
    }
    if is_flow(start) {
        return Ok(Format::Flows);
    }
    if let Some(format) = json::format(start) {
        return Ok(format);
    }
    if let Some(format) = text::format(text) {
        return Ok(format);
    }
    Err(foreign(start))
}

/// Formats that begin with fixed bytes.
fn magic(prefix: &[u8]) -> Option<Format> {
    const MAGIC: [(&[u8], Format); 16] = [
        (b"\x0a\x0d\x0d\x0a", Format::Pcapng),
        (b"\xa1\xb2\xc3\xd4", Format::Pcap),
        (b"\xd4\xc3\xb2\xa1", Format::Pcap),
        (b"\xa1\xb2\x3c\x4d", Format::Pcap),
        (b"\x4d\x3c\xb2\xa1", Format::Pcap),
        (b"\xa1\xb2\xcd\x34", Format::Pcap),
        (b"\x34\xcd\xb2\xa1", Format::Pcap),
        (b"GMBU", Format::OtherPackets),
        (b"RTSS", Format::OtherPackets),
        (b"snoop\0\0\0", Format::OtherPackets),
        (b"TRSNIFF data", Format::OtherPackets),
        (b"\xac\xed\x00\x05", Format::Charles),
        (b"WARC/1.", Format::Warc),
        (b"bplist00", Format::Proxyman),
        (b"\0\0\0\0\0\0\0\0CPRF", Format::OtherPackets),
        (b"{\"k\":\"", Format::Rows),
    ];
    MAGIC.iter().find(|(bytes, _)| prefix.starts_with(bytes)).map(|(_, format)| *format)
}

/// A tnetstring dictionary, whole or longer than the prefix.
fn is_flow(start: &[u8]) -> bool {
    let digits = start.iter().take_while(|b| b.is_ascii_digit()).count();
    if !(1..=12).contains(&digits) || start.get(digits) != Some(&b':') {
        return false;
    }
    let length = std::str::from_utf8(&start[..digits]).ok().and_then(|d| d.parse::<usize>().ok());
    let inner = &start[digits + 1..];
    match length.and_then(|l| inner.get(l)) {
        Some(closing) => *closing == b'}',
        // The first key stands at once: `7:request;`.
        None => {
            let digits = inner.iter().take_while(|b| b.is_ascii_digit()).count();
            (1..=3).contains(&digits) && inner.get(digits) == Some(&b':')
        }
    }
}

/// What a file that is no capture is, for the message.
fn foreign(start: &[u8]) -> &'static str {
    const KINDS: [(&[u8], &str); 12] = [
        (b"\x89PNG", "it is a PNG image"),
        (b"\xff\xd8\xff", "it is a JPEG image"),
        (b"GIF8", "it is a GIF image"),
        (b"%PDF", "it is a PDF document"),
        (b"\x7fELF", "it is a program"),
        (b"MZ", "it is a program"),
        (b"SQLite format 3", "it is a SQLite database"),
        (b"PAR1", "it is a Parquet file; the rows of `extract` are NDJSON"),
        (b"wOF", "it is a font"),
        (b"#!", "it is a script"),
        (b"<", "it is XML or HTML"),
        (b"{", "it is JSON, but no known kind of capture"),
    ];
    if let Some((_, kind)) = KINDS.iter().find(|(bytes, _)| start.starts_with(bytes)) {
        return kind;
    }
    if start.starts_with(b"[") { "it is JSON, but no known kind of capture" } else { "no known format" }
}

#[cfg(test)]
mod tests;
