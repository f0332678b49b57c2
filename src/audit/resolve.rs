//! From findings, which hold indices, to the report, which holds names and places.

use super::{
    IdTexts, Judged, fingerprint, places, quirks,
    report::{self, Caveat, Input, Report, RunFacts, SCHEMA, Severities, Status, Summary, Tool, Verdicts},
    stamp::Stamp,
};
use crate::{
    capture::CaveatCount,
    model::{Session, Time, Verdict},
    reconstruct::Capture,
    redact::Key,
    rules::{Finding, Rule},
};
use std::collections::BTreeMap;

/// One file of a run, and what its reader missed in it.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file.
    pub input: Input,
    /// Its caveats, by name.
    pub caveats: BTreeMap<&'static str, CaveatCount>,
}

/// What the report says of a run beside its findings.
pub struct Run<'r> {
    /// The rules that ran: families and remedies are looked up here.
    pub rules: &'r [&'static Rule],
    /// What the user asked for, as far as it changes the findings.
    pub facts: RunFacts,
    /// The key of the pseudonyms; says whether real ids are shown.
    pub key: &'r Key,
    /// The files; the source of an exchange is an index into them.
    pub sources: &'r [Source],
    /// Caveats of no file: names of what a directory held beside captures.
    pub caveats: &'r BTreeMap<&'static str, CaveatCount>,
}

impl Run<'_> {
    /// The names of the files.
    pub fn files(&self) -> Vec<String> {
        self.sources.iter().map(|s| s.input.file.clone()).collect()
    }
}

/// Resolves settled findings into the report, in the order of the contract.
pub fn report(judged: &[Judged], run: &Run<'_>) -> Report {
    let files = run.files();
    let mut findings = Vec::new();
    for Judged { capture, findings: settled } in judged {
        let texts = IdTexts::of(run.key.show_ids, &capture.exchanges);
        let resolver = Resolver { capture, files: &files, texts: &texts, run };
        findings.extend(settled.iter().map(|f| resolver.finding(f)));
    }
    findings.sort_by_cached_key(|(start, f)| {
        let time = f.first.map(|s| s.0);
        let place = (f.rule.clone(), f.request.clone(), f.fingerprint.clone());
        (start.is_none(), *start, time.is_none(), time, place)
    });
    let findings: Vec<_> = findings.into_iter().map(|(_, finding)| finding).collect();
    let captures: Vec<_> = judged.iter().map(|j| &j.capture).collect();
    let caveats = caveats(&captures, run);
    Report {
        schema: SCHEMA.to_owned(),
        tool: Tool { name: env!("CARGO_PKG_NAME").to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        run: run.facts.clone(),
        inputs: run.sources.iter().map(|s| s.input.clone()).collect(),
        summary: summary(&captures, run, &findings, caveats.len()),
        findings,
        incidents: Vec::new(),
        caveats,
    }
}

struct Resolver<'r> {
    capture: &'r Capture,
    files: &'r [String],
    texts: &'r IdTexts,
    run: &'r Run<'r>,
}

