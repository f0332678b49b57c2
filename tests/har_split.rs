//! The scanner of HAR pieces against serde_json, on whatever proptest makes up.

use lastevent::wire::har_split::{
    Buffer, Fault, Found, Pairs, RawString, Resume, Scalar, Scanner, last_boundary, outline,
};
use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// Any JSON value, with strings of all kinds and a few levels.
fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any::<String>(),
        "[ -~]{0,200}",
        r#"(["\\\\\n/a]|[a-z]{0,12}){0,90}"#,
        Just("\"startedDateTime\": \"x\", {".to_owned())
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..6).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// A value as text, on one line or indented.
fn spelled() -> impl Strategy<Value = (Value, String)> {
    (value(), any::<bool>()).prop_map(|(value, pretty)| {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        (value, text.unwrap())
    })
}

/// The text is one value and nothing more, to serde_json and to the scanner.
fn agree(text: &[u8]) {
    let want = serde_json::from_slice::<IgnoredAny>(text);
    let mut scanner = Scanner::new(text, 0);
    let got = scanner.skip().map(|()| scanner.peek().is_none());
    match (&want, &got) {
        (Ok(_), Ok(true)) => {}
        // serde_json insists on nothing but white space behind the value.
        (Err(_), Ok(false) | Err(_)) => {
            let unfinished = want.as_ref().is_err_and(serde_json::Error::is_eof);
            // serde_json calls half a number wrong, not unfinished.
            let number = got == Err(Fault::End) && text.last().is_some_and(|b| b"-+.eE".contains(b));
            assert_eq!(
                unfinished || number,
                got == Err(Fault::End),
                "{want:?} {got:?} {:?}",
                String::from_utf8_lossy(text)
            );
        }
        _ => panic!("{want:?} {got:?} {:?}", String::from_utf8_lossy(text)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_json_is_skipped_to_its_last_byte((_, text) in spelled()) {
        agree(text.as_bytes());
    }

    #[test]
    fn whatever_is_not_json_is_refused_as_serde_json_refuses_it(
        (_, text) in spelled(),
        cut in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..128), 0..3),
    ) {
        let mut bytes = text.into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        agree(&bytes[..=cut.index(bytes.len())]);
        agree(&bytes);
    }

    #[test]
    fn a_string_means_what_serde_json_says(text in any::<String>(), tail in "[ -~]{0,200}", escape_all in any::<bool>()) {
        let value = format!("{text}{tail}");
        let spelled = match escape_all {
            false => serde_json::to_string(&value).unwrap(),
            true => format!("\"{}\"", value.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>()),
        };
        let padded = format!(" {spelled} , {}", "x".repeat(200));
        for text in [&spelled, &padded] {
            let string = Scanner::new(text.as_bytes(), 0).string().unwrap();
            prop_assert_eq!(string.text(), value.as_str());
            let mut buffer = Buffer::default();
            let mut scanner = Scanner::new(text.as_bytes(), 0);
            let copied = scanner.string_into(&mut buffer, usize::MAX).unwrap();
            prop_assert_eq!(&*buffer, value.as_bytes());
            prop_assert!(!copied.cut);
            buffer.clear();
            string.unescape_into(&mut buffer, usize::MAX);
            prop_assert_eq!(&*buffer, value.as_bytes());
        }
    }

    #[test]
    fn a_limit_keeps_the_beginning_of_a_string_and_says_so(value in "[ -~\n]{0,400}", limit in 0_usize..400) {
        let text = serde_json::to_string(&value).unwrap() + &" ".repeat(200);
        let mut buffer = Buffer::default();
        let mut scanner = Scanner::new(text.as_bytes(), 0);
        let copied = scanner.string_into(&mut buffer, limit).unwrap();
        prop_assert_eq!(&*buffer, &value.as_bytes()[..value.len().min(limit)]);
        prop_assert_eq!(copied.cut, value.len() > limit);
        prop_assert_eq!(scanner.at(), text.trim_end().len());
    }

    #[test]
    fn lists_of_pairs_are_what_serde_json_says_in_whatever_order_and_spelling(
        lists in prop::collection::vec(
            prop::collection::vec((0_u8..6, "[a-c]{0,2}", "[a-c\"\\\\]{0,3}", any::<bool>()), 0..7),
            1..6
        ),
        pretty in any::<bool>(),
    ) {
        let lists: Vec<Value> = lists.into_iter().map(|list| {
            list.into_iter().map(|(form, name, value, extra)| match (form, extra) {
                (0, _) => json!([name, value]),
                (1, _) => json!({"value": value, "name": name}),
                (2, _) => json!({"name": name, "value": 7}),
                (_, true) => json!({"name": name, "value": value, "zzz": {"name": "no"}}),
                _ => json!({"name": name, "value": value}),
            }).collect()
        }).collect();
        let text = match pretty {
            true => serde_json::to_string_pretty(&lists),
            false => serde_json::to_string(&lists),
        }.unwrap();
        let (mut pairs, mut got) = (Pairs::default(), Vec::new());
        Scanner::new(text.as_bytes(), 0).array(|scanner| {
            pairs.read(scanner, |_| true)?;
            got.push(pairs.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect::<Vec<_>>());
            Ok(())
        }).unwrap();
        let want: Vec<Vec<_>> = lists.iter().map(|list| list.as_array().unwrap().iter().map(|pair| {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            match pair {
                Value::Array(pair) => (text(&pair[0]), text(&pair[1])),
                pair => (text(&pair["name"]), text(&pair["value"])),
            }
        }).collect()).collect();
        prop_assert_eq!(got, want);
    }

    #[test]
    fn a_boundary_is_the_beginning_of_an_entry(
        extras in prop::collection::vec(value(), 2..6),
        cut in any::<prop::sample::Index>(),
        first in any::<bool>(),
    ) {
        let entries: Vec<String> = extras.iter().map(|extra| {
            let extra = serde_json::to_string_pretty(extra).unwrap();
            match first {
                true => format!("{{\"startedDateTime\" : \"t\", \"x\": {extra}}}"),
                false => format!("{{\"a\": {extra},\n\"startedDateTime\":\"t\"}}"),
            }
        }).collect();
        let text = format!("[{}]", entries.join(" ,\n"));
        let starts: Vec<usize> = entries.iter().scan(1, |at, entry| {
            let start = *at;
            *at += entry.len() + 3;
            Some(start)
        }).collect();
        let cut = cut.index(text.len() + 1);
        let found = last_boundary(&text.as_bytes()[..cut]);
        let want = starts.iter().skip(1).rev().find(|start| **start < cut);
        prop_assert_eq!(found.as_ref(), want);
    }
}

