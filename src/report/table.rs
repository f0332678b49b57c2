//! The report as a table: one row a finding.

use super::{
    Look,
    text::{shortener, verdict},
};
use crate::{
    audit::{gate::Gate, report::Report},
    redact::escape,
};
use comfy_table::{ContentArrangement, Table, presets};

/// A table that fits the terminal. Its cells must have been escaped.
pub(super) fn new(look: &Look, header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = look.width {
        table.set_width(width);
    }
    table.set_header(header.iter().copied());
    table
}

/// The findings as a table, then the verdict.
pub fn render(report: &Report, gate: &Gate, known: u64, look: &Look) -> String {
    let short = shortener(report);
    let mut table = new(look, &["severity", "certainty", "rule", "party", "session", "request", "times", "message"]);
    for finding in &report.findings {
        let cell = |text: &str| escape::terminal(&short.shorten(text)).into_owned();
        let rule = finding.kind.as_ref().map_or_else(|| finding.rule.clone(), |k| format!("{}: {k}", finding.rule));
        table.add_row([
            finding.severity.as_str().to_owned(),
            finding.certainty.as_str().to_owned(),
            rule,
            finding.party.as_str().to_owned(),
            cell(finding.session.as_deref().unwrap_or("-")),
            cell(finding.request.as_deref().unwrap_or("-")),
            finding.count.to_string(),
            cell(&finding.message),
        ]);
    }
    let verdict = verdict(report, gate, known);
    if report.findings.is_empty() { format!("{verdict}\n") } else { format!("{table}\n{verdict}\n") }
}