impl Resolver<'_> {
    /// The finding with the start of its session, which orders it.
    fn finding(&self, finding: &Finding) -> (Option<Time>, report::Finding) {
        let rule = self.run.rules.iter().find(|r| r.id == finding.rule);
        let session = finding.session.and_then(|i| self.capture.sessions.get(i as usize));
        let request = session.and_then(|s| s.requests.get(finding.request? as usize));
        let primary = finding.evidence.first().and_then(|e| self.capture.exchanges.get(e.at.exchange as usize));
        let times = self.times(finding);
        let cursor = finding.cursor.map(|id| id.to_string());
        let mut out = report::Finding {
            rule: finding.rule.to_owned(),
            kind: finding.kind.map(str::to_owned),
            family: rule.map(|r| r.family.as_str().to_owned()).unwrap_or_default(),
            severity: finding.severity,
            certainty: finding.certainty,
            party: finding.party,
            message: finding.message.clone(),
            session: session.map(pseudonym),
            session_id: session.and_then(|s| real_id(self.run.key, s)),
            endpoint: session.map(|s| &s.endpoint).or(primary.map(|e| &e.endpoint)).map(ToString::to_string),
            era: request
                .map(|r| r.era)
                .or(session.map(|s| s.era))
                .or_else(|| primary.and_then(crate::model::Exchange::declared_era)),
            request: request.map(|r| r.id.to_string()),
            occurrence: request.map(|r| r.occurrence),
            direction: request.map(|r| r.direction),
            method: request.map(|r| r.method.to_string()),
            name: request.and_then(|r| r.name.as_deref()).map(str::to_owned),
            stream: session.and_then(|s| Some(s.streams.get(finding.stream? as usize)?.label.clone())),
            cursor: finding.cursor.map(|id| self.texts.name(id)),
            count: finding.count,
            first: times.map(|(first, _)| Stamp(first)),
            last: times.map(|(_, last)| Stamp(last)),
            evidence: finding
                .evidence
                .iter()
                .filter_map(|e| places::evidence(self.capture, self.files, e.at, &e.what))
                .collect(),
            assumptions: finding.assumptions.iter().map(ToString::to_string).collect(),
            suppresses: finding.suppressed.iter().map(ToString::to_string).collect(),
            remedy: finding.remedy.as_deref().or(rule.map(|r| r.remedy)).unwrap_or_default().to_owned(),
            known: session.and_then(|s| quirks::known(self.capture, s, finding.rule, finding.kind)),
            fingerprint: String::new(),
            signature: String::new(),
        };
        out.fingerprint = fingerprint::fingerprint(&out, cursor.as_deref());
        out.signature = fingerprint::signature(&out);
        (session.and_then(|s| s.started), out)
    }

    /// From the first to the last moment of its evidence or, where that has no times, of its exchanges.
    fn times(&self, finding: &Finding) -> Option<(Time, Time)> {
        let exchange = |i: u32| self.capture.exchanges.get(i as usize);
        let span = |times: &mut dyn Iterator<Item = Time>| {
            times.fold(None, |span: Option<(Time, Time)>, t| {
                Some(span.map_or((t, t), |(first, last)| (first.min(t), last.max(t))))
            })
        };
        span(&mut finding.evidence.iter().filter_map(|e| places::time(self.capture, e.at)))
            .or_else(|| span(&mut finding.exchanges.iter().filter_map(|i| exchange(*i)?.sent)))
    }
}

/// The pseudonym of a session.
pub fn pseudonym(session: &Session) -> String {
    format!("s_{:016x}", session.label)
}

/// The real id of a session, where the user asked for real ids.
pub fn real_id(key: &Key, session: &Session) -> Option<String> {
    session.id.as_ref().filter(|_| key.show_ids)?.text.as_deref().map(str::to_owned)
}

fn summary(captures: &[&Capture], run: &Run<'_>, findings: &[report::Finding], caveats: usize) -> Summary {
    let sessions = || captures.iter().flat_map(|c| &c.sessions);
    let each = |count: fn(&Session) -> usize| sessions().map(count).sum::<usize>() as u64;
    let mut verdicts = Verdicts::default();
    for resumption in sessions().flat_map(|s| &s.resumptions) {
        *match resumption.verdict {
            Verdict::Valid => &mut verdicts.valid,
            Verdict::Invalid => &mut verdicts.invalid,
            Verdict::Failed => &mut verdicts.failed,
            Verdict::Rejected => &mut verdicts.rejected,
            Verdict::Polling => &mut verdicts.polling,
            Verdict::Open => &mut verdicts.open,
            Verdict::Unknown => &mut verdicts.unknown,
        } += 1;
    }
    Summary {
        files: run.sources.iter().filter(|s| s.input.status != Status::Failed).count() as u64,
        exchanges: captures.iter().map(|c| c.exchanges.len() as u64).sum(),
        sessions: each(|_| 1),
        streams: each(|s| s.streams.len()),
        requests: each(|s| s.requests.len()),
        resumptions: each(|s| s.resumptions.len()),
        verdicts,
        findings: Severities::count(findings),
        caveats: caveats as u64,
    }
}

/// Caveats of readers and of reconstruction, by name and then in the order of files; those of no file last.
pub fn caveats(captures: &[&Capture], run: &Run<'_>) -> Vec<Caveat> {
    let files = run.files();
    let mut all: BTreeMap<(&str, usize), (u64, &str)> = BTreeMap::new();
    let mut count = |name, source, count, message| {
        let entry = all.entry((name, source)).or_insert((0, message));
        entry.0 += count;
    };
    for (source, facts) in run.sources.iter().enumerate() {
        for (name, caveat) in &facts.caveats {
            count(*name, source, caveat.count, &*caveat.message);
        }
    }
    for ((name, source), caveat) in captures.iter().flat_map(|c| &c.caveats) {
        count(*name, *source as usize, caveat.count, &*caveat.message);
    }
    for (name, caveat) in run.caveats {
        count(*name, usize::MAX, caveat.count, &*caveat.message);
    }
    all.into_iter()
        .map(|((name, source), (count, message))| Caveat {
            caveat: name.to_owned(),
            file: files.get(source).cloned(),
            count,
            message: message.to_owned(),
        })
        .collect()
}
