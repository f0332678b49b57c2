//! From what the rules said to what is reported: causes instead of consequences, repeats as one, in order.

use crate::{
    reconstruct::Capture,
    rules::{ALL, Certainty, Evidence, Finding, Severity},
};
use foldhash::{HashMap, HashSet};
use std::collections::BTreeMap;

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
    let mut by_scope: HashMap<_, usize> = HashMap::default();
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
        for effect in near.of(finding, &findings) {
            let other = &findings[effect];
            let explains = rule.suppresses.contains(&other.rule) && other.severity <= finding.severity;
            if effect != cause && explains {
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

/// Consequences by what they may share with a cause, so that a cause looks only at those that it can concern: the same
/// request or, where one of the two is about connections, the same exchanges.
#[derive(Default)]
struct Neighbours {
    by_rule: HashMap<(Option<u32>, &'static str), Vec<usize>>,
    by_request: HashMap<(u32, u32), Vec<usize>>,
    /// By exchange, apart by the session whose request a finding is about; none where it is about no request.
    by_exchange: HashMap<u32, BTreeMap<Option<u32>, Vec<usize>>>,
}

impl Neighbours {
    fn new(findings: &[Finding]) -> Self {
        let effects: HashSet<&str> = ALL.iter().flat_map(|r| r.suppresses.iter().copied()).collect();
        let mut near = Self::default();
        for (index, finding) in findings.iter().enumerate().filter(|(_, f)| effects.contains(f.rule)) {
            if SESSION_WIDE.iter().any(|(_, effect)| *effect == finding.rule) {
                near.by_rule.entry((finding.session, finding.rule)).or_default().push(index);
            }
            let request = finding.session.zip(finding.request);
            if let Some(request) = request {
                near.by_request.entry(request).or_default().push(index);
            }
            for exchange in &finding.exchanges {
                let at = near.by_exchange.entry(*exchange).or_default();
                at.entry(request.map(|(session, _)| session)).or_default().push(index);
            }
        }
        near
    }

    fn of(&self, cause: &Finding, findings: &[Finding]) -> Vec<usize> {
        let is_wide = |effect: &&usize| SESSION_WIDE.contains(&(cause.rule, findings[**effect].rule));
        let wide = SESSION_WIDE.iter().filter(|(rule, _)| *rule == cause.rule);
        let wide = wide.filter_map(|(_, effect)| self.by_rule.get(&(cause.session, *effect))).flatten();
        let request = cause.session.zip(cause.request);
        let same_request = request.and_then(|r| self.by_request.get(&r)).into_iter().flatten();
        // Two findings about requests of one session concern the same only where the request is the same.
        let own = request.map(|(session, _)| session);
        let at = cause.exchanges.iter().filter_map(|x| self.by_exchange.get(x)).flatten();
        let same_exchange = at.filter(|(session, _)| own.is_none() || **session != own).flat_map(|(_, all)| all);
        let narrow = same_request.chain(same_exchange).filter(|effect| !is_wide(effect));
        let mut all: Vec<usize> = wide.chain(narrow).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
