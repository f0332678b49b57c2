//! The rules as a table.

use super::{Look, table};
use crate::rules::Rule;

/// One row a rule.
pub fn render(rules: &[&Rule], look: &Look) -> String {
    let mut all = table::new(look, &["rule", "family", "severity", "since", "finds"]);
    for rule in rules {
        all.add_row([rule.id, rule.family.as_str(), rule.severity.as_str(), rule.since, rule.summary]);
    }
    format!("{all}\n")
}
