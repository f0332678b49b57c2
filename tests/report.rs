//! Hand-made findings over a typed capture: the report, its names, its formats.

use lastevent::{
    audit::{
        self, Judged, Run, Source,
        baseline::Baseline,
        filter::Filter,
        gate::Gate,
        incident::{BlastRadius, Incident, Touched},
        report::{Input, Report, RunFacts, Status},
    },
    capture::{Context, Limits, digest::Names, transcript},
    evidence::Locus,
    model::{Direction, Era, Vantage},
    reconstruct,
    redact::Key,
    report::{Look, json, ndjson, table, text},
    rules::{Certainty, Check, Evidence, Family, Finding, Party, Rule, Severity},
};
use std::{collections::BTreeMap, sync::atomic::AtomicU64};

static RESUME: Rule = Rule {
    id: "resume-after-terminal",
    family: Family::Resume,
    summary: "",
    severity: Severity::Error,
    since: "0.1.0",
    eras: &[Era::November2025],
    suppresses: &[],
    thresholds: &[],
    remedy: "keep a terminal flag per request",
    page: "",
    check: Check::Session(|_, _| {}),
};

fn finding(rule: &'static str, severity: Severity, evidence: Vec<(Locus, &'static str)>) -> Finding {
    Finding {
        rule,
        kind: None,
        severity,
        certainty: Certainty::Certain,
        party: Party::Client,
        message: "request 2 was answered, then its stream was resumed twice".to_owned(),
        session: Some(0),
        request: Some(1),
        stream: Some(0),
        cursor: None,
        count: 2,
        exchanges: evidence.iter().map(|(at, _)| at.exchange).collect(),
        evidence: evidence.into_iter().map(|(at, what)| Evidence { at, what: what.into() }).collect(),
        assumptions: vec![],
        remedy: None,
        suppressed: vec!["reconnect-storm"],
    }
}

/// The typed capture with two findings: one about request 2, one that no time or session is known of.
fn judged(key: &Key) -> (Vec<Judged>, Vec<Source>) {
    let bytes = include_bytes!("../testdata/transcripts/terminal-replay.transcript");
    let (names, consumed) = (Names::default(), AtomicU64::new(0));
    let context = Context { key, limits: Limits::default(), names: &names, consumed: &consumed, vantage: None };
    let facts = transcript::read(&context, &mut &bytes[..]).unwrap();
    let input = Input {
        file: "hand.transcript".to_owned(),
        format: Some("transcript".to_owned()),
        recorder: None,
        vantage: facts.vantage,
        exchanges: facts.entries,
        status: Status::Read,
        error: None,
    };
    let capture = reconstruct::capture(facts.exchanges);
    let cursor = capture.exchanges[3].cursor.as_ref().map(|c| c.id);
    let first = Finding {
        cursor,
        ..finding(
            "resume-after-terminal",
            Severity::Error,
            vec![(Locus::event(2, 1), "the answer to request 2"), (Locus::request(4), "resumed after it")],
        )
    };
    let second = Finding {
        session: None,
        request: None,
        stream: None,
        count: 1,
        certainty: Certainty::Possible,
        message: "evil \u{1b}[31m".to_owned(),
        suppressed: vec![],
        ..finding("unlisted", Severity::Note, vec![(Locus::response(1), "somewhere")])
    };
    let sources = vec![Source { input, caveats: BTreeMap::new() }];
    (vec![Judged { capture, findings: vec![second, first] }], sources)
}

fn report(key: &Key) -> Report {
    let (judged, sources) = judged(key);
    let facts = RunFacts { rules: vec![], thresholds: BTreeMap::new(), key: key.name(), shard: None };
    let run = Run { rules: &[&RESUME], facts, key, sources: &sources, caveats: &BTreeMap::new() };
    audit::report(&judged, &run)
}

