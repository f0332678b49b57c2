//! `man`: manual pages, generated from the definition of the arguments.

use super::{exit::Exit, output};
use clap::{Args, Command};

/// The manual page, of the program or of one command
#[derive(Args)]
#[command(after_help = "Examples:\n  lastevent man | man -l -\n  lastevent man check > lastevent-check.1")]
pub struct Man {
    /// The command
    command: Option<String>,
}

impl Man {
    /// Prints it.
    pub fn run(&self, mut all: Command) -> anyhow::Result<Exit> {
        all.build();
        let page = match &self.command {
            None => all,
            Some(name) => {
                all.find_subcommand(name).cloned().ok_or_else(|| anyhow::anyhow!("no command is called '{name}'"))?
            }
        };
        let mut roff = Vec::new();
        clap_mangen::Man::new(page).render(&mut roff)?;
        output::to_stdout(&String::from_utf8_lossy(&roff))?;
        Ok(Exit::Clean)
    }
}
