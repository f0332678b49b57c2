//! Damage, lines, and blocks of every size.

use super::entries::*;
use lastevent::capture::{
    FileFacts, Limits, ReadError,
    har::{self, Options},
};
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn a_truncated_file_gives_all_entries_before_the_cut_and_says_where_it_ends() {
    let text = har("WebInspector", &vec![entry(&[]); 3]).to_string();
    let third = text.match_indices("{\"cache\"").nth(2).unwrap().0;
    let facts = read_bytes(&text.as_bytes()[..third + 300]).unwrap();
    assert_eq!((facts.entries, facts.exchanges.len()), (2, 2));
    let message = &facts.caveats["input-truncated"].message;
    assert_eq!(
        *message,
        format!(
            "the file ends at byte {}, inside entry 2, which begins at byte {third}; 2 entries were read",
            third + 300
        )
    );
    let facts = read_bytes(&text.as_bytes()[..text.len() - 2]).unwrap();
    assert_eq!((facts.exchanges.len(), facts.caveats["input-truncated"].count), (3, 1));
}

#[test]
fn a_damaged_entry_costs_itself_only_and_is_named() {
    let text = har("WebInspector", &vec![entry(&[]); 5]).to_string();
    let second = text.match_indices("{\"cache\"").nth(1).unwrap().0;
    let url = second + text[second..].find("\"url\"").unwrap();
    let damages: [(&str, &str); 5] = [
        ("\"url\"", "\"u\nl\""),
        ("\"url\"", "#url\""),
        ("\"url\":", "\"url\" "),
        ("\"url\":\"", "\"url\":N"),
        ("\"url\":", "\"url\":]"),
    ];
    for (from, to) in damages {
        let damaged = format!("{}{}", &text[..url], text[url..].replacen(from, to, 1));
        for block in [100, 1000, 1 << 20] {
            let facts = read_blocks(damaged.as_bytes(), block).unwrap();
            let caveat = &facts.caveats["entry-unreadable"];
            assert_eq!((facts.entries, facts.exchanges.len(), caveat.count), (5, 4, 1), "{to} {block} {caveat:?}");
            assert!(caveat.message.starts_with(&format!("entry 1 at byte {second} is damaged")), "{}", caveat.message);
            assert_eq!(facts.exchanges.iter().map(|x| x.at.entry).collect::<Vec<_>>(), [0, 2, 3, 4]);
        }
    }
}

