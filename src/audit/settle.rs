//! From what the rules said to what is reported: causes instead of consequences, repeats as one, in order.

use crate::{
    reconstruct::Capture,
    rules::{ALL, Certainty, Evidence, Finding, Severity},
};
use std::collections::HashMap;

/// Pairs whose consequence lies anywhere in the same session, and not at the same request or exchange.
const SESSION_WIDE: &[(&str, &str)] = &[
    ("dead-session-used", "rejected-cursor-reused"),
    ("dead-session-used", "no-reinitialize-after-404"),
    ("silent-session-reset", "event-id-not-unique"),
];

/// Rules that suppress only from this severity on.
const ONLY_FROM: &[(&str, Severity)] = &[
    ("ambiguous-empty-replay", Severity::Error),
    ("unresumable-drop", Severity::Warning),
    ("orphan-response", Severity::Error),
];

/// How many pieces of evidence a group keeps beside the last one.
const KEPT: usize = 6;

/// Leaves out what a cause explains, groups repeats, and puts findings in order.
pub fn settle(capture: &Capture, findings: Vec<Finding>) -> Vec<Finding> {
    let findings = findings.into_iter().map(weighed).collect();
    let mut findings = suppress(group(findings));
    findings.sort_by_cached_key(|f| {
        let start = f.session.and_then(|s| capture.sessions.get(s as usize)?.started);
        let time = f.exchanges.iter().filter_map(|x| capture.exchanges.get(*x as usize)?.sent).min();
        (start.is_none(), start, time.is_none(), time, f.rule, f.session, f.request, f.evidence.first().map(|e| e.at))
    });
    findings
}

/// A finding that is merely possible is never an error; its exchanges are a sorted set.
fn weighed(mut finding: Finding) -> Finding {
    if finding.certainty == Certainty::Possible {
        finding.severity = finding.severity.min(Severity::Warning);
    }
    finding.exchanges.sort_unstable();
    finding.exchanges.dedup();
    finding
}

/// Repeats of one rule in one scope become one finding: the first, with the count and the last evidence.
fn group(findings: Vec<Finding>) -> Vec<Finding> {
    let mut groups: Vec<Finding> = Vec::with_capacity(findings.len());
    let mut by_scope: HashMap<_, usize> = HashMap::new();
    for finding in findings {
        let scope = (finding.rule, finding.kind, finding.session, finding.request, finding.stream, finding.party);
        match by_scope.get(&scope) {
            Some(&at) => join(&mut groups[at], finding),
            None => {
                by_scope.insert(scope, groups.len());
                groups.push(finding);
            }
        }
    }
    for group in &mut groups {
        group.exchanges.sort_unstable();
        group.exchanges.dedup();
    }
    groups
}

fn join(group: &mut Finding, other: Finding) {
    group.count = group.count.saturating_add(other.count);
    // The group is as bad, and as sure, as its worst member, whose words it takes.
    if (other.severity, other.certainty) > (group.severity, group.certainty) {
        group.severity = other.severity;
        group.certainty = other.certainty;
        group.assumptions = other.assumptions;
    }
    group.exchanges.extend(other.exchanges);
    if let Some(last) = other.evidence.into_iter().next() {
        keep(&mut group.evidence, last);
    }
}

/// Keeps the first pieces and the last one.
fn keep(evidence: &mut Vec<Evidence>, last: Evidence) {
    if evidence.len() > KEPT {
        evidence.pop();
    }
    evidence.push(last);
}

fn suppress(findings: Vec<Finding>) -> Vec<Finding> {
    let mut gone = vec![false; findings.len()];
    let mut suppressed: Vec<Vec<&'static str>> = vec![Vec::new(); findings.len()];
    let near = Neighbours::new(&findings);
    for (cause, finding) in findings.iter().enumerate() {
        let rule = ALL.iter().find(|r| r.id == finding.rule);
        let least = ONLY_FROM.iter().find(|(id, _)| *id == finding.rule).map_or(Severity::Note, |(_, least)| *least);
        let Some(rule) = rule.filter(|r| !r.suppresses.is_empty() && finding.severity >= least) else { continue };
        for effect in near.of(finding) {
            let other = &findings[effect];
            let explains = rule.suppresses.contains(&other.rule) && other.severity <= finding.severity;
            if effect != cause && explains && concerns_the_same(finding, other) {
                gone[effect] = true;
                if !suppressed[cause].contains(&other.rule) {
                    suppressed[cause].push(other.rule);
                }
            }
        }
    }
    let kept = findings.into_iter().zip(gone).zip(suppressed).filter(|((_, gone), _)| !gone);
    kept.map(|((mut finding, _), suppressed)| {
        finding.suppressed = suppressed;
        finding
    })
    .collect()
}

/// Findings by session and by exchange, so that a cause looks only at what it can concern.
struct Neighbours {
    by_session: HashMap<u32, Vec<usize>>,
    by_exchange: HashMap<u32, Vec<usize>>,
}

impl Neighbours {
    fn new(findings: &[Finding]) -> Self {
        let mut near = Self { by_session: HashMap::new(), by_exchange: HashMap::new() };
        for (index, finding) in findings.iter().enumerate() {
            if let Some(session) = finding.session {
                near.by_session.entry(session).or_default().push(index);
            }
            for exchange in &finding.exchanges {
                near.by_exchange.entry(*exchange).or_default().push(index);
            }
        }
        near
    }

    fn of(&self, finding: &Finding) -> Vec<usize> {
        let session = finding.session.and_then(|s| self.by_session.get(&s)).into_iter().flatten();
        let exchanges = finding.exchanges.iter().filter_map(|x| self.by_exchange.get(x)).flatten();
        let mut all: Vec<usize> = session.chain(exchanges).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The same request or, where one of the two is about connections, the same exchanges.
fn concerns_the_same(cause: &Finding, effect: &Finding) -> bool {
    let same_session = cause.session == effect.session;
    if SESSION_WIDE.contains(&(cause.rule, effect.rule)) {
        return same_session;
    }
    match (cause.request, effect.request) {
        (Some(a), Some(b)) if same_session => a == b,
        _ => cause.exchanges.iter().any(|x| effect.exchanges.binary_search(x).is_ok()),
    }
}
