//! `explain`: the page of one rule.

use super::{exit::Exit, output};
use crate::{
    audit::filter::nearest,
    rules::{self, Rule},
};
use clap::Args;
use std::fmt::Write as _;

/// The page of one rule: why it matters, what is looked at, when it may be wrong, what to do
#[derive(Args)]
#[command(
    after_help = "Examples:\n  lastevent explain resume-after-terminal\n  lastevent rules                 all rules"
)]
pub struct Explain {
    /// The rule's id
    rule: String,
}

impl Explain {
    /// Prints it.
    pub fn run(&self) -> anyhow::Result<Exit> {
        let Some(rule) = rules::ALL.iter().find(|r| r.id == self.rule) else {
            let near = nearest(&self.rule, rules::ALL.iter().map(|r| r.id));
            let hint = near.map(|n| format!("; did you mean '{n}'?")).unwrap_or_default();
            anyhow::bail!("no rule is called '{}'{hint} (lastevent rules lists them)", self.rule);
        };
        output::to_stdout(&page(rule))?;
        Ok(Exit::Clean)
    }
}

fn page(rule: &Rule) -> String {
    let mut out = format!("{}\n{}\n\n{}\n\n", rule.id, "=".repeat(rule.id.len()), rule.summary);
    let eras: Vec<_> = rule.eras.iter().map(|e| e.as_str()).collect();
    let mut line = |name: &str, text: &str| {
        let _ = writeln!(out, "{name:>11}: {text}");
    };
    line("family", rule.family.as_str());
    line("severity", rule.severity.as_str());
    line("since", rule.since);
    line("eras", &eras.join(", "));
    line("suppresses", &if rule.suppresses.is_empty() { "nothing".to_owned() } else { rule.suppresses.join(", ") });
    for t in rule.thresholds {
        line("threshold", &format!("{} = {} ({}; --set {}.{}=VALUE)", t.name, t.default, t.about, rule.id, t.name));
    }
    line("remedy", rule.remedy);
    // The page begins with the rule's name, which stands above already.
    let page = rule.page.trim().strip_prefix(&format!("# {}", rule.id)).unwrap_or(rule.page).trim();
    if !page.is_empty() {
        let _ = write!(out, "\n{page}\n");
    }
    out
}
