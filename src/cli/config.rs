//! `lastevent.toml`: options under their own names, overridden by the command line.
//!
//! The file is turned into arguments that stand before the user's own, so that values are checked in one place only.
//! An option that the user gives on the command line replaces that of the file as a whole.

use crate::audit::filter::nearest;
use anyhow::Context as _;
use clap::{ArgAction, ArgMatches, Command, error::ErrorKind, parser::ValueSource};
use std::{ffi::OsString, path::Path};

const DEFAULT: &str = "lastevent.toml";

/// Why arguments were not taken.
pub enum Refused {
    /// The command line is wrong, or asks for help.
    Usage(clap::Error),
    /// The configuration file is.
    Config(anyhow::Error),
}

/// Parses the arguments together with those of the configuration file.
pub fn apply(command: Command, arguments: Vec<OsString>) -> Result<ArgMatches, Refused> {
    let matches = command.clone().try_get_matches_from(&arguments).map_err(Refused::Usage)?;
    let Some((name, given)) = matches.subcommand() else { return Ok(matches) };
    let Some(chosen) = command.find_subcommand(name).filter(|c| has(c, "config")) else { return Ok(matches) };
    let asked = given.get_one::<std::path::PathBuf>("config").cloned();
    let path = asked.clone().unwrap_or_else(|| DEFAULT.into());
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if asked.is_none() && e.kind() == std::io::ErrorKind::NotFound => return Ok(matches),
        Err(e) => return Err(Refused::Config(anyhow::Error::new(e).context(format!("--config {}", path.display())))),
    };
    let before =
        options(&command, chosen, given, &text).with_context(|| path.display().to_string()).map_err(Refused::Config)?;
    let all = with(&arguments, name, &before);
    command.try_get_matches_from(all).map_err(|e| match e.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Refused::Usage(e),
        _ => Refused::Config(anyhow::anyhow!("{}: {}", path.display(), plain(&e))),
    })
}

fn has(command: &Command, long: &str) -> bool {
    command.get_arguments().any(|a| a.get_long() == Some(long))
}

fn plain(error: &clap::Error) -> String {
    let text = error.render().to_string();
    text.trim_start_matches("error: ").lines().next().unwrap_or_default().to_owned()
}

/// The arguments that the file stands for, without those that the user gave.
fn options(all: &Command, chosen: &Command, given: &ArgMatches, text: &str) -> anyhow::Result<Vec<OsString>> {
    let table: toml::Table = text.parse()?;
    let mut out = Vec::new();
    for (key, value) in &table {
        let Some(argument) = chosen.get_arguments().find(|a| a.get_long() == Some(key.as_str())) else {
            // An option of another command is for that one.
            anyhow::ensure!(
                all.get_subcommands().any(|c| has(c, key)),
                "no option is called '{key}'{}",
                hint(all, key)
            );
            continue;
        };
        anyhow::ensure!(key != "config" && key != "help", "'{key}' cannot stand in a configuration file");
        if given.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine) {
            continue;
        }
        let flag = matches!(argument.get_action(), ArgAction::SetTrue);
        match value {
            toml::Value::Boolean(on) if flag => out.extend(on.then(|| format!("--{key}"))),
            _ if flag => anyhow::bail!("'{key}' is true or false"),
            toml::Value::Array(values) => {
                for value in values {
                    out.push(format!("--{key}={}", single(key, value)?));
                }
            }
            value => out.push(format!("--{key}={}", single(key, value)?)),
        }
    }
    Ok(out.into_iter().map(Into::into).collect())
}

fn single(key: &str, value: &toml::Value) -> anyhow::Result<String> {
    match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        toml::Value::Datetime(time) => Ok(time.to_string()),
        _ => anyhow::bail!("the value of '{key}' is no text or number"),
    }
}

fn hint(all: &Command, key: &str) -> String {
    let names = all.get_subcommands().flat_map(Command::get_arguments).filter_map(clap::Arg::get_long);
    nearest(key, names).map(|n| format!("; did you mean '{n}'?")).unwrap_or_default()
}

/// The arguments with others right behind the command's name.
fn with(arguments: &[OsString], name: &str, before: &[OsString]) -> Vec<OsString> {
    let at = arguments.iter().skip(1).position(|a| a == Path::new(name).as_os_str()).map_or(1, |i| i + 2);
    let (head, tail) = arguments.split_at(at.min(arguments.len()));
    [head, before, tail].concat()
}
