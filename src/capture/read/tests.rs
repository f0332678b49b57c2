use super::*;
use crate::{
    capture::{Limits, digest::Names, specimen::testdata, walk},
    model::Exchange,
    redact::Key,
};
use std::{io::Write, sync::atomic::AtomicU64};

fn read(paths: &[&Path], how: Reading<'_>) -> AllRead {
    read_counting(paths, how).0
}

/// What was read, and how many bytes of input that took.
fn read_counting(paths: &[&Path], how: Reading<'_>) -> (AllRead, u64) {
    let (key, names, consumed) = (Key::new(None, false), Names::default(), AtomicU64::new(0));
    let context = Context { key: &key, limits: Limits::default(), names: &names, consumed: &consumed, vantage: None };
    let paths: Vec<_> = paths.iter().map(|p| p.to_path_buf()).collect();
    let (inputs, errors) = walk::inputs(&paths, None);
    let mut all = read_all(&context, &inputs, how);
    all.errors.extend(errors);
    (all, consumed.into_inner())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("written");
    encoder.finish().expect("finished")
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).expect("started");
        writer.write_all(bytes).expect("written");
    }
    writer.finish().expect("finished").into_inner()
}

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).expect("a file");
    }
    folder
}

fn names(all: &AllRead, folder: &Path) -> Vec<(String, Format, usize)> {
    let short = |name: &str| name.trim_start_matches(&*folder.to_string_lossy()).trim_start_matches('/').to_owned();
    all.files.iter().map(|f| (short(&f.name), f.format, f.facts.exchanges.len())).collect()
}

#[test]
fn files_are_read_in_order_whatever_they_are_packed_in() {
    let flow = testdata("flows/drop-and-resume.flow");
    let inner = zip(&[
        ("d/x.flow", &flow),
        ("readme.txt", b"hello"),
        ("y.gz", &gzip(b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")),
    ]);
    let folder =
        folder(&[("a.flow", &flow), ("b.zip", &inner), ("c.bin", &gzip(&flow)), ("d.png", b"\x89PNG\r\n"), ("e", b"")]);
    let all = read(&[folder.path()], Reading::default());
    assert_eq!(
        names(&all, folder.path()),
        [
            ("a.flow".to_owned(), Format::Flows, 8),
            ("b.zip!d/x.flow".to_owned(), Format::Flows, 8),
            ("b.zip!y.gz".to_owned(), Format::Sse, 1),
            ("c.bin".to_owned(), Format::Flows, 8),
        ]
    );
    assert_eq!((all.errors.len(), all.not_captures), (0, 3));
    let without_source = |file: &ReadFile| -> Vec<Exchange> {
        let mut exchanges = file.facts.exchanges.clone();
        exchanges.iter_mut().for_each(|e| e.at.source = 0);
        exchanges
    };
    assert_eq!(without_source(&all.files[0]), without_source(&all.files[1]));
    assert_eq!(without_source(&all.files[0]), without_source(&all.files[3]));
    for (source, file) in all.files.iter().enumerate() {
        assert!(file.facts.exchanges.iter().all(|e| e.at.source as usize == source) && !file.named);
    }
}

#[test]
fn what_is_named_must_be_a_capture_and_what_is_met_need_not() {
    let vcr: &[u8] = b"interactions:\n- request:\n";
    let folder = folder(&[
        ("a.png", b"\x89PNG\r\n"),
        ("b.yaml", vcr),
        ("c.zip", &zip(&[("x", b"words")])),
        ("d.tar.gz", &gzip(b"words")),
    ]);
    let at = |name: &str| folder.path().join(name);
    let all = read(&[&at("a.png"), &at("b.yaml"), &at("c.zip"), &at("d.tar.gz")], Reading::default());
    let errors: Vec<String> = all.errors.iter().map(|e| e.error.to_string()).collect();
    assert_eq!(errors[0], "not a capture: it is a PNG image");
    assert!(errors[1].contains("VCR") && all.errors[1].format == Some(Format::Vcr));
    assert_eq!(errors[2], "not a capture: no member of it is one");
    assert_eq!(errors[3], "not a capture: no known format");
    assert!(all.errors.iter().all(|e| e.named));

    let all = read(&[folder.path()], Reading::default());
    assert_eq!((all.errors.len(), all.not_captures, all.unread.len()), (0, 4, 1));
    assert_eq!(all.unread[0].format, Some(Format::Vcr));
}

#[test]
fn a_recognised_capture_that_cannot_be_read_is_an_error_wherever_it_is_met() {
    let old: &[u8] = b"14:7:version;1:3#}";
    let folder = folder(&[("old.flow", old), ("cut.zip", &zip(&[("x.flow", old)])[..40])]);
    let all = read(&[folder.path()], Reading::default());
    let errors: Vec<String> = all.errors.iter().map(|e| e.error.to_string()).collect();
    assert!(errors.iter().any(|e| e.contains("mitmdump")), "{errors:?}");
    assert!(all.errors.iter().all(|e| !e.named));
}

#[test]
fn a_cut_file_is_salvaged_and_says_so() {
    let packed = gzip(&testdata("flows/drop-and-resume.flow"));
    let folder = folder(&[("a.flow.gz", &packed[..packed.len() / 2])]);
    let all = read(&[&folder.path().join("a.flow.gz")], Reading::default());
    assert!(all.errors.is_empty());
    assert!(!all.files[0].facts.exchanges.is_empty());
    assert!(all.files[0].facts.caveats["input-truncated"].count >= 1);
}

#[test]
fn bodies_attached_to_a_har_are_found_in_its_archive_and_in_its_folder() {
    let body = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";
    let name = format!("{}.dat", "0123456789".repeat(4));
    let har = format!(
        r#"{{"log":{{"version":"1.2","creator":{{"name":"Playwright","version":"1"}},"entries":[{{"startedDateTime":"2026-01-01T00:00:00Z","time":5,
        "request":{{"method":"POST","url":"http://h/mcp","headers":[],"postData":{{"mimeType":"application/json","text":"{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}}"}}}},
        "response":{{"status":200,"headers":[{{"name":"content-type","value":"text/event-stream"}}],"content":{{"size":{},"mimeType":"text/event-stream","_file":"{name}"}}}},
        "timings":{{"send":0,"wait":1,"receive":4}}}}]}}}}"#,
        body.len()
    );
    let packed = zip(&[("har.har", har.as_bytes()), (&name, body.as_bytes())]);
    let folder = folder(&[("x.har", har.as_bytes()), (&name, body.as_bytes()), ("y.har.zip", &packed)]);
    let all = read(&[folder.path()], Reading::default());
    assert_eq!(
        names(&all, folder.path()),
        [("x.har".to_owned(), Format::Har, 1), ("y.har.zip!har.har".to_owned(), Format::Har, 1)]
    );
    for file in &all.files {
        assert!(file.facts.exchanges[0].response.is_whole(), "{}", file.name);
    }
}

