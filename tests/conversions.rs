//! One conversation as transcript, HAR and rows: what is found is the same, as far as the format can say it.

mod support;

use lastevent::{
    audit::IdTexts,
    capture::{
        Limits, har,
        rows::{self, Origin},
        transcript,
    },
    model::Exchange,
    report,
};
use std::collections::BTreeMap;
use support::{
    Fixture, digested, fixtures,
    har::render,
    said::{difference, said},
    with_context,
};

fn name(fixture: &Fixture) -> String {
    fixture.path.display().to_string()
}

#[test]
fn as_rows_everything_is_found_again() {
    let mut wrong = Vec::new();
    for fixture in fixtures("") {
        let exchanges = fixture.exchanges();
        let origin = Origin { file: name(&fixture), format: Some("transcript".into()), recorder: None };
        let mut text = Vec::new();
        rows::write(&mut text, &origin, 7, &BTreeMap::new(), &exchanges).unwrap();
        let text = String::from_utf8(text).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        let sorted = lines.join("\n");
        let files = rows::read(&Limits::default(), &mut sorted.as_bytes()).unwrap();
        let back: Vec<Exchange> = files.into_iter().flat_map(|(_, facts)| facts.exchanges).collect();
        assert_eq!(back, exchanges, "{}", name(&fixture));
        wrong.extend(difference(&name(&fixture), &said(exchanges), &said(back)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What rests on the text of an id is not found behind pseudonyms, which keep of it a small counter and whether it is the
/// session's id.
const READ_FROM_IDS: [&str; 6] = [
    "cursor-from-other-session/fires-session-named-in-cursor",
    "cursor-unusable/fires-unsendable",
    "replay-gap/fires-counter",
    "resume-became-new-stream/fires-namespace",
    "session-header-violation/fires-charset",
    "unknown-cursor/fires-mangled",
];

#[test]
fn as_a_redacted_transcript_everything_is_found_again() {
    let mut wrong = Vec::new();
    let readable = |f: &Fixture| !READ_FROM_IDS.iter().any(|id| name(f).contains(id));
    for fixture in fixtures("").into_iter().filter(readable) {
        let exchanges = fixture.exchanges();
        let text = report::transcript::render(exchanges.iter(), &IdTexts::of(false, &exchanges));
        let back = support::exchanges(&text).unwrap_or_else(|e| panic!("{}: {e}\n{text}", name(&fixture)));
        wrong.extend(difference(&name(&fixture), &said(exchanges), &said(back)));
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn as_a_har_everything_is_found_again_that_a_har_can_say() {
    let mut wrong = Vec::new();
    let mut left_out: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut compared = 0;
    for fixture in fixtures("") {
        let file = transcript::parse(fixture.text.as_bytes()).unwrap();
        let (text, told) = match render(&file) {
            Ok(rendered) => rendered,
            Err(why) => {
                left_out.entry(why).or_default().push(name(&fixture));
                continue;
            }
        };
        let read = with_context(|context| har::read(&mut text.as_bytes(), context)).unwrap();
        let told = digested(file.vantage, &told);
        wrong.extend(difference(&name(&fixture), &said(told), &said(read.exchanges)));
        compared += 1;
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    for (why, names) in &left_out {
        println!("{why}: {names:#?}");
    }
    let reasons: Vec<&str> = left_out.keys().copied().collect();
    assert_eq!(
        reasons,
        [
            "a HAR does not say that a body is a part",
            "a HAR has no entry without a time",
            "a request body is there or is none",
            "an entry is written when its response is over",
            "an entry's parts take time",
            "no recorder writes HAR at the server",
        ]
    );
    assert!(compared >= 450, "only {compared} were compared");
}
