//! The rules: questions asked of sessions. One `.rs` and one `.md` a rule, in family folders.

mod finding;
mod rule;
mod thresholds;

pub use finding::{Certainty, Evidence, Finding, Party, Severity};
pub use rule::{Case, Check, Family, Rule, Threshold};
pub use thresholds::Thresholds;

use crate::reconstruct::Capture;

/// All rules, by family, in the order of evaluation.
pub static ALL: &[&Rule] = &[];

/// Runs all rules over a capture. Findings are neither grouped nor suppressed yet.
pub fn check(_capture: &Capture, _thresholds: &Thresholds) -> Vec<Finding> {
    Vec::new()
}
