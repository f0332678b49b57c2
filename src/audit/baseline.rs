//! What an earlier report already said: findings of known signatures, or fingerprints, are left out.

use super::report::{Finding, Report, SCHEMA, Severities};
use foldhash::HashMap;

/// An earlier report, as far as it is compared.
#[derive(Clone, Debug)]
pub struct Baseline {
    known: HashMap<String, u64>,
    exact: bool,
}

impl Baseline {
    /// Reads an earlier JSON report. `exact` compares occurrences, else kinds of fault with their counts.
    ///
    /// # Errors
    /// Says what is wrong where the text is no report of this schema.
    pub fn read(text: &str, exact: bool) -> Result<Self, String> {
        let report: Report = serde_json::from_str(text).map_err(|e| format!("no {SCHEMA} document: {e}"))?;
        if report.schema != SCHEMA {
            return Err(format!("its schema is '{}', not '{SCHEMA}'", report.schema));
        }
        let mut known = HashMap::default();
        for finding in &report.findings {
            *known.entry(name(finding, exact).to_owned()).or_default() += u64::from(finding.count);
        }
        Ok(Self { known, exact })
    }

    /// Leaves the known findings out of a report, counts anew, and says how many they were.
    ///
    /// By signature, a kind of fault is known as often as the earlier report counted it. Where it occurs more often,
    /// all its findings stay: nobody can say which of them are the new ones.
    pub fn apply(&self, report: &mut Report) -> u64 {
        let mut now: HashMap<String, u64> = HashMap::default();
        for finding in &report.findings {
            *now.entry(name(finding, self.exact).to_owned()).or_default() += u64::from(finding.count);
        }
        let before = report.findings.len();
        report.findings.retain(|finding| {
            let name = name(finding, self.exact);
            match self.known.get(name) {
                None => true,
                Some(_) if self.exact => false,
                Some(known) => now.get(name) > Some(known),
            }
        });
        report.summary.findings = Severities::count(&report.findings);
        (before - report.findings.len()) as u64
    }
}

fn name(finding: &Finding, exact: bool) -> &str {
    if exact { &finding.fingerprint } else { &finding.signature }
}
