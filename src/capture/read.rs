//! From inputs to facts: opened, unpacked, recognised and read, in parallel over files, in the order of the inputs.

use super::{
    Context, FileFacts, ReadError, cdp,
    container::{self, Content, Lookup, Member, Meter, OnDisk},
    curl, flows, har,
    ndjson::{self, FieldMap},
    pcap, rows, saz,
    sniff::{self, Format},
    sse, transcript, tshark,
    walk::{Input, InputError},
};
use crate::capture::Bytes;
use rayon::prelude::*;
use std::{
    fs::{self, File},
    io::{self, BufReader, Read},
    path::Path,
};

/// How inputs are to be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading<'r> {
    /// The format, where it is not to be found by content (`--input`).
    pub format: Option<Format>,
    /// Where unknown JSON lines keep what (`--map`).
    pub map: Option<&'r FieldMap>,
}

/// A file, or a member of an archive, that was read.
#[derive(Debug)]
pub struct ReadFile {
    /// Its name; `archive!member` for members. For rows the name of the file that they came from.
    pub name: String,
    /// What it is.
    pub format: Format,
    /// What it holds; all its exchanges have the file's index in [`AllRead::files`] as their source.
    pub facts: FileFacts,
    /// The user named it, as against a file met in a folder or an archive.
    pub named: bool,
}

/// What came of all inputs.
#[derive(Debug, Default)]
pub struct AllRead {
    /// What was read, in the order of the inputs and, within them, of their members.
    pub files: Vec<ReadFile>,
    /// What was not, though it was named or is a capture.
    pub errors: Vec<InputError>,
    /// Files met on the way that are of a known kind which is not read; they are counted below, too.
    pub unread: Vec<InputError>,
    /// How many files met on the way are no captures.
    pub not_captures: u64,
}

/// Most files of one task.
const FILES_A_TASK: usize = 64;
/// A task has no more files once they have so many bytes.
const BYTES_A_TASK: u64 = 4 << 20;

/// Bytes that are read at a time: from a small file, and from a large one or from what has no size.
const SMALLEST_BUFFER: u64 = 8 << 10;
const LARGEST_BUFFER: u64 = 256 << 10;

/// Reads all inputs.
pub fn read_all(context: &Context<'_>, inputs: &[Input], how: Reading<'_>) -> AllRead {
    let tasks = tasks(inputs);
    let read = |inputs: &[Input]| {
        let mut all = AllRead::default();
        inputs.iter().for_each(|input| one(context, input, how, &mut all));
        all
    };
    // Inside of the scope even a single task runs on one of the threads that the user allowed.
    let parts: Vec<AllRead> = rayon::scope(|_| tasks.into_par_iter().map(read).collect());
    let mut all = AllRead::default();
    for part in parts {
        all.files.extend(part.files);
        all.errors.extend(part.errors);
        all.unread.extend(part.unread);
        all.not_captures += part.not_captures;
    }
    for (source, file) in all.files.iter_mut().enumerate() {
        let source = u32::try_from(source).unwrap_or(u32::MAX);
        file.facts.exchanges.iter_mut().for_each(|exchange| exchange.at.source = source);
    }
    all
}

/// Small files side by side in one task, large ones alone.
fn tasks(inputs: &[Input]) -> Vec<&[Input]> {
    let (mut tasks, mut rest) = (Vec::new(), inputs);
    while !rest.is_empty() {
        let mut bytes = 0_u64;
        let length = rest.iter().take(FILES_A_TASK).take_while(|input| {
            let fits = bytes < BYTES_A_TASK;
            bytes = bytes.saturating_add(input.size);
            fits
        });
        let (task, others) = rest.split_at(length.count().max(1));
        tasks.push(task);
        rest = others;
    }
    tasks
}

/// Reads one input with all its members.
fn one(context: &Context<'_>, input: &Input, how: Reading<'_>, all: &mut AllRead) {
    let (files, errors, skipped) = (all.files.len(), all.errors.len(), all.not_captures);
    let mut visit = |member: Member<'_, '_>| {
        let attached = |name: &str| attachment(input.path.as_deref()?, name, context.limits.body);
        member_read(context, member, input, how, &attached, all);
    };
    let source: io::Result<Box<dyn Read + Send>> = match &input.path {
        Some(path) => File::open(path).map(|file| Box::new(file) as Box<dyn Read + Send>),
        None => Ok(Box::new(io::stdin())),
    };
    let meter = Meter::new(context.consumed);
    let seekable = input.path.as_deref().filter(|path| fs::metadata(path).is_ok_and(|about| about.is_file()));
    let done = source.and_then(|inner| {
        let capacity = if input.size > 0 { input.size.clamp(SMALLEST_BUFFER, LARGEST_BUFFER) } else { LARGEST_BUFFER };
        let buffered = BufReader::with_capacity(usize::try_from(capacity).unwrap_or_default(), meter.metered(inner));
        let disk = seekable.map(|path| OnDisk { path, meter: &meter });
        container::open(&input.name, buffered, disk, &context.limits, &mut visit)
    });
    let (name, named) = (input.name.clone(), input.named);
    match done {
        Err(error) => all.errors.push(InputError { name, format: None, error: ReadError::Io(error), named }),
        Ok(trouble) => {
            let first = trouble.first();
            if let Some(last) = all.files[files..].last_mut() {
                trouble.account(&mut last.facts);
            } else if named && all.errors.len() == errors {
                let error = match first {
                    Some(message) => ReadError::Damaged(message),
                    None if all.not_captures > skipped => ReadError::NotACapture("no member of it is one".into()),
                    None => ReadError::NotACapture("it has no members".into()),
                };
                all.errors.push(InputError { name, format: None, error, named });
            }
        }
    }
}

