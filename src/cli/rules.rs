//! `rules`: the list of all rules.

use super::{exit::Exit, options::OutputOptions, output};
use crate::{
    model::Era,
    report::{json, rules as table},
    rules::{self, Check, Family, Severity, Threshold},
};
use clap::{Args, ValueEnum};
use serde::Serialize;

/// The list of all rules
#[derive(Args)]
#[command(after_help = "Examples:\n  lastevent rules\n  lastevent rules --format json")]
pub struct Rules {
    /// Format of the list
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    output: OutputOptions,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    #[default]
    Table,
    Json,
}

#[derive(Serialize)]
struct List {
    schema: &'static str,
    rules: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    id: &'static str,
    family: Family,
    summary: &'static str,
    severity: Severity,
    since: &'static str,
    eras: &'static [Era],
    scope: &'static str,
    suppresses: &'static [&'static str],
    thresholds: &'static [Threshold],
    remedy: &'static str,
}

impl Rules {
    /// Prints it.
    pub fn run(&self) -> anyhow::Result<Exit> {
        let text = match self.format {
            Format::Table => table::render(rules::ALL, &self.output.look(self.output.output.is_some())),
            Format::Json => json::render(&list())?,
        };
        match &self.output.output {
            Some(path) => output::to_file(path, &text)?,
            None => output::to_stdout(&text)?,
        }
        Ok(Exit::Clean)
    }
}

fn list() -> List {
    let row = |rule: &&'static rules::Rule| Row {
        id: rule.id,
        family: rule.family,
        summary: rule.summary,
        severity: rule.severity,
        since: rule.since,
        eras: rule.eras,
        scope: match rule.check {
            Check::Session(_) => "session",
            Check::Endpoint(_) => "endpoint",
        },
        suppresses: rule.suppresses,
        thresholds: rule.thresholds,
        remedy: rule.remedy,
    };
    List { schema: "rules/1", rules: rules::ALL.iter().map(row).collect() }
}