#[test]
fn entries_that_are_no_objects_keep_their_number() {
    let text =
        har("WebInspector", &[Value::Null, entry(&[]), json!([1, {"startedDateTime": "x"}]), entry(&[])]).to_string();
    let facts = read_bytes(text.as_bytes()).unwrap();
    assert_eq!((facts.entries, facts.caveats["entry-unreadable"].count), (4, 2));
    assert_eq!(facts.exchanges.iter().map(|x| x.at.entry).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn lines_are_entries_too() {
    let text = format!("{}\n\n{}\r\n{{\"cut\n{}", entry(&[]), entry(&[]), entry(&[]));
    for block in [1, 64, 1000, 1 << 20] {
        let options = Options { block, ..Options::default() };
        let facts = with(Limits::default(), None, |c| har::read_lines_with(&mut text.as_bytes(), c, &options)).unwrap();
        assert_eq!((facts.entries, facts.exchanges.len()), (4, 3), "{block}");
        assert_eq!(facts.exchanges[2].at.entry, 3);
        assert_eq!(facts.exchanges[2].at.offset, text.rfind("\n").map(|at| at as u64 + 1));
        assert_eq!(facts.caveats["entry-unreadable"].count, 1);
    }
    let none = with(Limits::default(), None, |c| har::read_lines(&mut &b"{}\nx\n"[..], c));
    assert!(matches!(none, Err(ReadError::NotACapture(_))));
}

/// What must not depend on how a file was cut into blocks.
fn account(facts: &Result<FileFacts, ReadError>) -> String {
    match facts {
        Ok(facts) => {
            let caveats: Vec<_> = facts.caveats.iter().map(|(name, c)| (name, c.count, &c.message)).collect();
            let rows = serde_json::to_string(&facts.exchanges).unwrap();
            format!("{} {:?} {:?} {caveats:?} {rows}", facts.entries, facts.recorder, facts.vantage)
        }
        Err(error) => error.to_string(),
    }
}

/// A document with every trap for whoever cuts it: nested starts, pages on both sides, texts that look like entries.
fn trapped() -> String {
    let bait = r#"},{"startedDateTime":"2026-03-02T09:00:00.000Z","request":{"#;
    let entries: Vec<Value> = (0..12)
        .map(|i| match i % 6 {
            0 => {
                entry(&[("/_nested", json!([{"startedDateTime": "a"}, {"startedDateTime": "b", "x": [{}]}, {"c": 1}]))])
            }
            1 => entry(&[("/startedDateTime", gone())]),
            2 => entry(&[("/response/content/text", json!(format!("{EVENT}: {bait}\n\n").repeat(30)))]),
            3 => entry(&[(
                "/request/headers",
                json!([{"name": "startedDateTime", "value": "startedDateTime"}, {"name": "a", "value": bait}]),
            )]),
            4 => entry(&[("/_initiator", json!({"stack": vec![json!({"startedDateTime": 1}); 20]}))]),
            _ => entry(&[("/a\\\"startedDateTime", json!({"x": {"startedDateTime": []}}))]),
        })
        .collect();
    let pages = vec![json!({"startedDateTime": "2026-03-02T09:00:00.000Z", "id": "p", "pageTimings": {}}); 30];
    let log = json!({"a_pages": pages, "creator": {"name": "WebInspector"}, "entries": entries, "pages": pages});
    format!("{:#}", json!({"log": log}))
}

#[test]
fn a_file_says_the_same_in_blocks_of_any_size() {
    for text in [trapped(), har("mitmproxy", &vec![entry(&[]); 50]).to_string()] {
        let whole = account(&read_blocks(text.as_bytes(), 1 << 20));
        assert!(whole.contains("\"jsonrpc\"") || whole.contains("endpoint"));
        for block in (1..40).chain([64, 100, 333, 1000, 2047, 4096, 10_000]) {
            assert_eq!(account(&read_blocks(text.as_bytes(), block)), whole, "blocks of {block} bytes");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damage_anywhere_is_survived_and_costs_little(
        cut in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        block in prop_oneof![1_usize..300, Just(4096), Just(1 << 20)],
    ) {
        let mut bytes = har("WebInspector", &vec![entry(&[]); 8]).to_string().into_bytes();
        for (at, byte) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        let _ = read_blocks(&bytes, block);
        let cut = cut.index(bytes.len());
        let _ = read_blocks(&bytes[..cut], block);
        let lines = Options { block, ..Options::default() };
        let _ = with(Limits::default(), None, |c| har::read_lines_with(&mut &bytes[..cut], c, &lines));
    }

    #[test]
    fn one_changed_byte_inside_an_entry_costs_no_other_entry(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        block in prop_oneof![50_usize..3000, Just(1 << 20)],
    ) {
        let text = har("WebInspector", &vec![entry(&[]); 8]).to_string();
        let starts: Vec<usize> = text.match_indices("{\"cache\"").map(|(at, _)| at).collect();
        let at = starts[3] + 1 + at.index(starts[4] - starts[3] - 3);
        let mut bytes = text.into_bytes();
        bytes[at] = byte;
        let facts = read_blocks(&bytes, block).unwrap();
        let kept: Vec<u64> = facts.exchanges.iter().filter_map(|x| x.at.offset).collect();
        for start in starts.iter().enumerate().filter(|(i, _)| *i != 3).map(|(_, start)| *start as u64) {
            prop_assert!(kept.contains(&start), "{start} of {kept:?}, {:?}", facts.caveats);
        }
    }
}
