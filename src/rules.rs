//! The rules: questions asked of sessions. One `.rs` and one `.md` a rule, in family folders.

pub mod answer;
pub mod case;
mod finding;
mod list;
mod rule;
mod thresholds;

pub mod event;
pub mod http;
pub mod reconnect;
pub mod replay;
pub mod resume;
pub mod session;
pub mod terminal;

pub use finding::{Certainty, Evidence, Finding, Party, Severity};
pub use list::ALL;
pub use rule::{Case, Check, EVERY, Family, MODERN, Rule, STREAMABLE, Threshold};
pub use thresholds::Thresholds;

use crate::reconstruct::Capture;
use rayon::prelude::*;

/// Runs all rules over a capture. Findings are neither grouped nor suppressed yet; their order is that of sessions, then rules.
pub fn check(capture: &Capture, thresholds: &Thresholds) -> Vec<Finding> {
    let per_session = capture.sessions.par_iter().enumerate().map(|(index, session)| {
        let case = Case::new(capture, index as u32, session, thresholds);
        let mut found = Vec::new();
        for rule in ALL {
            if let Check::Session(check) = rule.check {
                check(&case, &mut found);
            }
        }
        found
    });
    let mut found: Vec<Finding> = per_session.flatten_iter().collect();
    for rule in ALL {
        if let Check::Endpoint(check) = rule.check {
            check(capture, thresholds, &mut found);
        }
    }
    found
}