#[test]
fn a_format_can_be_forced_and_lines_of_any_shape_be_mapped() {
    let folder =
        folder(&[("odd", b"{\"m\":{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}\n"), ("words", b"data: {}\n")]);
    let map = FieldMap::parse(["message=m"]).expect("a map");
    let all = read(&[&folder.path().join("odd")], Reading { map: Some(&map), ..Reading::default() });
    assert_eq!(names(&all, folder.path()), [("odd".to_owned(), Format::AccessLog, 1)]);
    let all = read(&[&folder.path().join("words")], Reading { format: Some(Format::Sse), ..Reading::default() });
    assert_eq!(names(&all, folder.path()), [("words".to_owned(), Format::Sse, 1)]);
    let all = read(&[&folder.path().join("words")], Reading { format: Some(Format::Flows), ..Reading::default() });
    assert!(matches!(all.errors[0].error, ReadError::Damaged(_)) && all.files.is_empty());
}

#[test]
fn many_small_files_share_a_task_and_large_ones_do_not() {
    let input = |size| Input { name: String::new(), path: None, named: true, size };
    let inputs: Vec<Input> =
        [1, 2, 5 << 20, 1, u64::MAX].map(input).into_iter().chain((0..130).map(|_| input(10))).collect();
    let lengths: Vec<usize> = tasks(&inputs).iter().map(|t| t.len()).collect();
    assert_eq!(lengths, [3, 2, 64, 64, 2]);
}

/// Everything of everybody: no panic, no hang, and nothing but known kinds refused.
#[test]
fn all_files_of_the_corpus_are_read_or_refused() {
    let Some(corpus) = std::env::var_os("LASTEVENT_CORPUS") else {
        eprintln!("skipped: LASTEVENT_CORPUS is not set");
        return;
    };
    let all = read(&[Path::new(&corpus)], Reading::default());
    assert!(all.files.len() > 450, "{}", all.files.len());
    for error in &all.errors {
        assert!(error.format.is_some(), "{}: {}", error.name, error.error);
    }
}

#[test]
fn every_byte_of_input_counts_once() {
    let har = testdata("har/drop-and-resume.har");
    let packed = gzip(&har);
    let (two, big) = (zip(&[("a.har", &har), ("b.har", &har)]), vec![b' '; 1 << 20]);
    let padded = zip(&[("a.har", &[&har[..], &big].concat())]);
    let folder = tempfile::tempdir().expect("a folder");
    let (text, flows) = (testdata("transcripts/terminal-replay.transcript"), testdata("flows/drop-and-resume.flow"));
    let packets = testdata("pcap/drop_and_resume.pcapng");
    for (name, bytes) in [
        ("a.har", &har),
        ("a.har.gz", &packed),
        ("a.zip", &two),
        ("b.zip", &padded),
        ("a.transcript", &text),
        ("a.flow", &flows),
        ("a.pcapng", &packets),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("a file");
        let (all, count) = read_counting(&[&path], Reading::default());
        assert_eq!((all.errors.len(), count), (0, bytes.len() as u64), "{name}");
    }
}
