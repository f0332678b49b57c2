//! The HAR reader on third-party files: those in the folder named by `LASTEVENT_CORPUS`, else skipped.

use lastevent::{
    capture::{Context, Limits, digest::Names, har},
    redact::Key,
};
use std::{fs, path::PathBuf, sync::atomic::AtomicU64};

/// How many entries serde_json finds; none where the file is no HAR as it lies there.
fn entries(bytes: &[u8]) -> Option<usize> {
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let value: serde_json::Value = serde_json::from_slice(text).ok()?;
    Some(value.get("log")?.get("entries")?.as_array()?.len())
}

#[test]
fn every_har_is_read_to_the_last_entry_or_refused_in_one_line() {
    let Some(corpus) = std::env::var_os("LASTEVENT_CORPUS") else {
        eprintln!("skipped: LASTEVENT_CORPUS names no folder");
        return;
    };
    let (key, names, consumed) = (Key::new(None, false), Names::default(), AtomicU64::new(0));
    let context = Context { key: &key, limits: Limits::default(), names: &names, consumed: &consumed, vantage: None };
    let (mut read, mut refused) = (0, 0);
    for file in fs::read_dir(PathBuf::from(corpus).join("har")).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        match (har::read(&mut &*bytes, &context), entries(&bytes)) {
            (Ok(facts), Some(count)) => {
                assert_eq!(facts.entries, count as u64, "{}", path.display());
                assert!(facts.exchanges.len() <= count && !facts.caveats.contains_key("entry-unreadable"));
                read += 1;
            }
            (Err(error), None) => {
                let line = error.to_string();
                assert!(!line.is_empty() && !line.contains('\n'), "{}: {line}", path.display());
                refused += 1;
            }
            (facts, count) => panic!("{}: {count:?} entries, {:?}", path.display(), facts.map(|f| f.entries)),
        }
    }
    assert!(read > 20 * refused, "{read} read, {refused} refused");
}
