//! `completions`: a script for the shell, generated from the definition of the arguments.

use super::{exit::Exit, output};
use clap::{Args, Command};
use clap_complete::Shell;

/// A completion script for a shell
#[derive(Args)]
#[command(after_help = "Example:\n  lastevent completions bash > ~/.local/share/bash-completion/completions/lastevent")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    /// Prints it.
    pub fn run(&self, mut command: Command) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "lastevent", &mut script);
        output::to_stdout(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Clean)
    }
}
