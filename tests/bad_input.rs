//! Input that is damaged, hostile or nothing of the kind: a clear word that names the file, everything readable still
//! reported, no panic, and memory within bounds.

use assert_cmd::Command;
use serde_json::{Value, value::RawValue};
use std::{
    collections::BTreeMap,
    fs,
    io::{Read, Write},
    path::PathBuf,
    time::Duration,
};

/// A folder of files made for one test.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

/// Exit code, report and messages of a check; the report is null where there is none.
fn check(path: &PathBuf, more: &[&str]) -> (i32, Value, String) {
    let mut command = Command::cargo_bin("lastevent").unwrap();
    command.args(["check", "--format", "json"]).args(more).arg(path).timeout(Duration::from_secs(100));
    let output = command.output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!errors.contains("panicked"), "{errors}");
    let report = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code().expect("an exit code"), report, errors)
}

fn caveat<'r>(report: &'r Value, name: &str) -> &'r str {
    let all = report["caveats"].as_array().unwrap();
    let found = all.iter().find(|c| c["caveat"] == name).unwrap_or_else(|| panic!("no caveat {name}: {all:?}"));
    found["message"].as_str().unwrap()
}

fn har() -> Vec<u8> {
    fs::read("testdata/cases/B01_resume-after-terminal.har").unwrap()
}

#[test]
fn what_is_no_capture_is_refused_by_name() {
    let files = Files::new();
    let cases: [(&str, &[u8], &str); 5] = [
        ("empty.har", b"", "it is empty"),
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "it is a PNG image"),
        ("text.txt", b"nothing of the kind\n", "no known format"),
        ("other.json", b"{\"a\": 1}", "it is JSON, but no known kind of capture"),
        ("zeros.bin", &[0; 4096], "no known format"),
    ];
    for (name, bytes, why) in cases {
        let path = files.file(name, bytes);
        let (code, _, errors) = check(&path, &[]);
        assert_eq!((code, errors), (2, format!("error: {}: not a capture: {why}\n", path.display())));
    }
}

#[test]
fn a_har_that_is_cut_anywhere_still_reports_its_whole_entries() {
    let (files, bytes) = (Files::new(), har());
    let text = std::str::from_utf8(&bytes).unwrap();
    let document: BTreeMap<&str, BTreeMap<&str, &RawValue>> = serde_json::from_str(text).unwrap();
    let entries: Vec<&RawValue> = serde_json::from_str(document["log"]["entries"].get()).unwrap();
    let end = |entry: &&RawValue| entry.get().as_ptr() as usize + entry.get().len() - text.as_ptr() as usize;
    let ends: Vec<usize> = entries.iter().map(end).collect();
    assert_eq!((ends.len(), ends[5]), (6, 11_620));
    for cut in (ends[0]..bytes.len() - 1).step_by(397).chain(ends.clone()) {
        let whole = ends.iter().filter(|end| **end <= cut).count();
        let (code, report, errors) = check(&files.file("cut.har", &bytes[..cut]), &["--exit-zero"]);
        assert_eq!((code, report["summary"]["exchanges"].as_u64()), (0, Some(whole as u64)), "{cut}: {errors}");
        assert_eq!(report["inputs"][0]["status"], "partial");
        let message = caveat(&report, "input-truncated");
        assert!(message.contains(&format!("byte {cut}")), "{cut}: {message}");
    }
    let (code, report, errors) = check(&files.file("cut.har", &bytes[..ends[0] - 1]), &["--exit-zero"]);
    assert_eq!((code, report["summary"]["exchanges"].as_u64()), (2, Some(0)), "{errors}");
}

#[test]
fn a_damaged_entry_costs_itself_only_and_is_named_by_its_place() {
    let (files, mut bytes) = (Files::new(), har());
    let (_, sound, _) = check(&files.file("sound.har", &bytes), &["--exit-zero"]);
    let second = memchr::memmem::find_iter(&bytes, b"\"startedDateTime\"").nth(1).unwrap();
    bytes[second + "\"startedDateTime\"".len()] = b'!';
    let (code, report, errors) = check(&files.file("damaged.har", &bytes), &["--exit-zero"]);
    assert_eq!(code, 0, "{errors}");
    let count = |report: &Value| report["summary"]["exchanges"].as_u64().unwrap();
    assert_eq!(count(&report), count(&sound) - 1);
    let message = caveat(&report, "entry-unreadable");
    assert!(message.contains("entry 1 at byte") && message.contains(&format!("byte {}", second + 17)), "{message}");
}

