//! `show`: what happened.

use super::{
    exit::Exit,
    inputs,
    options::{InputOptions, OutputOptions},
};
use crate::{
    audit::{
        self, IdTexts, Run,
        filter::{glob, is_session},
        report::RunFacts,
    },
    model::Exchange,
    reconstruct::Capture,
    redact::Key,
    report::{json, sessions, timeline, transcript},
    rules,
};
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;

const EXAMPLES: &str = "\
Examples:
  lastevent show run.har                           the sessions
  lastevent show --session s_3f9a run.har          one session: its streams, requests, resumptions
  lastevent show --format timeline run.har         one line an event, in order of time
  lastevent show --format json run.har             for programs, schema sessions/1
  lastevent show --format transcript run.har       what one attaches to a bug report: no payloads, no real ids";

/// What happened: sessions, streams, requests, resumptions; one session as a timeline
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Show {
    #[command(flatten)]
    input: InputOptions,
    /// Format
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    format: Format,
    #[command(flatten)]
    output: OutputOptions,
    /// Show one session only, in full: its pseudonym, the beginning of it, or its real id
    #[arg(long, value_name = "KEY")]
    session: Option<String>,
    /// Show endpoints that a pattern covers only, like http://localhost:*/mcp
    #[arg(long, value_name = "GLOB")]
    endpoint: Option<String>,
    /// A run without any MCP exchange is no error
    #[arg(long)]
    allow_empty: bool,
}

/// Formats of what happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Sessions; with --session its streams, requests and resumptions.
    #[default]
    Table,
    /// One line an event, in order of time.
    Timeline,
    /// The document, schema sessions/1.
    Json,
    /// The exchanges as plain text, redacted, readable again as input.
    Transcript,
}

impl Show {
    /// Reads, reconstructs, shows.
    pub fn run(&self) -> anyhow::Result<Exit> {
        let key = self.input.key()?;
        let Some(mut reading) = inputs::read(&self.input, &key, self.output.shows_progress())? else {
            return Ok(super::nothing_to_read("show"));
        };
        reading.complain();
        if self.output.verbose {
            reading.explain_vantages();
        }
        let facts = RunFacts { rules: Vec::new(), thresholds: BTreeMap::new(), key: key.name(), shard: None };
        let run = Run { rules: rules::ALL, facts, key: &key, sources: &reading.sources, caveats: &reading.caveats };
        let captures = audit::captures(std::mem::take(&mut reading.exchanges), self.input.isolate);
        let wanted = |name: &str, endpoint: &str| {
            self.session.as_deref().is_none_or(|s| is_session(s, name, &key))
                && self.endpoint.as_deref().is_none_or(|pattern| glob(pattern, endpoint))
        };
        let look = self.output.look(self.output.output.is_some());
        let document = || sessions::sessions(&captures, &run, wanted);
        let text = match self.format {
            Format::Table => sessions::table::render(&document(), self.session.is_some() || look.verbose, &look),
            Format::Timeline => timeline::render(&captures, &run.files(), wanted, &look),
            Format::Json => json::render(&document())?,
            Format::Transcript => self.transcript(&captures, &key, wanted),
        };
        self.output.write(&text)?;
        if self.output.verbose {
            reading.explain_speed();
        }
        let is_empty = captures.iter().all(|c| c.exchanges.is_empty());
        Ok(if is_empty { reading.empty(self.allow_empty) } else { reading.exit() })
    }
    fn transcript(&self, captures: &[Capture], key: &Key, wanted: impl Fn(&str, &str) -> bool) -> String {
        let all = self.session.is_none() && self.endpoint.is_none();
        let mut chosen: Vec<&Exchange> = Vec::new();
        for capture in captures {
            if all {
                chosen.extend(&capture.exchanges);
                continue;
            }
            let sessions = capture.sessions.iter().filter(|s| wanted(&audit::pseudonym(s), &s.endpoint));
            let mut indices: Vec<u32> = sessions.flat_map(|s| s.exchanges.iter().copied()).collect();
            indices.sort_unstable();
            chosen.extend(indices.iter().filter_map(|i| capture.exchanges.get(*i as usize)));
        }
        let texts = IdTexts::of(key.show_ids, chosen.iter().copied());
        transcript::render(chosen.into_iter(), &texts)
    }
}
