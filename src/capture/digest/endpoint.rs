//! From a URL to an endpoint: scheme, authority and path, without what could be a secret.

use super::{ids::percent_decoded, names::Names};
use crate::redact::Key;
use std::sync::Arc;

/// The endpoint of a URL, and its legacy session parameter.
pub struct Endpoint {
    /// Scheme, authority and path; secret-looking segments are pseudonyms.
    pub name: Arc<str>,
    /// The value of a `sessionId` or `session_id` parameter.
    pub session: Option<String>,
}

/// Takes a URL apart. What is no URL is taken as a path.
pub fn parse(url: &str, key: &Key, names: &Names) -> Endpoint {
    let url = url.split('#').next().unwrap_or_default();
    let (place, query) = url.split_once('?').unwrap_or((url, ""));
    let session = query.split('&').find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let is_session = ["sessionid", "session_id"].iter().any(|n| name.eq_ignore_ascii_case(n));
        is_session.then(|| String::from_utf8_lossy(&percent_decoded(value.as_bytes())).into_owned())
    });
    Endpoint { name: names.place(place, || safe(place, key)), session }
}

/// Metadata of servers and their authorization, which is no MCP whatever headers ask for it (reconstruction.md, Scopes 2).
pub fn is_discovery(url: &str) -> bool {
    let place = url.split(['?', '#']).next().unwrap_or_default();
    place.split('/').skip(1).any(|segment| segment == ".well-known")
}

/// The place that a reference (as in a legacy `endpoint` event) names, seen from a base endpoint.
pub fn join(base: &str, reference: &str) -> String {
    if reference.contains("://") {
        return reference.to_owned();
    }
    let authority = base.find("://").map_or(0, |at| at + 3);
    let path = base[authority..].find('/').map_or(base.len(), |at| authority + at);
    if reference.starts_with('/') {
        return format!("{}{reference}", &base[..path]);
    }
    let folder = base[path..].rfind('/').map_or(path, |at| path + at);
    format!("{}/{reference}", &base[..folder])
}

fn safe(place: &str, key: &Key) -> String {
    // Servers redirect one of the two spellings to the other.
    let place = place
        .strip_suffix('/')
        .filter(|rest| rest[rest.find("://").map_or(0, |at| at + 3)..].contains('/'))
        .unwrap_or(place);
    let authority = place.find("://").map_or(0, |at| at + 3);
    let path = place[authority..].find('/').map_or(place.len(), |at| authority + at);
    let mut out = String::with_capacity(place.len());
    out.push_str(&place[..authority].to_ascii_lowercase());
    // A user and password before the host never get out.
    let host = place[authority..path].rsplit('@').next().unwrap_or_default();
    let default = match &*out {
        "http://" => ":80",
        "https://" => ":443",
        _ => "\0",
    };
    out.push_str(&host.strip_suffix(default).unwrap_or(host).to_ascii_lowercase());
    for (i, segment) in place[path..].split('/').enumerate() {
        if i > 0 {
            out.push('/');
        }
        if !key.show_ids && looks_secret(segment) {
            out.push_str(&format!("p_{:016x}", key.hash(b'p', segment.as_bytes())));
        } else {
            out.push_str(segment);
        }
    }
    out
}

/// 16 characters and more that mix letters and digits: a token or a UUID.
pub fn looks_secret(segment: &str) -> bool {
    segment.len() >= 16
        && segment.bytes().any(|b| b.is_ascii_digit())
        && segment.bytes().any(|b| b.is_ascii_alphabetic())
        && segment
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~' | b'=' | b'%' | b'+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_has_no_query_no_password_and_no_secret_segment() {
        let (key, names) = (Key::new(None, false), Names::default());
        let name = |url: &str| parse(url, &key, &names).name.to_string();
        assert_eq!(name("HTTP://u:p@Host:80/mcp?x=1#f"), "http://host/mcp");
        assert_eq!(name("https://h:8443/a/b"), "https://h:8443/a/b");
        assert_eq!(
            (name("http://h/mcp/"), name("http://h/"), name("http://h")),
            ("http://h/mcp".into(), "http://h/".into(), "http://h".into())
        );
        assert!(name("http://h/s/3f0c9a81d2e44b7f/mcp").starts_with("http://h/s/p_"));
        assert_eq!(parse("http://h/messages?sessionId=ab%2Fc", &key, &names).session.as_deref(), Some("ab/c"));
    }

    #[test]
    fn discovery_is_told_by_a_segment_of_the_path() {
        assert!(is_discovery("http://h/.well-known/oauth-protected-resource/mcp"));
        assert!(is_discovery("http://h/mcp/.well-known/openid-configuration?x"));
        assert!(!is_discovery("http://h/mcp?next=/.well-known/x") && !is_discovery("http://h/a.well-known"));
    }

    #[test]
    fn a_legacy_reference_is_joined_with_its_base() {
        assert_eq!(join("http://h:1/sse", "/messages/?s=1"), "http://h:1/messages/?s=1");
        assert_eq!(join("http://h:1/a/sse", "messages"), "http://h:1/a/messages");
        assert_eq!(join("http://h:1/sse", "https://k/m"), "https://k/m");
    }
}
