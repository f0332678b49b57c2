//! What fixture tests share: reading transcripts with their expectations, and the findings of a capture.
#![allow(dead_code, missing_docs)]

pub mod har;
pub mod said;

use lastevent::{
    audit,
    capture::{Context, FileFacts, Limits, RawExchange, digest::Names, transcript},
    model::{Exchange, Vantage},
    reconstruct::{self, Capture},
    redact::Key,
    rules::{self, Finding, Severity, Thresholds},
};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicU64,
};

/// A transcript, and what its comments expect of it.
///
/// `# expect RULE SEVERITY` names a finding; further words narrow it down: a certainty, a party, a sub-kind, `x3` for a
/// count of three. Whatever is found and not expected is a fault, notes too; `# not RULE` says of which rule's trap the
/// transcript is.
pub struct Fixture {
    pub path: PathBuf,
    pub text: String,
    pub expected: BTreeSet<(String, Severity)>,
    /// The further words of each expectation that has some.
    pub details: Vec<(String, Severity, Vec<String>)>,
    pub forbidden: BTreeSet<String>,
}

pub fn severity(text: &str) -> Severity {
    match text {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        "note" => Severity::Note,
        other => panic!("no severity is called {other}"),
    }
}

impl Fixture {
    pub fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let lines = |name: &'static str| text.lines().filter_map(move |l| l.strip_prefix(name)).map(str::trim);
        let mut expected = BTreeSet::new();
        let mut details = Vec::new();
        for line in lines("# expect ") {
            let mut words = line.split_whitespace().map(str::to_owned);
            let (Some(rule), Some(level)) = (words.next(), words.next()) else { panic!("{}: {line}", path.display()) };
            let words: Vec<String> = words.collect();
            expected.insert((rule.clone(), severity(&level)));
            if !words.is_empty() {
                details.push((rule, severity(&level), words));
            }
        }
        let forbidden = lines("# not ").map(str::to_owned).collect();
        Self { path: path.to_owned(), expected, details, forbidden, text: text.clone() }
    }

    pub fn exchanges(&self) -> Vec<Exchange> {
        exchanges(&self.text).unwrap_or_else(|e| panic!("{}: {e}", self.path.display()))
    }
}

/// All fixtures below a folder of testdata, in order of their paths.
pub fn fixtures(folder: &str) -> Vec<Fixture> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(folder);
    let mut paths: Vec<PathBuf> = walkdir::WalkDir::new(root)
        .into_iter()
        .filter_map(|e| Some(e.ok()?.into_path()))
        .filter(|p| p.extension().is_some_and(|e| e == "transcript"))
        .collect();
    paths.sort();
    paths.iter().map(|p| Fixture::read(p)).collect()
}

/// What readers need beside the bytes, as a run without options gives it.
pub fn with_context<T>(act: impl FnOnce(&Context<'_>) -> T) -> T {
    let (key, names, consumed) = (Key::new(None, false), Names::default(), AtomicU64::new(0));
    act(&Context { key: &key, limits: Limits::default(), names: &names, consumed: &consumed, vantage: None })
}

/// The facts of a transcript.
pub fn exchanges(text: &str) -> Result<Vec<Exchange>, String> {
    let read = with_context(|context| transcript::read(context, &mut text.as_bytes()));
    read.map(|facts| facts.exchanges).map_err(|e| e.to_string())
}

/// The facts of exchanges that were read or made elsewhere.
pub fn digested(vantage: Vantage, raws: &[RawExchange<'_>]) -> Vec<Exchange> {
    with_context(|context| {
        let mut facts = FileFacts { vantage, ..FileFacts::default() };
        raws.iter().for_each(|raw| facts.push(context, raw));
        facts.exchanges
    })
}

/// Reconstructs and judges.
pub fn judge(exchanges: Vec<Exchange>) -> (Capture, Vec<Finding>) {
    let capture = reconstruct::capture(exchanges);
    let found = rules::check(&capture, &Thresholds::default());
    let found = audit::settle(&capture, found);
    (capture, found)
}

/// The rules that were found, each with its severity.
pub fn found(findings: &[Finding]) -> BTreeSet<(String, Severity)> {
    findings.iter().map(|f| (f.rule.to_owned(), f.severity)).collect()
}

/// What is wrong with the findings of a fixture, as lines.
pub fn complaints(fixture: &Fixture, findings: &[Finding]) -> Vec<String> {
    let found = found(findings);
    let missing = fixture.expected.difference(&found).map(|(rule, s)| format!("missing: {rule} {s:?}"));
    let surplus = found.difference(&fixture.expected).map(|(rule, s)| format!("unexpected: {rule} {s:?}"));
    let forbidden =
        found.iter().filter(|(rule, _)| fixture.forbidden.contains(rule)).map(|(rule, _)| format!("forbidden: {rule}"));
    let vague = fixture.details.iter().filter(|(rule, severity, words)| {
        let mut same = findings.iter().filter(|f| f.rule == rule && f.severity == *severity);
        !same.any(|f| words.iter().all(|word| fits(f, word)))
    });
    let vague = vague.map(|(rule, s, words)| format!("otherwise: {rule} {s:?} {}", words.join(" ")));
    missing.chain(surplus).chain(forbidden).chain(vague).collect()
}

/// A word of an expectation: certainty, party, count or sub-kind.
fn fits(finding: &Finding, word: &str) -> bool {
    word == finding.certainty.as_str()
        || word == finding.party.as_str()
        || word.strip_prefix('x').is_some_and(|n| n == finding.count.to_string())
        || finding.kind == Some(word)
}

/// Every exchange of a client's vantage, for tests that ask what changes with it.
pub fn seen_from(mut exchanges: Vec<Exchange>, vantage: Vantage) -> Vec<Exchange> {
    for exchange in &mut exchanges {
        exchange.vantage = vantage;
    }
    exchanges
}
