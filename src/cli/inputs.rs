//! What a run reads: paths, lists of paths, stdin; and what came of it.

use super::{console, exit::Exit, options::InputOptions, progress};
use crate::{
    audit::{
        Source,
        filter::nearest,
        report::{Input, Status},
    },
    capture::{
        CaveatCount, Context, ReadError,
        digest::Names,
        ndjson::FieldMap,
        read::{self, AllRead, ReadFile},
        sniff::Format,
        vantage,
        walk::{self, InputError, PathList},
    },
    model::{Exchange, Vantage},
    redact::Key,
};
use std::{
    collections::BTreeMap,
    io::{self, IsTerminal as _},
    path::PathBuf,
    sync::atomic::AtomicU64,
    time::Instant,
};

/// Everything that was read.
#[derive(Default)]
pub struct Reading {
    /// All exchanges; their source is an index into `sources`.
    pub exchanges: Vec<Exchange>,
    /// The files, those that could not be read last.
    pub sources: Vec<Source>,
    /// Caveats of no file.
    pub caveats: BTreeMap<&'static str, CaveatCount>,
    /// By source that was read: what shows its vantage.
    vantages: Vec<String>,
    /// Bytes of input, packed ones as they lie there.
    bytes: u64,
    /// When the reading began.
    began: Option<Instant>,
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

    /// Tells from where each file saw the traffic, and what shows that.
    pub fn explain_vantages(&self) {
        for (source, why) in self.sources.iter().zip(&self.vantages) {
            console::note(&format!("vantage of {}: {} ({why})", source.input.file, source.input.vantage));
        }
    }

    /// Tells how much was read, and how fast the run was so far.
    pub fn explain_speed(&self) {
        let Some(began) = self.began else { return };
        let (seconds, megabytes) = (began.elapsed().as_secs_f64(), self.bytes as f64 / 1e6);
        let exchanges: u64 = self.sources.iter().map(|source| source.input.exchanges).sum();
        let rate = megabytes / seconds.max(1e-6);
        let bytes = self.bytes;
        console::note(&format!("{bytes} bytes with {exchanges} exchanges in {seconds:.3} s: {rate:.1} MB/s"));
    }

    /// The exit of a run in which no exchange is MCP: that is trouble, unless something worse was told or it is allowed.
    pub fn empty(&self, allowed: bool) -> Exit {
        if !allowed && self.exit() == Exit::Clean {
            console::error("no MCP exchange in the whole run (--allow-empty accepts that)");
            return Exit::Trouble;
        }
        self.exit()
    }
}

/// Reads all of it; none where there is nothing to read and help is wanted. What cannot be read is told in the result,
/// not as an error.
///
/// # Errors
/// Where options say something that cannot be.
pub fn read(options: &InputOptions, key: &Key, show_progress: bool) -> anyhow::Result<Option<Reading>> {
    let limits = options.limits()?;
    let format = options.input.as_deref().map(format).transpose()?;
    let map = options.map.as_deref().map(|text| FieldMap::parse([text])).transpose();
    let map = map.map_err(|e| anyhow::anyhow!("--map: {e}"))?;
    let mut paths = options.paths.clone();
    if paths.is_empty() && options.files_from.is_none() {
        if io::stdin().is_terminal() {
            return Ok(None);
        }
        paths.push(PathBuf::from("-"));
    }
    if options.jobs > 0 {
        // A second run in one process keeps the threads of the first.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(options.jobs.into()).build_global();
    }
    let list = options.files_from.as_deref().map(|file| PathList { file, nul: options.nul });
    let began = Some(Instant::now());
    let (inputs, mut errors) = walk::inputs(&paths, list);
    let (names, consumed) = (Names::default(), AtomicU64::new(0));
    let context = Context { key, limits, names: &names, consumed: &consumed, vantage: options.vantage.0 };
    let how = read::Reading { format, map: map.as_ref() };
    let all = progress::during(show_progress, &inputs, &consumed, || read::read_all(&context, &inputs, how));
    let AllRead { files, errors: more, unread, not_captures } = all;
    errors.extend(more);
    let mut reading = Reading { began, bytes: consumed.into_inner(), ..Reading::default() };
    files.into_iter().for_each(|file| reading.take(file, options.vantage.0));
    errors.iter().for_each(|error| reading.sources.push(failed(error)));
    if not_captures > 0 {
        let advice = unread.first().map(|e| format!(" (known, and not read: {}: {})", e.name, e.error));
        let message = format!("a file met on the way is no capture{}", advice.unwrap_or_default());
        reading.caveats.insert("not-a-capture", CaveatCount { count: not_captures, message });
    }
    Ok(Some(reading))
}

fn format(name: &str) -> anyhow::Result<Format> {
    let known = || Format::all().filter(|f| f.advice().is_none()).map(Format::name);
    match Format::of_name(name) {
        Some(format) => match format.advice() {
            None => Ok(format),
            Some(advice) => anyhow::bail!("--input {name}: {advice}"),
        },
        None => {
            let hint = nearest(name, known()).map(|n| format!("; did you mean '{n}'?")).unwrap_or_default();
            let known: Vec<_> = known().collect();
            anyhow::bail!("--input {name}: no format is called so{hint} (there are {})", known.join(", "))
        }
    }
}

fn failed(error: &InputError) -> Source {
    let text = match &error.error {
        ReadError::Io(e) if e.kind() == io::ErrorKind::NotFound => "no such file".to_owned(),
        other => other.to_string(),
    };
    let input = Input {
        file: error.name.clone(),
        format: error.format.map(|f| f.name().to_owned()),
        recorder: None,
        vantage: Vantage::Unknown,
        exchanges: 0,
        status: Status::Failed,
        error: Some(text),
    };
    Source { input, caveats: BTreeMap::new() }
}

impl Reading {
    fn take(&mut self, file: ReadFile, asked: Option<Vantage>) {
        let ReadFile { name, format, mut facts, .. } = file;
        self.exchanges.append(&mut facts.exchanges);
        self.vantages.push(vantage::shown_by(format, &facts, asked));
        let partial = facts.caveats.contains_key("input-truncated");
        let input = Input {
            file: name,
            format: Some(format.name().to_owned()),
            recorder: facts.recorder,
            vantage: asked.unwrap_or(facts.vantage),
            exchanges: facts.entries,
            status: if partial { Status::Partial } else { Status::Read },
            error: None,
        };
        self.sources.push(Source { input, caveats: facts.caveats });
    }
}
