//! `extract`: one normalised row an exchange.

use super::{
    exit::Exit,
    inputs,
    options::{InputOptions, OutputOptions},
};
use crate::{
    capture::rows::{self, Origin},
    redact::Key,
};
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  lastevent extract run.har > rows.ndjson
  lastevent extract captures/ | LC_ALL=C sort | lastevent check --input rows -";

/// One normalised row an exchange (NDJSON, schema exchange/1): input for check, for a database, for a cluster
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Extract {
    #[command(flatten)]
    input: InputOptions,
    #[command(flatten)]
    output: OutputOptions,
}

impl Extract {
    /// Reads and prints the rows.
    pub fn run(&self) -> anyhow::Result<Exit> {
        let key = self.input.key()?;
        let Some(reading) = inputs::read(&self.input, &key, self.output.shows_progress())? else {
            return Ok(super::nothing_to_read("extract"));
        };
        reading.complain();
        if self.output.verbose {
            reading.explain_vantages();
        }
        self.output.write_with(|out| {
            // The exchanges of one file stand side by side.
            for exchanges in reading.exchanges.chunk_by(|a, b| a.at.source == b.at.source) {
                let Some(source) = exchanges.first().and_then(|e| reading.sources.get(e.at.source as usize)) else {
                    continue;
                };
                let input = &source.input;
                let origin =
                    Origin { file: input.file.clone(), format: input.format.clone(), recorder: input.recorder.clone() };
                rows::write(out, &origin, name(&key, &input.file), &source.caveats, exchanges)?;
            }
            Ok(())
        })?;
        if self.output.verbose {
            reading.explain_speed();
        }
        Ok(reading.exit())
    }
}

/// The keyed hash that names a file in rows.
fn name(key: &Key, file: &str) -> u64 {
    key.hash(b'f', file.as_bytes())
}
