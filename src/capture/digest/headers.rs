//! From header lines to the facts that rules ask for.

use super::{ids::is_placeholder, names::Names};
use crate::{
    capture::raw::{Headers, RawExchange},
    model::{HeaderFacts, HeaderFlags, MediaType, Message},
    redact::Key,
};
use base64::Engine as _;

/// Header lines that only something between client and server adds.
const GATEWAY_LINES: &[&str] = &[
    "via",
    "cf-ray",
    "x-amz-cf-id",
    "x-amzn-requestid",
    "x-amzn-trace-id",
    "x-cache",
    "x-served-by",
    "x-envoy-upstream-service-time",
    "x-kong-response-latency",
    "x-azure-ref",
    "fly-request-id",
    "x-vercel-id",
    "x-render-origin-server",
    "akamai-grn",
];

/// All other header lines that anything here or in a reader asks for.
const READ: &[&str] = &[
    "accept",
    "access-control-expose-headers",
    "authorization",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "last-event-id",
    "location",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "origin",
    "retry-after",
    "server",
    "user-agent",
    "www-authenticate",
    "x-accel-buffering",
    "x-http-method-override",
    "x-powered-by",
];

/// A header of this name is looked at, here or in a reader. What is not may be left out of a
/// [`RawExchange`](crate::capture::RawExchange).
pub fn is_read(name: &[u8]) -> bool {
    let is = |known: &&str| known.len() == name.len() && name.eq_ignore_ascii_case(known.as_bytes());
    READ.iter().any(is) || GATEWAY_LINES.iter().any(is)
}

/// `Server` values of common gateways, lower case, as prefixes.
const GATEWAY_SERVERS: &[&str] = &[
    "nginx",
    "openresty",
    "cloudflare",
    "envoy",
    "istio-envoy",
    "awselb",
    "caddy",
    "haproxy",
    "varnish",
    "traefik",
    "kong",
    "apache",
    "litespeed",
    "google frontend",
    "gws",
    "cloudfront",
    "akamaighost",
    "squid",
    "fly/",
    "vercel",
    "microsoft-azure",
];

/// The kind of a `Content-Type` value.
pub fn media_type(value: &str) -> MediaType {
    let essence = value.split(';').next().unwrap_or_default().trim();
    let is = |names: &[&str]| names.iter().any(|name| essence.eq_ignore_ascii_case(name));
    let suffix = |name: &str| essence.len().checked_sub(name.len()).and_then(|at| essence.get(at..));
    match () {
        () if essence.is_empty() => MediaType::Absent,
        () if is(&["text/event-stream"]) => MediaType::EventStream,
        () if is(&["application/json", "text/json"]) => MediaType::Json,
        () if is(&["text/html", "application/xhtml+xml"]) => MediaType::Html,
        () if is(&["text/plain"]) => MediaType::Plain,
        () if suffix("+json").is_some_and(|s| s.eq_ignore_ascii_case("+json")) => MediaType::Json,
        () => MediaType::Other,
    }
}

fn accepts(value: &str, flags: &mut HeaderFlags) {
    for part in value.split(',') {
        let range = part.split(';').next().unwrap_or_default().trim();
        let is = |names: &[&str]| names.iter().any(|name| range.eq_ignore_ascii_case(name));
        if is(&["*/*", "text/event-stream", "text/*"]) {
            *flags |= HeaderFlags::ACCEPTS_SSE;
        }
        if is(&["*/*", "application/json", "application/*"]) {
            *flags |= HeaderFlags::ACCEPTS_JSON;
        }
    }
}

/// Undoes `=?base64?…?=` of 2026-07-28 header values.
fn decoded(value: &str) -> String {
    let inner = value.trim().strip_prefix("=?base64?").and_then(|v| v.strip_suffix("?="));
    let bytes = inner.and_then(|i| base64::engine::general_purpose::STANDARD.decode(i).ok());
    bytes.map_or_else(|| value.trim().to_owned(), |b| String::from_utf8_lossy(&b).into_owned())
}

fn request_line(facts: &mut HeaderFacts, name: &str, value: &str, key: &Key, names: &Names) {
    let flags = &mut facts.flags;
    match name {
        "accept" => {
            *flags |= HeaderFlags::HAS_ACCEPT;
            accepts(value, flags);
        }
        "authorization" => {
            *flags |= HeaderFlags::HAS_AUTH;
            facts.auth = Some(key.hash(b'k', value.as_bytes()));
        }
        "mcp-protocol-version" => facts.protocol_version = Some(names.get(value.trim())),
        "user-agent" => facts.user_agent = Some(names.get(value)),
        "x-http-method-override" => *flags |= HeaderFlags::METHOD_OVERRIDE,
        _ => {}
    }
}