#[test]
fn nesting_of_any_depth_is_no_danger() {
    let files = Files::new();
    let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let text = String::from_utf8(har()).unwrap().replacen("\"entries\":", &format!("\"_x\": {deep}, \"entries\":"), 1);
    let (code, report, errors) = check(&files.file("deep.har", text.as_bytes()), &["--exit-zero"]);
    assert_eq!(code, 0, "{errors}");
    assert_eq!(report["findings"][0]["rule"], "resume-after-terminal");
    // A body of the same depth is JSON, and no message.
    let body = format!("data: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{deep}}}\n\n");
    let (code, report, errors) = check(&files.file("deep.sse", body.as_bytes()), &["--exit-zero"]);
    assert_eq!((code, report["summary"]["exchanges"].as_u64()), (0, Some(1)), "{errors}");
    // A flow whose dictionaries stand ten thousand deep in one another.
    let flow = (0..10_000).fold(b"0:}".to_vec(), |inner, _| {
        let inner = [b"1:a;".as_slice(), &inner].concat();
        [format!("{}:", inner.len()).as_bytes(), &inner, b"}"].concat()
    });
    let (code, report, errors) = check(&files.file("deep.flow", &flow), &["--input", "flows"]);
    assert_eq!((code, report["summary"]["exchanges"].as_u64()), (2, Some(0)), "{errors}");
}

#[test]
fn a_packet_that_claims_four_gigabytes_ends_the_reading_where_it_stands() {
    let files = Files::new();
    let mut bytes = fs::read("testdata/pcap/drop_and_resume.pcap").unwrap();
    let (_, sound, _) = check(&files.file("sound.pcap", &bytes), &["--exit-zero"]);
    bytes.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    let (code, report, errors) = check(&files.file("claims.pcap", &bytes), &["--exit-zero"]);
    assert_eq!(code, 0, "{errors}");
    assert_eq!(report["summary"]["exchanges"], sound["summary"]["exchanges"]);
    let place = format!("at offset {}; read up to packet 131", bytes.len() - 16);
    let message = caveat(&report, "input-truncated");
    assert_eq!(message, format!("a record claims an impossible length {place}"));
}

#[test]
fn a_bomb_is_unpacked_to_its_bound_and_no_further() {
    let files = Files::new();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(b"{\"log\":{\"version\":\"1.2\",\"entries\":[").unwrap();
    std::io::copy(&mut std::io::repeat(b' ').take(200 << 20), &mut packed).unwrap();
    packed.write_all(b"]}}").unwrap();
    let bomb = files.file("bomb.har.gz", &packed.finish().unwrap());
    for (limit, name) in [("ratio=100", "ratio"), ("unpacked=1M", "unpacked")] {
        let (code, report, errors) = check(&bomb, &["--limit", limit]);
        assert_eq!((code, report["summary"]["exchanges"].as_u64()), (2, Some(0)), "{errors}");
        assert!(caveat(&report, "limit-reached").contains(&format!("`{name}`")), "{report}");
        // What was unpacked before the bound was reached is read.
        assert!(caveat(&report, "input-truncated").contains("1048576"), "{report}");
    }
}

/// Runs a check that may have so many KiB of address space.
#[cfg(target_os = "linux")]
fn check_within(kib: u32, path: &PathBuf) -> (i32, String) {
    let binary = assert_cmd::cargo::cargo_bin("lastevent");
    let line = format!("ulimit -v {kib} && exec \"$0\" check -j 2 --exit-zero --allow-empty \"$1\"");
    let output = Command::new("sh").args(["-c", &line]).arg(binary).arg(path).output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_what_is_skipped() {
    let files = Files::new();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"{\"log\":{\"version\":\"1.2\",\"entries\":[").unwrap();
    std::io::copy(&mut std::io::repeat(b' ').take(400 << 20), &mut packed).unwrap();
    packed.write_all(&har()[har().iter().position(|b| *b == b'[').unwrap() + 1..]).unwrap();
    let blanks = files.file("blanks.har.gz", &packed.finish().unwrap());
    let mut claims = fs::read("testdata/pcap/drop_and_resume.pcap").unwrap();
    claims.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    for path in [blanks, files.file("claims.pcap", &claims)] {
        assert_eq!(check_within(350_000, &path), (0, String::new()), "{}", path.display());
    }
}

