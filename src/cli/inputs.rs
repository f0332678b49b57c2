//! What a run reads: paths, lists of paths, stdin; and what came of it.

use super::{console, exit::Exit, options::InputOptions};
use crate::{
    audit::{
        Source,
        report::{Input, Status},
    },
    capture::{CaveatCount, Context, FileFacts, ReadError, digest::Names, rows, transcript},
    model::Exchange,
    redact::Key,
};
use anyhow::Context as _;
use std::{
    collections::BTreeMap,
    fs,
    io::{self, BufRead, IsTerminal as _, Read as _},
    path::{Path, PathBuf},
    sync::atomic::AtomicU64,
};

/// Everything that was read.
#[derive(Default)]
pub struct Reading {
    /// All exchanges; their source is an index into `sources`.
    pub exchanges: Vec<Exchange>,
    /// The files.
    pub sources: Vec<Source>,
    /// Caveats of no file.
    pub caveats: BTreeMap<&'static str, CaveatCount>,
}

impl Reading {
    /// How the reading went, which beats every finding.
    pub fn exit(&self) -> Exit {
        let failed = self.sources.iter().any(|s| s.input.status == Status::Failed);
        if failed { Exit::Trouble } else { Exit::Clean }
    }

    /// Tells of every file that could not be read.
    pub fn complain(&self) {
        for source in &self.sources {
            if let Some(error) = source.input.error.as_ref().filter(|_| source.input.status == Status::Failed) {
                console::error(&format!("{}: {error}", source.input.file));
            }
        }
    }
}

/// The paths of a run; none where there is nothing to read and help is wanted.
///
/// # Errors
/// Where the list of paths cannot be read.
pub fn paths(options: &InputOptions) -> anyhow::Result<Option<Vec<PathBuf>>> {
    let mut paths = options.paths.clone();
    if let Some(list) = &options.files_from {
        paths.extend(listed(list, options.nul).with_context(|| format!("--files-from {}", list.display()))?);
    } else if paths.is_empty() {
        if io::stdin().is_terminal() {
            return Ok(None);
        }
        paths.push("-".into());
    }
    Ok(Some(paths))
}

fn listed(list: &Path, nul: bool) -> anyhow::Result<Vec<PathBuf>> {
    let mut text = Vec::new();
    if list.as_os_str() == "-" {
        io::stdin().lock().read_to_end(&mut text)?;
    } else {
        text = fs::read(list)?;
    }
    let parts = text.split(|b| *b == if nul { 0 } else { b'\n' });
    let parts = parts.map(|p| if nul { p } else { p.strip_suffix(b"\r").unwrap_or(p) }).filter(|p| !p.is_empty());
    parts.map(path).collect()
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere a path may be refused")]
fn path(bytes: &[u8]) -> anyhow::Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    Ok(std::ffi::OsStr::from_bytes(bytes).into())
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> anyhow::Result<PathBuf> {
    Ok(std::str::from_utf8(bytes).context("a path is not UTF-8")?.into())
}

/// Reads all of it. What cannot be read is told in the result, not as an error.
///
/// # Errors
/// Where options say something that cannot be.
pub fn read(options: &InputOptions, key: &Key, paths: &[PathBuf]) -> anyhow::Result<Reading> {
    if options.jobs > 0 {
        // A second run in one process keeps the threads of the first.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build_global();
    }
    let (names, consumed) = (Names::default(), AtomicU64::new(0));
    let context =
        Context { key, limits: options.limits()?, names: &names, consumed: &consumed, vantage: options.vantage.0 };
    let mut reading = Reading::default();
    for path in paths {
        let name = path.display().to_string();
        let outcome = if name == "-" {
            one(&context, options, &mut io::BufReader::new(io::stdin()))
        } else {
            fs::File::open(path)
                .map_err(ReadError::from)
                .and_then(|file| one(&context, options, &mut io::BufReader::new(file)))
        };
        match outcome {
            Ok(files) => files.into_iter().for_each(|(origin, facts)| reading.take(&name, origin, facts)),
            Err(error) => reading.sources.push(failed(name, &error)),
        }
    }
    Ok(reading)
}

fn one(
    context: &Context<'_>,
    options: &InputOptions,
    bytes: &mut (dyn BufRead + Send),
) -> Result<Vec<(Option<rows::Origin>, FileFacts)>, ReadError> {
    let is_rows = bytes.fill_buf()?.starts_with(b"{\"k\":\"");
    match options.input.as_deref().unwrap_or(if is_rows { "rows" } else { "transcript" }) {
        "rows" => Ok(rows::read(&context.limits, bytes)?.into_iter().map(|(o, f)| (Some(o), f)).collect()),
        "transcript" => Ok(vec![(None, transcript::read(context, bytes)?)]),
        other => Err(ReadError::NotRead(format!("the format '{other}' is not read"))),
    }
}

fn failed(file: String, error: &ReadError) -> Source {
    let input = Input {
        file,
        format: None,
        recorder: None,
        vantage: crate::model::Vantage::Unknown,
        exchanges: 0,
        status: Status::Failed,
        error: Some(error.to_string()),
    };
    Source { input, caveats: BTreeMap::new() }
}

impl Reading {
    fn take(&mut self, name: &str, origin: Option<rows::Origin>, mut facts: FileFacts) {
        let source = u32::try_from(self.sources.len()).unwrap_or(u32::MAX);
        facts.exchanges.iter_mut().for_each(|e| e.at.source = source);
        self.exchanges.append(&mut facts.exchanges);
        let partial = facts.caveats.contains_key("input-truncated");
        let (file, format) = match origin {
            Some(origin) => (origin.file, origin.format),
            None => (if name == "-" { "<stdin>".to_owned() } else { name.to_owned() }, Some("transcript".to_owned())),
        };
        let input = Input {
            file,
            format,
            recorder: facts.recorder,
            vantage: facts.vantage,
            exchanges: facts.entries,
            status: if partial { Status::Partial } else { Status::Read },
            error: None,
        };
        self.sources.push(Source { input, caveats: facts.caveats });
    }
}