#[test]
fn a_finding_is_resolved_to_names_and_places() {
    let report = report(&Key::new(None, false));
    let found = &report.findings[0];
    assert_eq!((&*found.rule, &*found.family, &*found.remedy), (RESUME.id, "resume", RESUME.remedy));
    assert_eq!(found.endpoint.as_deref(), Some("http://localhost:3000/mcp"));
    assert_eq!((found.request.as_deref(), found.occurrence), (Some("2"), Some(0)));
    assert_eq!((found.direction, found.era), (Some(Direction::Client), Some(Era::November2025)));
    assert_eq!((found.method.as_deref(), found.name.as_deref()), (Some("tools/call"), Some("slow")));
    assert!(found.session.as_ref().is_some_and(|s| s.len() == 18 && s.starts_with("s_")), "{:?}", found.session);
    assert_eq!(found.session_id, None);
    assert!(found.cursor.as_ref().is_some_and(|c| c.starts_with("c_") && c.ends_with(":0")), "{:?}", found.cursor);
    assert_eq!(found.first.unwrap().to_string(), "2026-01-01T00:00:00.135Z");
    assert_eq!(found.last.unwrap().to_string(), "2026-01-01T00:00:00.23Z");
    let at = &found.evidence[0];
    assert_eq!((&*at.file, at.entry, at.event, at.line), ("hand.transcript", 2, Some(1), Some(4)));
    // `id: a-0`, `data:` and the blank line are 7 + 1 + 5 + 1 + 1 bytes.
    assert_eq!(at.bytes.map(|b| b[0]), Some(15));
    assert_eq!(at.facts[1], "data: response 2, result, 77 B");
    assert_eq!(report.summary.verdicts.invalid, 2);
    assert_eq!((report.summary.findings.error, report.summary.findings.note), (1, 1));
}

#[test]
fn real_ids_appear_only_where_they_are_asked_for() {
    let shown = report(&Key::new(None, true));
    assert_eq!(shown.findings[0].session_id.as_deref(), Some("one"));
    assert_eq!(shown.findings[0].cursor.as_deref(), Some("a-0"));
    let hidden = report(&Key::new(None, false));
    assert!(!json::render(&hidden).unwrap().contains("a-0"));
    // Names of findings do not depend on what is shown, only on the key.
    assert_eq!(shown.findings[0].fingerprint, hidden.findings[0].fingerprint);
    let keyed = report(&Key::new(Some(b"secret"), false));
    assert_ne!(keyed.findings[0].fingerprint, hidden.findings[0].fingerprint);
    assert_eq!(keyed.findings[0].signature, hidden.findings[0].signature);
}

