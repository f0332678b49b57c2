//! Options that several commands share, in the words of their help.

use super::limits;
use crate::{
    capture::Limits,
    model::Vantage,
    redact::Key,
    rules::{Certainty, Severity},
};
use anyhow::Context as _;
use clap::{
    Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use std::path::PathBuf;

/// What is read, and how.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Input")]
pub struct InputOptions {
    /// Files, directories (walked recursively), or - for stdin
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Read every input as this format instead of finding it by content
    #[arg(long, value_name = "FORMAT")]
    pub input: Option<String>,
    /// Read paths from a file, one a line (- for stdin)
    #[arg(long, value_name = "FILE")]
    pub files_from: Option<PathBuf>,
    /// The paths of --files-from end in NUL instead
    #[arg(short = '0', requires = "files_from")]
    pub nul: bool,
    /// From where the traffic was recorded
    #[arg(long, value_name = "WHERE", default_value = "auto", value_parser = vantage())]
    pub vantage: Asked<Vantage>,
    /// Treat each file on its own: no session lies in two files
    #[arg(long)]
    pub isolate: bool,
    /// Change a bound on what input may cost, like body=64M (body, unpacked, ratio, members, depth, nesting, reassembly)
    #[arg(long, value_name = "NAME=VALUE")]
    pub limit: Vec<String>,
    /// Where generic JSON lines keep time, direction and message, like ts=.timestamp,dir=.direction,msg=.raw
    #[arg(long, value_name = "NAME=PATH[,…]")]
    pub map: Option<String>,
    /// Threads; 0 takes as many as there are cores
    #[arg(short, long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    #[arg(value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub jobs: u16,
    /// Print real session ids, cursors and addresses
    #[arg(long)]
    pub show_ids: bool,
    /// Key the pseudonyms with the content of a file, so that outsiders cannot guess ids back
    #[arg(long, value_name = "FILE")]
    pub redact_key_file: Option<PathBuf>,
    /// Options from this file [default: lastevent.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

impl InputOptions {
    /// The key of the pseudonyms.
    ///
    /// # Errors
    /// Where the key file cannot be read, or is empty.
    pub fn key(&self) -> anyhow::Result<Key> {
        let Some(path) = &self.redact_key_file else { return Ok(Key::new(None, self.show_ids)) };
        let secret = std::fs::read(path).with_context(|| format!("--redact-key-file {}", path.display()))?;
        anyhow::ensure!(!secret.is_empty(), "--redact-key-file {}: the file is empty", path.display());
        Ok(Key::new(Some(&secret), self.show_ids))
    }

    /// The bounds in force.
    ///
    /// # Errors
    /// Names a limit that does not exist, or a value that is none.
    pub fn limits(&self) -> anyhow::Result<Limits> {
        let mut all = Limits::default();
        self.limit.iter().try_for_each(|setting| limits::set(&mut all, setting))?;
        Ok(all)
    }
}

/// How much is printed, and how.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    /// Write the report to a file (beside it first, then renamed) instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub color: Color,
    /// Print as little as possible
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print everything there is; on stderr, where each file was recorded, and bytes, exchanges and MB/s of the run
    #[arg(short, long)]
    pub verbose: bool,
    /// No progress bar, even where stderr is a terminal
    #[arg(long)]
    pub no_progress: bool,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// Where stdout is a terminal that has them.
    #[default]
    Auto,
    /// In every case.
    Always,
    /// In no case.
    Never,
}

/// A value, or what the program finds by itself.
#[derive(Clone, Copy, Debug)]
pub struct Asked<T>(pub Option<T>);

fn vantage() -> impl TypedValueParser<Value = Asked<Vantage>> {
    PossibleValuesParser::new(["auto", "client", "proxy", "server"]).map(|name| {
        Asked(match name.as_str() {
            "client" => Some(Vantage::Client),
            "proxy" => Some(Vantage::Proxy),
            "server" => Some(Vantage::Server),
            _ => None,
        })
    })
}

/// Severities as values of options.
pub fn severity() -> impl TypedValueParser<Value = Severity> {
    PossibleValuesParser::new(["note", "warning", "error"]).map(|name| match name.as_str() {
        "note" => Severity::Note,
        "warning" => Severity::Warning,
        _ => Severity::Error,
    })
}

/// Severities, or `never`, as values of options.
pub fn severity_or_never() -> impl TypedValueParser<Value = Asked<Severity>> {
    PossibleValuesParser::new(["note", "warning", "error", "never"]).map(|name| {
        Asked(match name.as_str() {
            "note" => Some(Severity::Note),
            "warning" => Some(Severity::Warning),
            "error" => Some(Severity::Error),
            _ => None,
        })
    })
}

/// Certainties as values of options.
pub fn certainty() -> impl TypedValueParser<Value = Certainty> {
    PossibleValuesParser::new(["possible", "likely", "certain"]).map(|name| match name.as_str() {
        "possible" => Certainty::Possible,
        "likely" => Certainty::Likely,
        _ => Certainty::Certain,
    })
}
