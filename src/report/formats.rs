//! What is read: the formats with how they are recognised and what their recorders cannot show.

use super::{Look, table};
use crate::capture::sniff::Format;
use serde::Serialize;

/// One format.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Row {
    /// Its name, as `--input` takes it.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// How it is recognised.
    pub recognised: &'static str,
    /// What it cannot show.
    pub lacks: &'static str,
}

/// A format, what it is, how it is recognised, what it cannot show.
type Entry = (Format, &'static str, &'static str, &'static str);

/// Every format that is read, the best witnesses first.
const ALL: [Entry; 19] = [
    (
        Format::Pcap,
        "packet capture (tcpdump), HTTP/1 and HTTP/2 in clear",
        "magic number, in all byte orders and resolutions",
        "anything inside TLS; what packets were cut or lost",
    ),
    (Format::Pcapng, "packet capture (Wireshark, dumpcap)", "section header block", "as pcap"),
    (
        Format::Flows,
        "mitmproxy flows",
        "a typed netstring dictionary",
        "bodies that were streamed without being stored; flows still open at the end",
    ),
    (
        Format::Har,
        "HAR of any recorder (DevTools, Playwright, mitmproxy …), also as JSONP",
        "JSON whose first object holds log",
        "how a response ended; open streams; in most dialects the times of events",
    ),
    (Format::HarLines, "HAR entries, one a line", "JSON lines with request and response", "as har"),
    (Format::Saz, "Fiddler's session archive", "a zip with raw/*_c.txt", "times of events; how a response ended"),
    (
        Format::CurlTrace,
        "curl --trace, best with --trace-time",
        "=> Send header, hex columns",
        "the date; other clients",
    ),
    (
        Format::CdpLog,
        "events of the Chrome DevTools protocol, one a line",
        "JSON lines with method Network.…",
        "bodies of responses",
    ),
    (
        Format::CurlTraceAscii,
        "curl --trace-ascii",
        "=> Send header, text columns",
        "line ends and bytes above 0x7F: blocks are guessed",
    ),
    (
        Format::CurlVerbose,
        "curl -v, with -i or with the body in between",
        "lines with > and <",
        "request bodies; times",
    ),
    (Format::CurlInclude, "curl -i", "a head that begins with HTTP/", "requests, times, and how it ended"),
    (
        Format::Sse,
        "the bytes of one event stream",
        "lines of data, event, id, retry",
        "requests, sessions, heads, times",
    ),
    (Format::TsharkJson, "tshark -T json", "[{\"_index\":\"packets-", "times inside bodies; bytes that are no text"),
    (Format::TsharkEk, "tshark -T ek", "pairs of lines, index and packet", "as tshark-json"),
    (
        Format::Mcpsnoop,
        "mcpsnoop's envelopes, one a line",
        "JSON lines with direction, seq and session_id",
        "HTTP: messages are judged, resumptions cannot be",
    ),
    (Format::JsonRpcLines, "JSON-RPC messages, one a line", "JSON lines with jsonrpc", "HTTP, sessions, times"),
    (
        Format::AccessLog,
        "a gateway's access log, JSON lines (--map names the fields of others)",
        "JSON lines with method, path and status",
        "bodies: statuses, sessions and cursors only",
    ),
    (
        Format::Transcript,
        "plain text, typed by hand or written by show --format transcript",
        "lines that begin with @, or > METHOD URL",
        "packets and connections",
    ),
    (
        Format::Rows,
        "exchanges as extract writes them",
        "lines that begin with {\"k\":\"",
        "payloads: facts and digests only",
    ),
];

/// The list as a document.
#[derive(Serialize)]
pub struct List {
    schema: &'static str,
    formats: Vec<Row>,
}

/// Every format that is read.
pub fn rows() -> impl Iterator<Item = Row> {
    ALL.into_iter().map(|(format, about, recognised, lacks)| Row { name: format.name(), about, recognised, lacks })
}

/// The list as a document.
pub fn list() -> List {
    List { schema: "formats/1", formats: rows().collect() }
}

/// The list as a table, and what may be wrapped around the formats.
pub fn render(look: &Look) -> String {
    let mut all = table::new(look, &["format", "what it is", "recognised by", "cannot show"]);
    for format in rows() {
        all.add_row([format.name, format.about, format.recognised, format.lacks]);
    }
    format!(
        "{all}\nEach also compressed (gzip, zstd, bzip2, xz, zlib) or in an archive (zip, tar). A TLS capture is not \
         decrypted.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_that_is_read_is_described() {
        let mut read: Vec<_> = Format::all().filter(|f| f.advice().is_none()).map(Format::name).collect();
        let mut described: Vec<_> = rows().map(|row| row.name).collect();
        read.sort_unstable();
        described.sort_unstable();
        assert_eq!(described, read);
    }
}
