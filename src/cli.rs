//! The command line: the only place that reads arguments and the environment, prints, and knows exit codes.

mod check;
mod completions;
mod config;
mod console;
mod exit;
mod explain;
mod extract;
mod formats;
mod inputs;
mod limits;
mod man;
mod options;
mod output;
mod progress;
mod rules;
mod show;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use exit::Exit;
use std::{
    ffi::OsString,
    panic::{self, AssertUnwindSafe},
    process::ExitCode,
};

const AFTER_HELP: &str = "\
Examples:
  lastevent check run.har                       what went wrong
  lastevent show run.har                        what happened
  lastevent show --session s_3f9a run.har       one session with its streams, requests and resumptions
  lastevent explain resume-after-terminal       what a rule means and what to do

Exit codes: 0 nothing decisive found, 1 findings, 2 something could not be read, or a usage error.";

/// Audits captured MCP traffic: invalid resumptions, empty replays taken for success, duplicate terminal responses.
///
/// It reads HTTP captures (Streamable HTTP and HTTP+SSE); the stdio and WebSocket transports are out of scope.
#[derive(Parser)]
#[command(name = "lastevent", version, after_help = AFTER_HELP, args_override_self = true, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Check),
    Show(show::Show),
    Extract(extract::Extract),
    Explain(explain::Explain),
    Rules(rules::Rules),
    Formats(formats::Formats),
    Completions(completions::Completions),
    Man(man::Man),
}

/// Runs the program; never panics.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    // The message of a panic may quote what was captured, so only its place is printed.
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|l| format!(" at {}:{}", l.file(), l.line())).unwrap_or_default();
        console::error(&format!("internal error{place}; this is a bug of lastevent, please report it"));
    }));
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| run(arguments)));
    match outcome {
        Ok(Ok(exit)) => exit,
        Ok(Err(error)) => exit::of(&error),
        Err(_) => Exit::Trouble,
    }
    .into()
}

fn run(arguments: Vec<OsString>) -> anyhow::Result<Exit> {
    let parsed = config::apply(Cli::command(), arguments)
        .and_then(|matches| Cli::from_arg_matches(&matches).map_err(config::Refused::Usage));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(config::Refused::Usage(error)) => {
            error.print()?;
            return Ok(if error.exit_code() == 0 { Exit::Clean } else { Exit::Trouble });
        }
        Err(config::Refused::Config(error)) => return Err(error),
    };
    match cli.command {
        Command::Check(check) => check.run(),
        Command::Show(show) => show.run(),
        Command::Extract(extract) => extract.run(),
        Command::Explain(explain) => explain.run(),
        Command::Rules(rules) => rules.run(),
        Command::Formats(formats) => formats.run(),
        Command::Completions(completions) => completions.run(Cli::command()),
        Command::Man(man) => man.run(Cli::command()),
    }
}

/// A command was given nothing to read, and no pipe either: its help, which is no report, and trouble.
fn nothing_to_read(command: &str) -> Exit {
    console::show(&help(command));
    Exit::Trouble
}

fn help(command: &str) -> String {
    let mut all = Cli::command();
    all.build();
    all.find_subcommand_mut(command).map(|c| c.render_help().to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_holds_together() {
        Cli::command().debug_assert();
        assert!(help("check").contains("--fail-on"));
    }
}
