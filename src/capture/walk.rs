//! From paths to inputs: files, folders walked in sorted order, lists of paths, and standard input.

use super::{ReadError, container, sniff::Format};
use std::{
    collections::HashSet,
    ffi::OsString,
    fs::{self, File},
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

/// One thing to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name, as it is printed.
    pub name: String,
    /// Where it is; none for standard input.
    pub path: Option<PathBuf>,
    /// The user named it, as against a file met in a folder.
    pub named: bool,
    /// Its length in bytes; `u64::MAX` where that is not known beforehand.
    pub size: u64,
}

/// An input, or a part of one, that cannot be read.
#[derive(Debug)]
pub struct InputError {
    /// Its name.
    pub name: String,
    /// What it is, where that is known.
    pub format: Option<Format>,
    /// Why not.
    pub error: ReadError,
    /// The user named it.
    pub named: bool,
}

/// A list of paths in a file (`--files-from`).
#[derive(Clone, Copy, Debug)]
pub struct PathList<'p> {
    /// The file; `-` is standard input.
    pub file: &'p Path,
    /// Paths end in NUL instead of a line end (`-0`).
    pub nul: bool,
}

/// The inputs that paths name, in their order; folders are walked, their files sorted by name. Every regular file
/// counts, links to files too; a path that comes twice is read once.
pub fn inputs(paths: &[PathBuf], list: Option<PathList<'_>>) -> (Vec<Input>, Vec<InputError>) {
    let mut found = Found::default();
    for path in paths {
        found.named(path);
    }
    if let Some(list) = list {
        match listed(list) {
            Ok(paths) => paths.iter().for_each(|path| found.named(path)),
            Err(error) => found.error(list.file, error, true),
        }
    }
    (found.inputs, found.errors)
}

#[derive(Default)]
struct Found {
    inputs: Vec<Input>,
    errors: Vec<InputError>,
    seen: HashSet<PathBuf>,
}

impl Found {
    fn error(&mut self, path: &Path, error: io::Error, named: bool) {
        let name = path.display().to_string();
        self.errors.push(InputError { name, format: None, error: ReadError::Io(error), named });
    }

    fn file(&mut self, path: &Path, size: u64, named: bool) {
        if self.seen.insert(path.to_owned()) {
            self.inputs.push(Input { name: path.display().to_string(), path: Some(path.to_owned()), named, size });
        }
    }

    fn named(&mut self, path: &Path) {
        if path == Path::new("-") {
            if self.seen.insert(path.to_owned()) {
                self.inputs.push(Input { name: "-".into(), path: None, named: true, size: u64::MAX });
            }
            return;
        }
        match fs::metadata(path) {
            Ok(about) if about.is_dir() => self.folder(path),
            // A pipe may say that it has no bytes.
            Ok(about) => self.file(path, if about.is_file() { about.len() } else { u64::MAX }, true),
            Err(error) => self.error(path, error, true),
        }
    }

    fn folder(&mut self, folder: &Path) {
        let from = self.inputs.len();
        for entry in walkdir::WalkDir::new(folder).follow_links(true).sort_by_file_name() {
            match entry {
                Ok(entry) if entry.file_type().is_file() => {
                    let size = entry.metadata().map_or(0, |about| about.len());
                    self.file(entry.path(), size, false);
                }
                Ok(_) => {}
                // A link to a folder above it, or to nothing.
                Err(error) if error.loop_ancestor().is_some() => {}
                Err(error) if error.depth() > 0 && error.path().is_some_and(is_dangling) => {}
                Err(error) => {
                    let path = error.path().unwrap_or(folder).to_owned();
                    let reason = error.into_io_error().unwrap_or_else(|| io::Error::other("cannot be read"));
                    let named = path == folder;
                    self.error(&path, reason, named);
                }
            }
        }
        self.without_attachments(from);
    }

    /// Bodies that a HAR in the same folder refers to are read as parts of it, not on their own.
    fn without_attachments(&mut self, from: usize) {
        let folder = |input: &Input| input.path.as_deref().and_then(Path::parent).map(Path::to_owned);
        let is_har = |input: &&Input| input.name.len() > 4 && input.name.to_ascii_lowercase().ends_with(".har");
        let hars: HashSet<_> = self.inputs[from..].iter().filter(is_har).map(folder).collect();
        if hars.is_empty() {
            return;
        }
        let mut at = 0;
        self.inputs.retain(|input| {
            at += 1;
            at <= from || !container::is_attachment(&input.name.replace('\\', "/")) || !hars.contains(&folder(input))
        });
    }
}