fn response_line(facts: &mut HeaderFacts, name: &str, value: &str, key: &Key) {
    let flags = &mut facts.flags;
    match name {
        "content-type" => facts.content_type = media_type(value),
        "content-length" if value.trim() == "0" => *flags |= HeaderFlags::ZERO_LENGTH,
        "retry-after" => *flags |= HeaderFlags::RETRY_AFTER,
        "www-authenticate" => *flags |= HeaderFlags::WWW_AUTHENTICATE,
        "location" => *flags |= HeaderFlags::LOCATION,
        "x-accel-buffering" if value.trim().eq_ignore_ascii_case("no") => *flags |= HeaderFlags::NO_BUFFERING,
        "x-powered-by" => facts.powered_by = Some(key.hash(b'v', value.as_bytes())),
        "server" => {
            facts.server = Some(key.hash(b'v', value.as_bytes()));
            let is = |server: &&str| value.get(..server.len()).is_some_and(|v| v.eq_ignore_ascii_case(server));
            if GATEWAY_SERVERS.iter().any(is) {
                *flags |= HeaderFlags::GATEWAY_MARK;
            }
        }
        "access-control-expose-headers" => {
            let named =
                value.split(',').any(|v| matches!(v.trim(), "*") || v.trim().eq_ignore_ascii_case("mcp-session-id"));
            flags.set(HeaderFlags::EXPOSES_SESSION, named);
        }
        name if GATEWAY_LINES.contains(&name) => *flags |= HeaderFlags::GATEWAY_MARK,
        _ => {}
    }
}

/// Calls `each` with the lower-case name and the value of every line that is no pseudo-header.
fn lines(headers: &Headers<'_>, mut each: impl FnMut(&str, &str)) {
    let mut buffer = [0; 40];
    for (name, value) in headers {
        if name.len() <= buffer.len() && !name.starts_with(':') {
            let lower = &mut buffer[..name.len()];
            lower.copy_from_slice(name.as_bytes());
            lower.make_ascii_lowercase();
            if let Ok(name) = std::str::from_utf8(lower) {
                each(name, value);
            }
        }
    }
}

/// The endpoint, whose scheme and host are in lower case, is of this origin.
fn is_origin_of(origin: &str, endpoint: &str) -> bool {
    let (base, path) = endpoint.as_bytes().split_at(origin.len().min(endpoint.len()));
    base.eq_ignore_ascii_case(origin.as_bytes()) && path.first() == Some(&b'/')
}

/// The facts of both heads. `endpoint` is the exchange's own place, for `Origin`.
pub fn facts(raw: &RawExchange<'_>, endpoint: &str, key: &Key, names: &Names) -> HeaderFacts {
    let mut facts = HeaderFacts::default();
    lines(&raw.request_headers, |name, value| {
        request_line(&mut facts, name, value, key, names);
        if name == "origin" && value != "null" && !is_origin_of(value, endpoint) {
            facts.flags |= HeaderFlags::CROSS_ORIGIN;
        }
        if matches!(name, "authorization" | "mcp-session-id" | "cookie") && is_placeholder(value) {
            facts.flags |= HeaderFlags::SANITISED;
        }
    });
    lines(&raw.response_headers, |name, value| response_line(&mut facts, name, value, key));
    facts.flags.set(HeaderFlags::NO_HEADERS, raw.no_headers);
    facts.flags.set(HeaderFlags::FROM_CACHE, raw.from_cache);
    facts
}

/// Compares `Mcp-Method` and `Mcp-Name` with the body (2026-07-28). `name` is the unredacted name or URI of the body.
pub fn compare(facts: &mut HeaderFacts, headers: &Headers<'_>, message: &Message, name: Option<&str>) {
    lines(headers, |line, value| match line {
        "mcp-method" => {
            facts.flags |= HeaderFlags::HAS_MCP_METHOD;
            facts
                .flags
                .set(HeaderFlags::MCP_METHOD_DIFFERS, message.method.as_deref() != Some(decoded(value).as_str()));
        }
        "mcp-name" => {
            facts.flags |= HeaderFlags::HAS_MCP_NAME;
            facts.flags.set(HeaderFlags::MCP_NAME_DIFFERS, name.is_some_and(|n| n != decoded(value)));
        }
        _ => {}
    });
}