#[test]
fn a_report_reads_back_from_its_json() {
    let report = report(&Key::new(None, false));
    let text = json::render(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn ndjson_has_the_order_of_json() {
    let text = ndjson::render(&report(&Key::new(None, false))).unwrap();
    let kinds: Vec<String> = text
        .lines()
        .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["head", "finding", "finding", "summary"]);
}

const TEXT: &str = "\
error[resume-after-terminal]: request 2 was answered, then its stream was resumed twice
--> hand.transcript: entry 2, response, event 1, line 4, 2026-01-01T00:00:00.135Z
 |
 | id: CURSOR:1
 | data: response 2, result, 77 B
 | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the answer to request 2
 |
::: hand.transcript: entry 4, request, 2026-01-01T00:00:00.23Z
 |
 | GET http://localhost:3000/mcp
 | mcp-session-id: SESSION
 | last-event-id: CURSOR:0
 | --------------------------- resumed after it
 |
 = note: certain, the client's fault, session SESSION, http://localhost:3000/mcp, request 2 (tools/call slow), \
stream p0, cursor CURSOR:0, 2 times from 2026-01-01T00:00:00.135Z to 2026-01-01T00:00:00.23Z
 = note: stands for its consequences too: reconnect-storm
 = help: keep a terminal flag per request
";

#[test]
fn text_shows_evidence_in_the_manner_of_rustc() {
    let report = report(&Key::new(None, false));
    let text = text::render(&report, &Gate::default(), 0, &Look::default());
    let short = |name: &Option<String>| name.as_ref().unwrap()[..10].to_owned();
    let (session, cursor) = (short(&report.findings[0].session), short(&report.findings[0].cursor));
    let text = text.replace(&session, "SESSION").replace(&cursor, "CURSOR");
    assert!(text.contains(TEXT), "{text}");
    assert!(text.contains(" resumptions  2 (2 invalid)\n"), "{text}");
    assert!(text.ends_with("FAILED: 1 error, 1 note, 1 of them decisive\n"), "{text}");
    assert!(text.contains("evil \\u{1b}[31m") && !text.contains('\u{1b}'));
}

#[test]
fn a_table_has_a_row_for_each_finding() {
    let report = report(&Key::new(None, false));
    let text = table::render(&report, &Gate::default(), 0, &Look::default());
    assert_eq!(text.matches("resume-after-terminal").count(), 1);
    assert!(text.contains("evil \\u{1b}[31m") && !text.contains('\u{1b}'));
}

#[test]
fn a_table_of_incidents_stands_above_that_of_findings() {
    let mut report = report(&Key::new(None, false));
    let touched = |request: &str| Touched {
        request: request.to_owned(),
        method: Some("tools/call".to_owned()),
        name: Some("slow\u{1b}[31m".to_owned()),
    };
    report.incidents = vec![Incident {
        headline: "request 2 was answered, then its stream was resumed".to_owned(),
        rule: "terminal-replay-loop".to_owned(),
        severity: Severity::Error,
        session: report.findings[0].session.clone(),
        session_id: None,
        first: None,
        last: None,
        findings: report.findings.iter().map(|f| f.fingerprint.clone()).collect(),
        course: Vec::new(),
        blast_radius: BlastRadius { repeated: vec![touched("2"), touched("3")], lost: Vec::new() },
        remedy: "keep a flag".to_owned(),
    }];
    let text = table::render(&report, &Gate::default(), 0, &Look::default());
    let session = &report.findings[0].session.as_ref().unwrap()[..10];
    let row = format!(
        "│ error ┆ terminal-replay-loop ┆ {session} ┆ 2 ┆ 2 (tools/call slow\\u{{1b}}[31m), 3 (tools/call slow\\u{{1b}}[31m) ┆ - ┆ \
         request 2 was answered, then its stream was resumed │"
    );
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let at = |wanted: &str| text.lines().position(|line| squeezed(line).starts_with(wanted));
    assert!(text.lines().any(|line| squeezed(line) == row), "{text}");
    assert!(at(&row) < at("│ severity ┆ certainty"), "{text}");
    assert!(text.ends_with("FAILED: 1 error, 1 note, 1 of them decisive\n"), "{text}");
}

#[test]
fn filters_leave_findings_out_and_count_anew() {
    let key = Key::new(None, false);
    let left = |filter: Filter| {
        let mut report = report(&key);
        filter.apply(&mut report, &key);
        assert_eq!(report.summary.findings.total(), report.findings.len() as u64);
        report.findings.iter().map(|f| f.rule.clone()).collect::<Vec<_>>()
    };
    let all = Filter::default();
    let strings = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(left(all.clone()), ["resume-after-terminal", "unlisted"]);
    assert_eq!(left(Filter { select: strings(&["resume"]), ..all.clone() }), ["resume-after-terminal"]);
    assert_eq!(left(Filter { ignore: strings(&["resume"]), ..all.clone() }), ["unlisted"]);
    assert_eq!(left(Filter { min_severity: Some(Severity::Warning), ..all.clone() }), ["resume-after-terminal"]);
    assert_eq!(left(Filter { min_certainty: Some(Certainty::Likely), ..all.clone() }), ["resume-after-terminal"]);
    assert_eq!(left(Filter { session: Some("one".into()), ..all.clone() }), ["resume-after-terminal"]);
    assert_eq!(left(Filter { endpoint: Some("*:3001/*".into()), ..all.clone() }), [] as [&str; 0]);
    let at = |text: &str| Some(text.parse().unwrap());
    assert_eq!(left(Filter { since: at("2026-01-01T00:00:00.2Z"), ..all.clone() }), ["resume-after-terminal"]);
    assert_eq!(left(Filter { until: at("2026-01-01T00:00:00.1Z"), ..all }), ["unlisted"]);
}

#[test]
fn a_mistyped_rule_is_told_with_its_neighbour() {
    let wrong = Filter { select: vec!["resume-after-termnial".into()], ..Filter::default() };
    let error = wrong.check(&[&RESUME]).unwrap_err();
    assert_eq!(error, "no rule or family is called 'resume-after-termnial'; did you mean 'resume-after-terminal'?");
}

#[test]
fn a_baseline_leaves_out_what_it_has_as_often() {
    let key = Key::new(None, false);
    let text = json::render(&report(&key)).unwrap();
    for exact in [false, true] {
        let mut same = report(&key);
        assert_eq!(Baseline::read(&text, exact).unwrap().apply(&mut same), 2);
        assert!(same.findings.is_empty() && same.summary.findings.total() == 0);
    }
    let mut more = report(&key);
    more.findings[0].count = 3;
    assert_eq!(Baseline::read(&text, false).unwrap().apply(&mut more), 1);
    assert_eq!(more.findings[0].rule, "resume-after-terminal");
    let other = report(&Key::new(Some(b"another key"), false));
    assert_eq!(Baseline::read(&text, false).unwrap().apply(&mut other.clone()), 2);
    assert!(Baseline::read(&text, true).unwrap().apply(&mut other.clone()) < 2);
    assert!(Baseline::read("{}", false).is_err());
    assert!(Baseline::read(&text.replace("report/1", "report/9"), false).is_err());
}

#[test]
fn vantage_of_a_typed_capture_is_what_it_says() {
    let (_, sources) = judged(&Key::new(None, false));
    assert_eq!(sources[0].input.vantage, Vantage::Client);
}
