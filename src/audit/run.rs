//! From exchanges to settled findings.

use super::settle;
use crate::{
    model::Exchange,
    reconstruct::{self, Capture},
    rules::{self, Finding, Thresholds},
};
use rayon::prelude::*;
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
    let files: Vec<_> = files.into_values().collect();
    files.into_par_iter().map(reconstruct::capture).collect()
}

/// Runs the rules over captures, and settles what they say.
pub fn judge(captures: Vec<Capture>, thresholds: &Thresholds) -> Vec<Judged> {
    let one = |capture: Capture| {
        let findings = settle(&capture, rules::check(&capture, thresholds));
        Judged { capture, findings }
    };
    captures.into_par_iter().map(one).collect()
}
