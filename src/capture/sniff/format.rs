//! The formats by name, and what to do about those that are known and not read.

/// A capture format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// HAR 1.x, also as JSONP.
    Har,
    /// Packet capture of libpcap, in all its byte orders and resolutions.
    Pcap,
    /// Packet capture of Wireshark.
    Pcapng,
    /// mitmproxy flows.
    Flows,
    /// `curl -i`: response heads and bodies.
    CurlInclude,
    /// `curl -v`.
    CurlVerbose,
    /// `curl --trace`.
    CurlTrace,
    /// `curl --trace-ascii`.
    CurlTraceAscii,
    /// The bytes of one event stream.
    Sse,
    /// HAR entries, one a line.
    HarLines,
    /// JSON-RPC messages, one a line.
    JsonRpcLines,
    /// mcpsnoop's envelopes, one a line.
    Mcpsnoop,
    /// Our own rows, schema `exchange/1`.
    Rows,
    /// A gateway's access log, JSON objects one a line.
    AccessLog,
    /// `tshark -T json`.
    TsharkJson,
    /// `tshark -T ek`.
    TsharkEk,
    /// The plain-text capture format.
    Transcript,
    /// Fiddler's session archive (a zip).
    Saz,
    /// `tshark -z follow`.
    TsharkFollow,
    /// `tshark -T pdml` or `-T psml`.
    TsharkXml,
    /// Network Monitor, snoop and other captures that `editcap` converts.
    OtherPackets,
    /// VCR cassettes.
    Vcr,
    /// Charles sessions, binary or XML.
    Charles,
    /// Charles sessions as JSON.
    CharlesJson,
    /// Envoy tap traces.
    EnvoyTap,
    /// Chrome's net log.
    Netlog,
    /// Events of the Chrome DevTools protocol.
    CdpLog,
    /// Proxyman sessions.
    Proxyman,
    /// Burp items.
    Burp,
    /// GoReplay.
    Goreplay,
    /// Web archives.
    Warc,
    /// OpenTelemetry spans.
    Otlp,
    /// Access logs in the common or combined log format.
    CombinedLog,
    /// `mcp-remote --debug`.
    McpRemoteLog,
}

/// Name, and the advice for a format that is not read.
type Row = (Format, &'static str, Option<&'static str>);

const TABLE: [Row; 34] = [
    (Format::Har, "har", None),
    (Format::Pcap, "pcap", None),
    (Format::Pcapng, "pcapng", None),
    (Format::Flows, "flows", None),
    (Format::CurlInclude, "curl-include", None),
    (Format::CurlVerbose, "curl-verbose", None),
    (Format::CurlTrace, "curl-trace", None),
    (Format::CurlTraceAscii, "curl-trace-ascii", None),
    (Format::Sse, "sse", None),
    (Format::HarLines, "har-lines", None),
    (Format::JsonRpcLines, "json-rpc-lines", None),
    (Format::Mcpsnoop, "mcpsnoop", None),
    (Format::Rows, "rows", None),
    (Format::AccessLog, "access-log", None),
    (Format::TsharkJson, "tshark-json", None),
    (Format::TsharkEk, "tshark-ek", None),
    (Format::Transcript, "transcript", None),
    (Format::Saz, "saz", None),
    (
        Format::TsharkFollow,
        "tshark-follow",
        Some("output of tshark's follow is not read: pass the packet capture itself"),
    ),
    (Format::TsharkXml, "tshark-xml", Some("tshark's XML is not read: pass the packet capture itself")),
    (
        Format::OtherPackets,
        "other-packets",
        Some("this kind of packet capture is not read: convert it with `editcap -F pcap IN OUT`"),
    ),
    (Format::Vcr, "vcr", Some("VCR cassettes are not read: record the same run with mitmproxy, or export a HAR")),
    (
        Format::Charles,
        "charles",
        Some("Charles sessions are not read: in Charles, File > Export Session as HTTP Archive (.har)"),
    ),
    (
        Format::CharlesJson,
        "charles-json",
        Some("Charles' JSON sessions are not read: in Charles, File > Export Session as HTTP Archive (.har)"),
    ),
    (
        Format::EnvoyTap,
        "envoy-tap",
        Some("Envoy tap traces are not read (they have no times): take a pcap at the proxy, e.g. with tcpdump"),
    ),
    (Format::Netlog, "netlog", Some("Chrome net logs are not read: in DevTools, Network > Export HAR with content")),
    (Format::CdpLog, "cdp-log", None),
    (Format::Proxyman, "proxyman", Some("Proxyman sessions are not read: in Proxyman, File > Export > HAR")),
    (
        Format::Burp,
        "burp",
        Some("Burp items are not read: export a HAR from the browser, or record with mitmproxy or tcpdump"),
    ),
    (Format::Goreplay, "goreplay", Some("GoReplay files are not read: take a pcap with tcpdump")),
    (Format::Warc, "warc", Some("web archives are not read: export a HAR, or take a pcap with tcpdump")),
    (
        Format::Otlp,
        "otlp",
        Some("spans hold no wire facts and are not read: export a HAR, or take a pcap with tcpdump"),
    ),
    (
        Format::CombinedLog,
        "combined-log",
        Some(
            "common and combined access logs name no session and are not read: log JSON lines with the session id, \
             export a HAR, or take a pcap with tcpdump",
        ),
    ),
    (
        Format::McpRemoteLog,
        "mcp-remote-log",
        Some("mcp-remote's debug log cuts its messages and is not read: record with mitmproxy, or take a pcap"),
    ),
];

impl Format {
    /// All formats, those that are read first.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|(format, ..)| *format)
    }

    fn row(self) -> &'static Row {
        TABLE.iter().find(|(format, ..)| *format == self).unwrap_or(&TABLE[0])
    }

    /// The name in kebab case, as `--input` takes it and reports print it.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The format of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        TABLE.iter().find(|(_, n, _)| *n == name).map(|(format, ..)| *format)
    }

    /// For a format that is known and not read: its name in words, and how to get something that is.
    pub fn advice(self) -> Option<&'static str> {
        self.row().2
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