/// A link to something that is not there.
fn is_dangling(path: &Path) -> bool {
    path.is_symlink() && !path.exists()
}

/// The paths of a list; empty ones are passed over.
fn listed(list: PathList<'_>) -> io::Result<Vec<PathBuf>> {
    let mut source: Box<dyn BufRead> = if list.file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(list.file)?))
    };
    let (end, mut paths, mut text) = (if list.nul { 0 } else { b'\n' }, Vec::new(), Vec::new());
    while source.read_until(end, &mut text)? > 0 {
        let path = text.strip_suffix(&[end]).unwrap_or(&text);
        let path = if list.nul { path } else { path.strip_suffix(b"\r").unwrap_or(path) };
        if !path.is_empty() {
            paths.push(PathBuf::from(os_string(path)));
        }
        text.clear();
    }
    Ok(paths)
}

#[cfg(unix)]
fn os_string(bytes: &[u8]) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec())
}

#[cfg(not(unix))]
fn os_string(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, file.as_bytes()).expect("a file");
        }
        folder
    }

    fn names(inputs: &[Input], folder: &Path) -> Vec<String> {
        let within = |i: &Input| i.path.as_ref().and_then(|p| p.strip_prefix(folder).ok()?.to_str().map(str::to_owned));
        inputs.iter().map(|i| within(i).unwrap_or_else(|| i.name.clone())).collect()
    }

    #[test]
    fn folders_are_walked_in_sorted_order_hidden_and_ignored_files_too() {
        let folder = folder(&["b.har", "a/z.pcap", "a/.hidden", "a/b/c", ".gitignore"]);
        let (inputs, errors) = inputs(&[folder.path().to_owned()], None);
        assert_eq!(names(&inputs, folder.path()), [".gitignore", "a/.hidden", "a/b/c", "a/z.pcap", "b.har"]);
        assert!(errors.is_empty() && inputs.iter().all(|i| !i.named));
    }

    #[test]
    fn what_is_missing_is_an_error_with_its_name_and_the_rest_is_read() {
        let folder = folder(&["a", "b"]);
        let missing = folder.path().join("none.har");
        let (inputs, errors) =
            inputs(&[folder.path().join("b"), missing.clone(), folder.path().join("a"), "-".into()], None);
        assert_eq!(names(&inputs, folder.path()), ["b", "a", "-"]);
        assert!(inputs.iter().all(|i| i.named));
        assert_eq!(errors[0].name, missing.display().to_string());
        assert!(errors[0].named && matches!(&errors[0].error, ReadError::Io(e) if e.kind() == io::ErrorKind::NotFound));
    }

    #[test]
    fn a_path_that_comes_twice_is_read_once() {
        let folder = folder(&["a", "b"]);
        let (inputs, _) = inputs(&[folder.path().join("b"), folder.path().to_owned(), folder.path().join("b")], None);
        assert_eq!(names(&inputs, folder.path()), ["b", "a"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_to_files_are_followed_and_loops_are_not() {
        let folder = folder(&["a/file"]);
        std::os::unix::fs::symlink(folder.path().join("a/file"), folder.path().join("link")).expect("a link");
        std::os::unix::fs::symlink(folder.path(), folder.path().join("a/loop")).expect("a link");
        let (inputs, errors) = inputs(&[folder.path().to_owned()], None);
        assert_eq!(names(&inputs, folder.path()), ["a/file", "link"]);
        assert!(errors.is_empty());
    }

    #[test]
    fn lists_of_paths_are_read_by_line_or_by_nul() {
        let folder = folder(&["a", "b"]);
        let list = folder.path().join("list");
        let path = |name: &str| folder.path().join(name).display().to_string();
        for (nul, text) in
            [(false, format!("{}\r\n\n{}", path("b"), path("a"))), (true, format!("{}\0{}\0", path("b"), path("a")))]
        {
            fs::write(&list, text).expect("a list");
            let (inputs, errors) = inputs(&[], Some(PathList { file: &list, nul }));
            assert_eq!(names(&inputs, folder.path()), ["b", "a"]);
            assert!(errors.is_empty() && inputs.iter().all(|i| i.named));
        }
    }

    #[test]
    fn bodies_attached_to_a_har_are_no_inputs_of_their_own() {
        let attached = "da39a3ee5e6b4b0d3255bfef95601890afd80709.dat";
        let folder = folder(&["x.har", attached, &format!("other/{attached}")]);
        let (inputs, _) = inputs(&[folder.path().to_owned()], None);
        assert_eq!(names(&inputs, folder.path()), [&format!("other/{attached}"), "x.har"]);
    }
}
