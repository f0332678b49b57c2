//! `check`: what went wrong.

use super::{
    console,
    exit::Exit,
    inputs::{self, Reading},
    options::{Asked, InputOptions, OutputOptions, certainty, severity, severity_or_never},
    output,
};
use crate::{
    audit::{
        self, Run,
        baseline::Baseline,
        filter::Filter,
        gate::Gate,
        report::{Report, RunFacts},
        stamp::Stamp,
    },
    report::{json, ndjson, table, text},
    rules::{self, Certainty, Severity, Thresholds},
};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  lastevent check run.har                                  one capture, as text
  lastevent check captures/                                a directory: everything in it is one capture
  tcpdump -i lo -w - port 3000 | lastevent check -         from a pipe
  lastevent check --format json -o report.json run.har     the report for programs
  lastevent check --select resume,replay run.har           two families of rules
  lastevent check --baseline report.json new.har           only what is new";

/// What went wrong: reads captures, reconstructs sessions, runs the rules, reports findings
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Check {
    #[command(flatten)]
    input: InputOptions,
    /// Format of the report
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    format: Format,
    /// Write the report in another format to a file, too
    #[arg(long, value_name = "FORMAT=FILE", help_heading = "Output")]
    also: Vec<String>,
    #[command(flatten)]
    output: OutputOptions,
    /// Report these rules or families only
    #[arg(long, value_name = "RULE|FAMILY[,…]", value_delimiter = ',', help_heading = "Findings")]
    select: Vec<String>,
    /// Leave these rules or families out
    #[arg(long, value_name = "RULE|FAMILY[,…]", value_delimiter = ',', help_heading = "Findings")]
    ignore: Vec<String>,
    /// Leave out what is less severe
    #[arg(long, value_name = "SEVERITY", value_parser = severity(), help_heading = "Findings")]
    min_severity: Option<Severity>,
    /// Leave out what is less certain
    #[arg(long, value_name = "CERTAINTY", value_parser = certainty(), help_heading = "Findings")]
    min_certainty: Option<Certainty>,
    /// Report one session only: its pseudonym, the beginning of it, or its real id
    #[arg(long, value_name = "KEY", help_heading = "Findings")]
    session: Option<String>,
    /// Report endpoints that a pattern covers only, like http://localhost:*/mcp
    #[arg(long, value_name = "GLOB", help_heading = "Findings")]
    endpoint: Option<String>,
    /// Leave out what was over before this time
    #[arg(long, value_name = "TIME", help_heading = "Findings")]
    since: Option<Stamp>,
    /// Leave out what began after this time
    #[arg(long, value_name = "TIME", help_heading = "Findings")]
    until: Option<Stamp>,
    /// Leave out kinds of fault that an earlier JSON report has as often
    #[arg(long, value_name = "REPORT", help_heading = "Findings")]
    baseline: Option<PathBuf>,
    /// Let --baseline compare single occurrences instead
    #[arg(long, requires = "baseline", help_heading = "Findings")]
    baseline_exact: bool,
    /// Change a threshold of a rule, like reconnect-storm.connects=10 (explain RULE lists them)
    #[arg(long, value_name = "RULE.NAME=VALUE", help_heading = "Findings")]
    set: Vec<String>,
    /// Exit with 1 from this severity on
    #[arg(long, value_name = "SEVERITY", default_value = "warning", value_parser = severity_or_never(), help_heading = "Exit code")]
    fail_on: Asked<Severity>,
    /// Exit with 1 from this certainty on
    #[arg(long, value_name = "CERTAINTY", default_value = "likely", value_parser = certainty(), help_heading = "Exit code")]
    fail_certainty: Certainty,
    /// Exit with 0 whatever the findings are
    #[arg(long, help_heading = "Exit code")]
    exit_zero: bool,
    /// A run without any MCP exchange is no error
    #[arg(long, help_heading = "Exit code")]
    allow_empty: bool,
}

/// Formats of the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    #[default]
    Text,
    /// One row a finding, above them one row an incident.
    Table,
    /// The document, schema report/1.
    Json,
    /// Its parts, one a line.
    Ndjson,
}

