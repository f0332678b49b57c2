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
    let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "" => MediaType::Absent,
        "text/event-stream" => MediaType::EventStream,
        "application/json" | "text/json" => MediaType::Json,
        "text/html" | "application/xhtml+xml" => MediaType::Html,
        "text/plain" => MediaType::Plain,
        other if other.ends_with("+json") => MediaType::Json,
        _ => MediaType::Other,
    }
}

fn accepts(value: &str, flags: &mut HeaderFlags) {
    for part in value.split(',') {
        match part.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "*/*" => *flags |= HeaderFlags::ACCEPTS_SSE | HeaderFlags::ACCEPTS_JSON,
            "text/event-stream" | "text/*" => *flags |= HeaderFlags::ACCEPTS_SSE,
            "application/json" | "application/*" => *flags |= HeaderFlags::ACCEPTS_JSON,
            _ => {}
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
            let value = value.to_ascii_lowercase();
            flags.set(
                HeaderFlags::GATEWAY_MARK,
                flags.contains(HeaderFlags::GATEWAY_MARK) || GATEWAY_SERVERS.iter().any(|s| value.starts_with(s)),
            );
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

/// The facts of both heads. `endpoint` is the exchange's own place, for `Origin`.
pub fn facts(raw: &RawExchange<'_>, endpoint: &str, key: &Key, names: &Names) -> HeaderFacts {
    let mut facts = HeaderFacts::default();
    lines(&raw.request_headers, |name, value| {
        request_line(&mut facts, name, value, key, names);
        if name == "origin" && value != "null" && !endpoint.starts_with(&format!("{}/", value.to_ascii_lowercase())) {
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
