//! Findings as far as they must stay the same when a capture is told in another way.

use super::judge;
use lastevent::{model::Exchange, rules::Finding};
use std::collections::BTreeSet;

/// Rule, severity and certainty, sub-kind, count, request.
pub type Said = (String, String, Option<String>, u32, Option<String>);

pub fn said(exchanges: Vec<Exchange>) -> BTreeSet<Said> {
    let (capture, findings) = judge(exchanges);
    let request = |f: &Finding| {
        let session = capture.sessions.get(f.session? as usize)?;
        session.requests.get(f.request? as usize).map(|r| r.id.to_string())
    };
    let kind = |f: &Finding| f.kind.map(str::to_owned);
    findings
        .iter()
        .map(|f| (f.rule.to_owned(), format!("{:?} {:?}", f.severity, f.certainty), kind(f), f.count, request(f)))
        .collect()
}

/// What is lost and what is new, as lines; none where nothing is.
pub fn difference(name: &str, before: &BTreeSet<Said>, after: &BTreeSet<Said>) -> Option<String> {
    let lost: Vec<_> = before.difference(after).collect();
    let new: Vec<_> = after.difference(before).collect();
    (before != after).then(|| format!("{name}\n  lost {lost:?}\n  new {new:?}"))
}
