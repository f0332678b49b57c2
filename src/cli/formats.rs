//! `formats`: what is read, how it is recognised, and what each recorder cannot show.

use super::{exit::Exit, options::OutputOptions};
use crate::report::{formats as table, json};
use clap::{Args, ValueEnum};

/// What is read, how it is recognised, and what each recorder cannot show
#[derive(Args)]
#[command(after_help = "Examples:\n  lastevent formats\n  lastevent formats --format json")]
pub struct Formats {
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

impl Formats {
    /// Prints it.
    pub fn run(&self) -> anyhow::Result<Exit> {
        let text = match self.format {
            Format::Table => table::render(&self.output.look(self.output.output.is_some())),
            Format::Json => json::render(&table::list())?,
        };
        self.output.write(&text)?;
        Ok(Exit::Clean)
    }
}
