//! From exchanges to settled findings.

use super::settle;
use crate::{
    model::Exchange,
    reconstruct::{self, Capture},
    rules::{self, Finding, Thresholds},
};
use std::collections::BTreeMap;

/// A capture and what is wrong in it.
pub struct Judged {
    /// The capture.
    pub capture: Capture,
    /// The findings, settled.
    pub findings: Vec<Finding>,
}

/// Reconstructs what exchanges mean; `isolate` treats each file on its own.
pub fn captures(exchanges: Vec<Exchange>, isolate: bool) -> Vec<Capture> {
    if !isolate {
        return vec![reconstruct::capture(exchanges)];
    }
    let mut files: BTreeMap<u32, Vec<Exchange>> = BTreeMap::new();
    for exchange in exchanges {
        files.entry(exchange.at.source).or_default().push(exchange);
    }
    files.into_values().map(reconstruct::capture).collect()
}

/// Runs the rules over a capture, and settles what they say.
pub fn judge(capture: Capture, thresholds: &Thresholds) -> Judged {
    let findings = settle(&capture, rules::check(&capture, thresholds));
    Judged { capture, findings }
}