/// Reads one member, or a file that has none.
fn member_read(
    context: &Context<'_>,
    member: Member<'_, '_>,
    input: &Input,
    how: Reading<'_>,
    attached: &Lookup<'_>,
    all: &mut AllRead,
) {
    let named = input.named && member.is_file;
    let (mut format, mut is_unread) = (None, false);
    let read = match member.content {
        Content::Closed(error) => Err(error),
        Content::Saz(zip) => {
            format = Some(Format::Saz);
            saz::read(zip, context).map(|facts| vec![(None, facts)])
        }
        Content::Bytes(bytes, lookup) => recognised(bytes, how).and_then(|found| {
            format = Some(found);
            is_unread = found.advice().is_some();
            read(context, found, bytes, how, lookup.or(Some(attached)))
        }),
    };
    match read {
        Ok(files) => {
            for (origin, facts) in files {
                let origin: Option<rows::Origin> = origin;
                let (name, format) = match origin {
                    Some(origin) => (origin.file, origin.format.and_then(|f| Format::of_name(&f)).or(format)),
                    None => (member.name.to_owned(), format),
                };
                all.files.push(ReadFile { name, format: format.unwrap_or(Format::Rows), facts, named });
            }
            if let Some(last) = all.files.last_mut() {
                member.trouble.account(&mut last.facts);
            }
        }
        Err(error) => {
            // Damage beneath explains more than what the reader made of it.
            let error = match (error, member.trouble.first()) {
                (ReadError::Damaged(_) | ReadError::NotACapture(_), Some(message)) => ReadError::Damaged(message),
                (error, _) => error,
            };
            let is_foreign = is_unread || format.is_none() || matches!(error, ReadError::NotACapture(_));
            let error = InputError { name: member.name.to_owned(), format, error, named };
            if named || !is_foreign {
                all.errors.push(error);
                return;
            }
            all.not_captures += 1;
            if is_unread {
                all.unread.push(error);
            }
        }
    }
}

/// The format of some bytes, which stay unread.
fn recognised(bytes: &mut Bytes<'_>, how: Reading<'_>) -> Result<Format, ReadError> {
    if let Some(format) = how.format {
        return Ok(format);
    }
    // The first bytes were read ahead, as many as the sniffer looks at.
    let prefix = bytes.fill_buf()?;
    let is_json = prefix.trim_ascii_start().first() == Some(&b'{');
    match sniff::sniff(prefix) {
        Ok(Format::JsonRpcLines | Format::AccessLog) if how.map.is_some() => Ok(Format::AccessLog),
        Ok(format) => Ok(format),
        Err(_) if how.map.is_some() && is_json => Ok(Format::AccessLog),
        Err(what) => Err(ReadError::NotACapture(what.into())),
    }
}

type Files = Vec<(Option<rows::Origin>, FileFacts)>;

fn read(
    context: &Context<'_>,
    format: Format,
    bytes: &mut Bytes<'_>,
    how: Reading<'_>,
    member: Option<&Lookup<'_>>,
) -> Result<Files, ReadError> {
    if let Some(advice) = format.advice() {
        return Err(ReadError::NotRead(advice.into()));
    }
    let facts = match format {
        Format::Har => har::read_with(bytes, context, &har::Options { member, ..har::Options::default() }),
        Format::HarLines => har::read_lines_with(bytes, context, &har::Options { member, ..har::Options::default() }),
        Format::Pcap | Format::Pcapng => pcap::read(bytes, context),
        Format::Flows => flows::read(bytes, context),
        Format::CurlInclude | Format::CurlVerbose | Format::CurlTrace | Format::CurlTraceAscii => {
            curl::read(bytes, format, context)
        }
        Format::Sse => sse::read(bytes, context),
        Format::JsonRpcLines | Format::Mcpsnoop | Format::AccessLog => ndjson::read(bytes, format, how.map, context),
        Format::TsharkJson | Format::TsharkEk => tshark::read(bytes, format, context),
        Format::CdpLog => cdp::read(bytes, context),
        Format::Transcript => transcript::read(context, bytes),
        Format::Rows => {
            let files = rows::read(&context.limits, bytes)?;
            return Ok(files.into_iter().map(|(origin, facts)| (Some(origin), facts)).collect());
        }
        _ => Err(ReadError::NotACapture(format!("it is not {format}"))),
    };
    Ok(vec![(None, facts?)])
}

/// A body that stands beside a HAR in the same folder.
fn attachment(har: &Path, name: &str, most: u64) -> Option<Vec<u8>> {
    if !container::is_attachment(name) || name.contains(['/', '\\']) {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(har.parent()?.join(name)).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests;
