//! The report for people: a panel of counts, findings in the manner of rustc, caveats, and a verdict in one line.

mod finding;
mod incident;
mod panel;

use super::{Look, caveats, plural};
use crate::{
    audit::{gate::Gate, report::Report},
    redact::{Shortener, escape},
};
use std::fmt::Write as _;

/// The report as text. `known` is how many findings a baseline left out.
pub fn render(report: &Report, gate: &Gate, known: u64, look: &Look) -> String {
    let short = shortener(report);
    let mut out = String::new();
    if !look.quiet {
        out.push_str(&panel::render(report, look));
        out.push('\n');
    }
    for found in &report.incidents {
        out.push_str(&incident::render(found, &short, look));
        out.push('\n');
    }
    for found in &report.findings {
        out.push_str(&finding::render(found, &short, look));
        out.push_str(if look.quiet { "\n" } else { "\n\n" });
    }
    for line in caveats::render(&report.caveats, look).lines() {
        let _ = writeln!(out, "{}", escape::terminal(&short.shorten(line)));
    }
    if !look.quiet && !report.caveats.is_empty() {
        out.push('\n');
    }
    let _ = writeln!(out, "{}", verdict(report, gate, known));
    out
}

/// The line that says how it went.
pub fn verdict(report: &Report, gate: &Gate, known: u64) -> String {
    let found = &report.summary.findings;
    let mut counts = Vec::new();
    for (count, what) in [(found.error, "error"), (found.warning, "warning"), (found.note, "note")] {
        if count > 0 {
            counts.push(plural(count, what));
        }
    }
    let baseline = if known > 0 { format!(", {known} known from the baseline") } else { String::new() };
    let read = plural(report.summary.exchanges, "exchange");
    let failing = gate.count(report);
    if failing > 0 {
        let all = if failing as u64 == found.total() { String::new() } else { format!(", {failing} of them decisive") };
        return format!("FAILED: {}{all}{baseline}", counts.join(", "));
    }
    if report.inputs.iter().any(|i| i.error.is_some()) {
        return format!("INCOMPLETE: not everything could be read; {read} checked{baseline}");
    }
    if counts.is_empty() {
        return format!("ok: nothing found in {read}{baseline}");
    }
    format!("ok: {}, none of them decisive{baseline}", counts.join(", "))
}

/// Every pseudonym that the report may print.
pub(super) fn shortener(report: &Report) -> Shortener {
    let mut short = Shortener::default();
    for finding in &report.findings {
        let texts = [&finding.session, &finding.endpoint, &finding.cursor, &finding.request];
        texts.into_iter().flatten().for_each(|text| short.learn(text));
        short.learn(&finding.message);
        for evidence in &finding.evidence {
            short.learn(&evidence.what);
            evidence.facts.iter().for_each(|fact| short.learn(fact));
        }
        finding.assumptions.iter().for_each(|text| short.learn(text));
    }
    report.caveats.iter().for_each(|caveat| short.learn(&caveat.message));
    short
}