#[test]
fn names_inside_of_archives_lead_nowhere() {
    let files = Files::new();
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for name in ["../../outside.har", "/etc/inside.har", "plain.har"] {
        archive.start_file(name, options).unwrap();
        archive.write_all(&har()).unwrap();
    }
    let path = files.file("names.zip", &archive.finish().unwrap().into_inner());
    let (code, report, errors) = check(&path, &["--exit-zero", "--isolate"]);
    assert_eq!(code, 0, "{errors}");
    assert_eq!(report["inputs"].as_array().unwrap().len(), 3, "{report}");
    let beside: Vec<_> = fs::read_dir(files.0.path()).unwrap().collect();
    assert_eq!(beside.len(), 1, "nothing is ever unpacked to a place that an archive names");
}

#[test]
fn one_line_of_a_hundred_megabytes_is_one_event() {
    let files = Files::new();
    let mut text = b"id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"text\":\"".to_vec();
    text.resize(text.len() + (100 << 20), b'x');
    text.extend_from_slice(
        b"\"}}\n\nid: 2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n",
    );
    let path = files.file("long.sse", &text);
    let (code, report, errors) = check(&path, &["--exit-zero"]);
    assert_eq!((code, report["summary"]["exchanges"].as_u64()), (0, Some(1)), "{errors}");
    let mut command = Command::cargo_bin("lastevent").unwrap();
    let shown = command.args(["show", "--format", "timeline"]).arg(&path).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("2 events, 2 messages"), "{shown}");
    // Beyond the bound the rest is dropped, and that is said.
    let (code, report, errors) = check(&path, &["--exit-zero", "--limit", "body=1M"]);
    assert_eq!(code, 0, "{errors}");
    assert!(caveat(&report, "limit-reached").contains("1048576"), "{report}");
}

#[test]
fn other_encodings_are_read_or_named() {
    let (files, text) = (Files::new(), String::from_utf8(har()).unwrap());
    let (_, sound, _) = check(&files.file("sound.har", text.as_bytes()), &["--exit-zero"]);
    for (name, big) in [("little.har", false), ("big.har", true)] {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        let bytes: Vec<u8> = units.flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() }).collect();
        let (code, report, errors) = check(&files.file(name, &bytes), &["--exit-zero"]);
        assert_eq!(code, 0, "{name}: {errors}");
        let rules = |report: &Value| -> Vec<Value> {
            report["findings"].as_array().unwrap().iter().map(|f| f["rule"].clone()).collect()
        };
        assert_eq!(rules(&report), rules(&sound), "{name}");
    }
    // Bytes that are no text of any kind, inside of a body.
    let latin = text.replacen("clientInfo", "client\u{1}Info", 1).replace('\u{1}', "\\u00e9").into_bytes();
    let mut broken = latin;
    let at = memchr::memmem::find(&broken, b"\\u00e9").unwrap();
    broken.splice(at..at + 6, [0xe9]);
    let (code, report, errors) = check(&files.file("latin.har", &broken), &["--exit-zero"]);
    assert_eq!(code, 0, "{errors}");
    assert_eq!(report["summary"]["exchanges"], sound["summary"]["exchanges"]);
}

#[test]
fn a_clock_that_runs_backwards_is_survived() {
    let (files, text) = (Files::new(), String::from_utf8(har()).unwrap());
    let mut document: Value = serde_json::from_str(&text).unwrap();
    let entries = document["log"]["entries"].as_array_mut().unwrap();
    let count = entries.len();
    for (i, entry) in entries.iter_mut().enumerate() {
        entry["startedDateTime"] = format!("2026-03-02T09:00:{:02}.000Z", count - i).into();
    }
    let (code, report, errors) = check(&files.file("back.har", document.to_string().as_bytes()), &["--exit-zero"]);
    assert_eq!((code, report["summary"]["exchanges"].as_u64()), (0, Some(count as u64)), "{errors}");
    // By those times the resume comes before the answer, and nothing is wrong with it.
    assert_eq!(report["findings"], Value::Array(Vec::new()));
}
