//! Which findings make a run fail.

use super::report::{Finding, Report};
use crate::rules::{Certainty, Severity};

/// What a finding must reach so that the run fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The least severity; none where no finding fails a run.
    pub severity: Option<Severity>,
    /// The least certainty.
    pub certainty: Certainty,
}

impl Default for Gate {
    fn default() -> Self {
        Self { severity: Some(Severity::Warning), certainty: Certainty::Likely }
    }
}

impl Gate {
    /// The finding makes the run fail.
    pub fn fails(&self, finding: &Finding) -> bool {
        self.severity.is_some_and(|least| finding.severity >= least) && finding.certainty >= self.certainty
    }

    /// How many findings of a report do.
    pub fn count(&self, report: &Report) -> usize {
        report.findings.iter().filter(|f| self.fails(f)).count()
    }
}
