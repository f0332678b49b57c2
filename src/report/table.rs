//! The report as tables: one row a finding, and before them one row an incident.

use super::{
    Look,
    text::{shortener, verdict},
};
use crate::{
    audit::{
        gate::Gate,
        incident::{Incident, Touched},
        report::Report,
    },
    redact::{Shortener, escape},
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

/// The incidents as a table, where there are some, and the findings as another, then the verdict.
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
    match (report.findings.is_empty(), report.incidents.is_empty()) {
        (true, _) => format!("{verdict}\n"),
        (_, true) => format!("{table}\n{verdict}\n"),
        _ => format!("{}\n{table}\n{verdict}\n", incidents(&report.incidents, &short, look)),
    }
}

/// The incidents, one row each: the cause, how many findings it has, and what it touched.
fn incidents(incidents: &[Incident], short: &Shortener, look: &Look) -> Table {
    let mut table =
        new(look, &["severity", "cause", "session", "findings", "may have run twice", "answers lost", "incident"]);
    for incident in incidents {
        let cell = |text: &str| escape::terminal(&short.shorten(text)).into_owned();
        table.add_row([
            incident.severity.as_str().to_owned(),
            incident.rule.clone(),
            cell(incident.session.as_deref().unwrap_or("-")),
            incident.findings.len().to_string(),
            cell(&requests(&incident.blast_radius.repeated)),
            cell(&requests(&incident.blast_radius.lost)),
            cell(&incident.headline),
        ]);
    }
    table
}

/// `2 (tools/call slow)`, or `-`.
fn requests(touched: &[Touched]) -> String {
    let name = |t: &Touched| {
        let words: Vec<&str> = [t.method.as_deref(), t.name.as_deref()].into_iter().flatten().collect();
        if words.is_empty() { t.request.clone() } else { format!("{} ({})", t.request, words.join(" ")) }
    };
    let names: Vec<String> = touched.iter().map(name).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
}
