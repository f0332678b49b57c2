//! Suppression, grouping and order of what the rules said.

use crate::{reconstruct::Capture, rules::Finding};

/// Leaves out what a cause explains, groups repeats, and puts findings in order.
pub fn settle(_capture: &Capture, findings: Vec<Finding>) -> Vec<Finding> {
    findings
}