impl Check {
    /// Reads, judges, reports.
    pub fn run(&self) -> anyhow::Result<Exit> {
        // What the user asked for is checked before anything is read.
        let filter = self.filter()?;
        let thresholds = self.thresholds()?;
        let also = self.also()?;
        let baseline = self.baseline()?;
        let key = self.input.key()?;
        let Some(mut reading) = inputs::read(&self.input, &key, self.output.shows_progress())? else {
            return Ok(super::nothing_to_read("check"));
        };
        reading.complain();
        if self.output.verbose {
            reading.explain_vantages();
        }
        let run = Run {
            rules: rules::ALL,
            facts: RunFacts {
                rules: filter.rules(rules::ALL),
                thresholds: thresholds.changed().clone(),
                key: key.name(),
                shard: None,
            },
            key: &key,
            sources: &reading.sources,
            caveats: &reading.caveats,
        };
        let captures = audit::captures(std::mem::take(&mut reading.exchanges), self.input.isolate);
        let judged = audit::judge(captures, &thresholds);
        let mut report = audit::report(&judged, &run);
        for (option, value) in filter.unmatched(&judged, &key) {
            console::note(&format!("warning: no session matches {option} '{value}'"));
        }
        // The report stands on its own; what it was made from is much larger.
        drop(judged);
        filter.apply(&mut report, &key);
        let known = baseline.map_or(0, |b| b.apply(&mut report));
        report.incidents = audit::incident::incidents(&report);
        for (format, path) in &also {
            output::to_file(path, &self.render(*format, &report, known, true)?)?;
        }
        let text = self.render(self.format, &report, known, self.output.output.is_some())?;
        self.output.write(&text)?;
        if self.output.verbose {
            reading.explain_speed();
        }
        Ok(self.exit(&report, &reading))
    }

    fn filter(&self) -> anyhow::Result<Filter> {
        let filter = Filter {
            select: self.select.clone(),
            ignore: self.ignore.clone(),
            min_severity: self.min_severity,
            min_certainty: self.min_certainty,
            session: self.session.clone(),
            endpoint: self.endpoint.clone(),
            since: self.since,
            until: self.until,
        };
        filter.check(rules::ALL).map_err(anyhow::Error::msg)?;
        Ok(filter)
    }

    fn thresholds(&self) -> anyhow::Result<Thresholds> {
        let mut thresholds = Thresholds::default();
        for setting in &self.set {
            thresholds.set(setting).map_err(|e| anyhow::anyhow!("--set: {e}"))?;
        }
        Ok(thresholds)
    }

    fn also(&self) -> anyhow::Result<Vec<(Format, PathBuf)>> {
        let one = |text: &String| {
            let (format, file) = text.split_once('=').with_context(|| format!("--also {text}: write FORMAT=FILE"))?;
            let format = Format::from_str(format, false).map_err(|_| {
                let known: Vec<_> = Format::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
                let known: Vec<_> = known.iter().map(clap::builder::PossibleValue::get_name).collect();
                anyhow::anyhow!("--also {text}: no format is called '{format}' (there are {})", known.join(", "))
            })?;
            anyhow::ensure!(!file.is_empty(), "--also {text}: the name of the file is missing");
            Ok((format, PathBuf::from(file)))
        };
        self.also.iter().map(one).collect()
    }

    fn baseline(&self) -> anyhow::Result<Option<Baseline>> {
        let Some(path) = &self.baseline else { return Ok(None) };
        let read = |path| -> anyhow::Result<Baseline> {
            let text = std::fs::read_to_string(path)?;
            Baseline::read(&text, self.baseline_exact).map_err(anyhow::Error::msg)
        };
        read(path).map(Some).with_context(|| format!("--baseline {}", path.display()))
    }

    fn gate(&self) -> Gate {
        Gate { severity: self.fail_on.0, certainty: self.fail_certainty }
    }

    fn render(&self, format: Format, report: &Report, known: u64, in_file: bool) -> anyhow::Result<String> {
        let look = self.output.look(in_file);
        Ok(match format {
            Format::Text => text::render(report, &self.gate(), known, &look),
            Format::Table => table::render(report, &self.gate(), known, &look),
            Format::Json => json::render(report)?,
            Format::Ndjson => ndjson::render(report)?,
        })
    }

    fn exit(&self, report: &Report, reading: &Reading) -> Exit {
        let mut exit = if report.summary.exchanges == 0 { reading.empty(self.allow_empty) } else { reading.exit() };
        if self.gate().count(report) > 0 && !self.exit_zero {
            exit = exit.max(Exit::Findings);
        }
        exit
    }
}