#[test]
fn lone_surrogates_are_replaced_and_pairs_are_joined() {
    let read = |text: &str| Scanner::new(text.as_bytes(), 0).string().map(|s| s.text().into_owned());
    assert_eq!(read(r#""\ud83d\ude00""#).unwrap(), "\u{1F600}");
    assert_eq!(read(r#""a\ud83db""#).unwrap(), "a\u{FFFD}b");
    assert_eq!(read(r#""\ude00\ud83d""#).unwrap(), "\u{FFFD}\u{FFFD}");
    assert_eq!(read(r#""\ud83d\u0041""#).unwrap(), "\u{FFFD}A");
    assert!(read(r#""\ud83d\u00""#).is_err());
}

#[test]
fn a_string_that_is_no_utf8_is_kept_with_replacement_characters() {
    let string = Scanner::new(b"\"a\xFFb\"", 0).string().unwrap();
    assert_eq!((string.text().as_ref(), string.bytes().as_ref()), ("a\u{FFFD}b", &b"a\xFFb"[..]));
}

#[test]
fn a_million_levels_are_skipped() {
    let text = [b"[".repeat(1_000_000), b"]".repeat(1_000_000)].concat();
    let mut scanner = Scanner::new(&text, 0);
    assert_eq!((scanner.skip(), scanner.at()), (Ok(()), text.len()));
    let mixed = "{\"a\":[".repeat(65_000) + &"]}".repeat(65_000);
    assert_eq!(Scanner::new(mixed.as_bytes(), 0).skip(), Ok(()));
    let crossed = "{\"a\":[".repeat(65_000) + &"}]".repeat(65_000);
    let Err(Fault::Invalid { at, .. }) = Scanner::new(crossed.as_bytes(), 0).skip() else { panic!("accepted") };
    assert_eq!(at, 6 * 65_000);
}

#[test]
fn numbers_and_texts_are_read_in_each_others_place() {
    let read = |text: &'static str| Scanner::new(text.as_bytes(), 0).scalar().unwrap();
    assert_eq!(read(r#""38.0""#).number(), Some(38.0));
    assert_eq!(read("-1.5e2").number(), Some(-150.0));
    assert_eq!(read("1e999").number(), None);
    assert_eq!(read("443").text().as_deref(), Some("443"));
    assert_eq!((read("null").text(), read("[1]").text(), read("[1]")), (None, None, Scalar::Nested(b"[1]")));
    assert_eq!(Scalar::Absent.raw(), None::<RawString<'_>>);
}

#[test]
fn the_way_to_the_entries_leads_through_all_wrappings() {
    let way = |text: &'static [u8]| outline(text, Resume::Start).map(|o| (o.found, o.name.text_or_empty(), o.wrapped));
    let plain = br#"{"log":{"creator":{"version":"2","name":"N"},"entries":[1]}}"#;
    assert_eq!(way(plain), Ok((Found::Entries(56), "N".into(), false)));
    assert_eq!(way(b"\xEF\xBB\xBF \0\n{\"log\":{\"entries\":["), Ok((Found::Entries(25), "".into(), false)));
    assert_eq!(way(b"onInputData({\"log\":{\"entries\":[]}});"), Ok((Found::Entries(31), "".into(), true)));
    assert_eq!(way(b"{\"entries\":[],\"log\":{}}"), Ok((Found::NoEntries, "".into(), false)));
    assert_eq!(way(b"{\"log\":null}"), Ok((Found::NoLog, "".into(), false)));
    assert_eq!(way(b"{}"), Ok((Found::NoLog, "".into(), false)));
    assert_eq!(way(b"{\"log\":{\"pages\":["), Err(Fault::End));
    assert!(matches!(way(b"PK\x03\x04"), Err(Fault::Invalid { at: 0, .. })));
}

#[test]
fn the_way_from_the_entries_leads_to_the_last_byte() {
    let way = |text: &'static [u8], wrapped| outline(text, Resume::BehindEntries { wrapped }).map(|o| o.found);
    assert_eq!(way(b"}}", false), Ok(Found::End(2)));
    assert_eq!(way(b", \"pages\": [{}], \"comment\": \"\"}, \"x\": 1 } \n", false), Ok(Found::End(41)));
    assert_eq!(way(b"} } ) ; \n", true), Ok(Found::End(7)));
    assert_eq!(way(b",\"entries\":[{}]}}", false), Ok(Found::Entries(12)));
    assert_eq!(way(b"}", false), Err(Fault::End));
    assert!(matches!(way(b"]}}", false), Err(Fault::Invalid { at: 0, .. })));
}
