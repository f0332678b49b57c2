//! The panel above the findings: what was read, what it holds, what was found.

use super::super::{Look, plural};
use crate::{
    audit::report::{Report, Status},
    redact::escape,
};
use std::fmt::Write as _;

/// How many files are listed by name.
const MOST: usize = 10;

/// The panel, one line a count.
pub fn render(report: &Report, look: &Look) -> String {
    let mut out = String::new();
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "{name:>12}  {text}");
    };
    let counts = &report.summary;
    line("files", counts.files.to_string());
    let most = if look.verbose { usize::MAX } else { MOST };
    for input in report.inputs.iter().take(most) {
        let mut about = Vec::new();
        about.extend(input.format.clone());
        about.extend(input.recorder.clone());
        match (&input.error, input.status) {
            (Some(error), Status::Failed) => about.push(format!("NOT READ: {error}")),
            (error, status) => {
                about.push(plural(input.exchanges, "exchange"));
                about.push(format!("vantage {}", input.vantage));
                about.extend((status == Status::Partial).then(|| "damaged, partly read".to_owned()));
                about.extend(error.clone());
            }
        }
        line("", escape::terminal(&format!("{} ({})", input.file, about.join(", "))).into_owned());
    }
    if report.inputs.len() > most {
        line("", format!("and {} more", report.inputs.len() - most));
    }
    line("exchanges", counts.exchanges.to_string());
    line("sessions", counts.sessions.to_string());
    line("streams", counts.streams.to_string());
    line("requests", counts.requests.to_string());
    line("resumptions", with(counts.resumptions, &counts.verdicts.named()));
    let found = &counts.findings;
    line("findings", with(found.total(), &[("error", found.error), ("warning", found.warning), ("note", found.note)]));
    line("caveats", counts.caveats.to_string());
    out
}

/// `24 (20 invalid, 4 open)`.
fn with(total: u64, parts: &[(&str, u64)]) -> String {
    let parts: Vec<_> = parts.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{n} {name}")).collect();
    if parts.is_empty() { total.to_string() } else { format!("{total} ({})", parts.join(", ")) }
}
