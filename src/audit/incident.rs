//! Findings of one cause in one session as one incident: a headline, its course, its blast radius, one remedy.

use super::{
    report::{Finding, Report},
    stamp::Stamp,
};
use crate::rules::Severity;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Causes before consequences: of several findings the one that stands here first gives the headline.
const CAUSES: &[&str] = &[
    "session-flapping",
    "silent-session-reset",
    "unknown-session-not-404",
    "dead-session-used",
    "cursor-from-other-session",
    "cursor-from-legacy-sse",
    "cursor-without-session",
    "terminal-replay-loop",
    "resume-after-terminal",
    "empty-replay-taken-as-success",
    "ambiguous-404-on-resume",
    "resume-black-hole",
    "ambiguous-empty-replay",
    "cursor-dropped-on-reconnect",
    "stream-abandoned",
];

/// Rules whose request may have been carried out, or its answer handled, more than once.
const REPEATED: &[&str] =
    &["duplicate-terminal", "conflicting-terminals", "side-effecting-call-reissued", "request-reposted"];

/// Rules whose request, at severity error, has lost its answer.
const LOST: &[&str] = &[
    "request-never-answered",
    "empty-replay-taken-as-success",
    "stream-abandoned",
    "ambiguous-empty-replay",
    "resume-black-hole",
    "cursor-dropped-on-reconnect",
    "cursor-from-other-stream",
    "modern-request-lost",
    "unresumable-drop",
];

/// How many steps of its course an incident keeps.
const STEPS: usize = 12;

/// A request that an incident touched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Touched {
    /// The id as JSON text.
    pub request: String,
    /// Its method.
    pub method: Option<String>,
    /// The tool that it calls.
    pub name: Option<String>,
}

/// Which calls may have run twice, and which lost their answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlastRadius {
    /// Requests that may have been carried out, or whose answers may have been handled, more than once.
    pub repeated: Vec<Touched>,
    /// Requests whose answers were lost.
    pub lost: Vec<Touched>,
}

/// One step of an incident.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// When, as well as the capture can say.
    pub time: Option<Stamp>,
    /// The file.
    pub file: String,
    /// Ordinal of the exchange within it.
    pub entry: u32,
    /// What happened.
    pub what: String,
}

/// Findings of one cause in one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// The sentence of the finding that is its cause.
    pub headline: String,
    /// That finding's rule.
    pub rule: String,
    /// The worst severity.
    pub severity: Severity,
    /// Pseudonym of the session.
    pub session: Option<String>,
    /// The real id, where real ids are shown.
    pub session_id: Option<String>,
    /// First moment.
    pub first: Option<Stamp>,
    /// Last moment.
    pub last: Option<Stamp>,
    /// Fingerprints of its findings.
    pub findings: Vec<String>,
    /// What happened, in time order.
    pub course: Vec<Step>,
    /// What it did.
    pub blast_radius: BlastRadius,
    /// What to do about the cause.
    pub remedy: String,
}

/// The incidents of a report: groups of at least two findings that share a request, a stream or an exchange.
pub fn incidents(report: &Report) -> Vec<Incident> {
    let groups = groups(&report.findings);
    let mut incidents: Vec<Incident> = groups.iter().filter(|g| g.len() > 1).map(|group| incident(group)).collect();
    incidents.sort_by(|a, b| (a.first.is_none(), &a.first, &a.rule).cmp(&(b.first.is_none(), &b.first, &b.rule)));
    incidents
}

/// Joins findings of one session over what they have in common.
fn groups(findings: &[Finding]) -> Vec<Vec<&Finding>> {
    let mut parent: Vec<usize> = (0..findings.len()).collect();
    fn root(parent: &mut [usize], mut at: usize) -> usize {
        while parent[at] != at {
            parent[at] = parent[parent[at]];
            at = parent[at];
        }
        at
    }
    let mut first: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for (index, finding) in findings.iter().enumerate() {
        let Some(session) = finding.session.as_deref() else { continue };
        let request = finding.request.as_ref().map(|r| format!("request {r} {:?}", finding.occurrence));
        let stream = finding.stream.as_ref().map(|s| format!("stream {s}"));
        let places = finding.evidence.first().map(|e| format!("entry {} {}", e.file, e.entry));
        for key in [request, stream, places].into_iter().flatten() {
            let known = *first.entry((session, key)).or_insert(index);
            let (a, b) = (root(&mut parent, known), root(&mut parent, index));
            parent[b.max(a)] = a.min(b);
        }
    }
    let mut groups: BTreeMap<usize, Vec<&Finding>> = BTreeMap::new();
    for (index, finding) in findings.iter().enumerate() {
        groups.entry(root(&mut parent, index)).or_default().push(finding);
    }
    groups.into_values().collect()
}

fn incident(group: &[&Finding]) -> Incident {
    let rank =
        |f: &Finding| (std::cmp::Reverse(f.severity), CAUSES.iter().position(|c| *c == f.rule).unwrap_or(CAUSES.len()));
    let cause = group.iter().copied().min_by_key(|f| rank(f)).expect("a group has members");
    let touched = |rules: &[&str], least: Severity| {
        let of_rules = group.iter().filter(|f| rules.contains(&f.rule.as_str()) && f.severity >= least);
        let mut touched: Vec<Touched> = of_rules
            .filter_map(|f| {
                Some(Touched { request: f.request.clone()?, method: f.method.clone(), name: f.name.clone() })
            })
            .collect();
        touched.sort();
        touched.dedup();
        touched
    };
    Incident {
        headline: cause.message.clone(),
        rule: cause.rule.clone(),
        severity: group.iter().map(|f| f.severity).max().unwrap_or(cause.severity),
        session: cause.session.clone(),
        session_id: cause.session_id.clone(),
        first: group.iter().filter_map(|f| f.first).min(),
        last: group.iter().filter_map(|f| f.last).max(),
        findings: group.iter().map(|f| f.fingerprint.clone()).collect(),
        course: course(group),
        blast_radius: BlastRadius {
            repeated: touched(REPEATED, Severity::Warning),
            lost: touched(LOST, Severity::Error),
        },
        remedy: cause.remedy.clone(),
    }
}

/// The evidence of all findings in time order, each place once.
fn course(group: &[&Finding]) -> Vec<Step> {
    let evidence = group.iter().flat_map(|f| &f.evidence);
    let mut steps: Vec<Step> =
        evidence.map(|e| Step { time: e.time, file: e.file.clone(), entry: e.entry, what: e.what.clone() }).collect();
    steps.sort_by(|a, b| {
        (a.time.is_none(), a.time, &a.file, a.entry, &a.what).cmp(&(
            b.time.is_none(),
            b.time,
            &b.file,
            b.entry,
            &b.what,
        ))
    });
    steps.dedup_by(|a, b| a.file == b.file && a.entry == b.entry && a.what == b.what);
    if steps.len() > STEPS {
        let last = steps.pop();
        steps.truncate(STEPS - 1);
        steps.extend(last);
    }
    steps
}
