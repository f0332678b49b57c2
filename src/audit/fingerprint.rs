//! Names of findings that outlive a run: of one occurrence, and of a kind of fault.

use super::report::Finding;
use serde::Serialize;

/// The fingerprint: rule, kind, endpoint, session, request and cursor; no file names and no offsets.
///
/// `cursor` is its pseudonym, whether or not real ids are shown.
pub fn fingerprint(finding: &Finding, cursor: Option<&str>) -> String {
    let request = (&finding.request, finding.occurrence, finding.direction);
    digest(&(&finding.rule, &finding.kind, &finding.endpoint, &finding.session, request, cursor))
}

/// The signature: rule, kind, path, method, name, party and direction; no session, host, port or ids.
pub fn signature(finding: &Finding) -> String {
    let path = finding.endpoint.as_deref().map(path);
    let f = finding;
    digest(&(&f.rule, &f.kind, path, &f.method, &f.name, f.party, f.direction))
}

/// An endpoint without scheme and authority.
pub fn path(endpoint: &str) -> &str {
    let authority = endpoint.find("://").map_or(0, |at| at + 3);
    endpoint[authority..].find('/').map_or("", |at| &endpoint[authority + at..])
}

/// 16 hex digits of the parts as JSON, which keeps absent and empty, and where a part ends, apart.
fn digest(parts: &impl Serialize) -> String {
    let text = serde_json::to_vec(parts).unwrap_or_default();
    blake3::hash(&text).to_hex()[..16].to_owned()
}
