//! Where reports go: stdout, or a file that is written beside and renamed.

use super::options::{Color, OutputOptions};
use crate::report::Look;
use anyhow::Context as _;
use std::{
    fs,
    io::{self, IsTerminal as _, Write},
    path::Path,
};

impl OutputOptions {
    /// How a format for people is to look on stdout, or in a file.
    pub fn look(&self, in_file: bool) -> Look {
        let terminal = !in_file && io::stdout().is_terminal();
        let color = match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
        };
        let width = terminal.then(columns).flatten();
        Look { color, quiet: self.quiet, verbose: self.verbose, width }
    }

    /// A progress bar is welcome.
    pub fn shows_progress(&self) -> bool {
        !self.no_progress && !self.quiet
    }

    /// Writes the report to where the user wants it.
    ///
    /// # Errors
    /// Where that cannot be written. A reader of the pipe that went away is an error here, too, and no fault.
    pub fn write(&self, text: &str) -> anyhow::Result<()> {
        self.write_with(|out| out.write_all(text.as_bytes()))
    }

    /// As [`OutputOptions::write`], piece by piece.
    ///
    /// # Errors
    /// As there.
    pub fn write_with(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
        match &self.output {
            Some(path) => replace(path, write).with_context(|| format!("cannot write {}", path.display())),
            None => {
                let mut stdout = io::stdout().lock();
                write(&mut stdout)?;
                Ok(stdout.flush()?)
            }
        }
    }
}

/// The width of the terminal, which tables are drawn to fit. What is narrower than any table is not asked for.
fn columns() -> Option<u16> {
    terminal_size::terminal_size().map(|(width, _)| width.0).filter(|n| *n >= 40)
}

/// Writes to stdout, to the last byte.
///
/// # Errors
/// Where stdout cannot be written.
pub fn to_stdout(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}

/// Writes a file beside its name and renames it, so that an interrupted run leaves the old one.
///
/// # Errors
/// Where it cannot be written; the old file stays then.
pub fn to_file(path: &Path, text: &str) -> anyhow::Result<()> {
    replace(path, |out| out.write_all(text.as_bytes())).with_context(|| format!("cannot write {}", path.display()))
}

fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // A link stays a link, and a device or pipe is written to, not replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let old = fs::metadata(&path).ok();
    if old.as_ref().is_some_and(|m| !m.is_file()) {
        return write(&mut fs::OpenOptions::new().write(true).open(&path)?);
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".lastevent-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(old.map_or_else(|| fs::Permissions::from_mode(0o666), |m| m.permissions()));
    }
    let mut file = builder.tempfile_in(folder)?;
    write(&mut file)?;
    file.persist(&path)?;
    Ok(())
}
