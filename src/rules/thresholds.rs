//! The thresholds in force: defaults of the rules, changed by `--set`.

use super::{ALL, Rule};
use std::collections::BTreeMap;

/// Values set by the user, by `rule.name`.
#[derive(Clone, Debug, Default)]
pub struct Thresholds(BTreeMap<String, f64>);

impl Thresholds {
    /// The value in force for a rule's threshold. Unknown names are a fault of the program and give 0.
    pub fn get(&self, rule: &Rule, name: &str) -> f64 {
        let set = (!self.0.is_empty()).then(|| self.0.get(&format!("{}.{name}", rule.id))).flatten();
        set.copied().unwrap_or_else(|| rule.thresholds.iter().find(|t| t.name == name).map_or(0.0, |t| t.default))
    }

    /// Takes `RULE.NAME=VALUE`.
    ///
    /// # Errors
    /// Says what is wrong where the rule, the name or the number is unknown.
    pub fn set(&mut self, setting: &str) -> Result<(), String> {
        let wrong = || format!("'{setting}' is not RULE.NAME=VALUE");
        let (key, value) = setting.split_once('=').ok_or_else(wrong)?;
        let (rule, name) = key.split_once('.').ok_or_else(wrong)?;
        let rule = ALL.iter().find(|r| r.id == rule).ok_or_else(|| format!("no rule is called '{rule}'"))?;
        if !rule.thresholds.iter().any(|t| t.name == name) {
            let names: Vec<_> = rule.thresholds.iter().map(|t| t.name).collect();
            return Err(format!("{} has no threshold '{name}' (it has: {})", rule.id, names.join(", ")));
        }
        let value: f64 = value.parse().ok().filter(|v: &f64| v.is_finite() && *v >= 0.0).ok_or_else(wrong)?;
        self.0.insert(key.to_owned(), value);
        Ok(())
    }

    /// What the user changed, for the report's head.
    pub fn changed(&self) -> &BTreeMap<String, f64> {
        &self.0
    }
}
