//! resume-unexpected-status: a resume got neither an event stream nor a refusal that says what to do.

use crate::{
    evidence::Locus,
    model::{Content, EventId, Exchange, HeaderFlags, MediaType, Resumption},
    reconstruct::is_open_stream,
    rules::{Case, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold, case::SECOND},
};
use foldhash::{HashMap, HashSet};

/// The rule.
pub static RULE: Rule = Rule {
    id: "resume-unexpected-status",
    family: Family::Replay,
    summary: "a resume was answered with a status or a content type that it has no meaning for",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[Threshold {
        name: "row",
        default: 3.0,
        about: "5xx or 429 answers in a row to the resumes of one stream from which they are a warning",
    }],
    remedy: "retry with the same cursor, backing off, a bounded number of times; honour Retry-After",
    page: include_str!("resume_unexpected_status.md"),
    check: Check::Session(check),
};

/// What an answer is, where it is none that a resume should get.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Transient,
    Stop,
    Redirect,
    NotAStream,
    Informational,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Stop => "stop",
            Self::Redirect => "redirect",
            Self::NotAStream => "not-a-stream",
            Self::Informational => "informational",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Transient => "which says nothing about the cursor",
            Self::Stop => "which tells an EventSource to stop for good, and an MCP client nothing",
            Self::Redirect => "a redirect, and nothing came of it",
            Self::NotAStream => "with a body that is no event stream: the resume was ignored",
            Self::Informational => "which is no final answer",
        }
    }
}

fn kind(exchange: &Exchange) -> Option<Kind> {
    match exchange.status? {
        // 501 says that there is no stream to get (resume-rejected); a 401 and the like say what to do.
        501 => None,
        429 | 500..=599 => Some(Kind::Transient),
        204 | 205 => Some(Kind::Stop),
        // Followed to a login page or the like: that speaks of the user, not of the cursor.
        302 | 303 if exchange.headers.has(HeaderFlags::LOCATION) => None,
        300..=399 => Some(Kind::Redirect),
        200..=299 if !is_open_stream(exchange) => {
            let streams = matches!(exchange.response.content(), Some(Content::Events(_)));
            let unknown = exchange.headers.has(HeaderFlags::NO_HEADERS);
            (!streams && !unknown).then_some(Kind::NotAStream)
        }
        100..=199 => Some(Kind::Informational),
        _ => None,
    }
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    // The answers to the resumes of each stream, or of each cursor that names none, in order.
    let mut scopes: HashMap<(Option<u32>, Option<EventId>), usize> = HashMap::default();
    let mut by_scope: Vec<Vec<(&Resumption, Option<Kind>)>> = Vec::new();
    for (resumption, exchange) in case.resumes() {
        let scope = (resumption.stream, resumption.stream.is_none().then_some(resumption.cursor.id));
        let at = *scopes.entry(scope).or_insert_with(|| {
            by_scope.push(Vec::new());
            by_scope.len() - 1
        });
        by_scope[at].push((resumption, kind(exchange)));
    }
    let followed = followed(case);
    let least = (case.thresholds.get(&RULE, "row") as usize).max(1);
    for answers in by_scope {
        for run in answers.chunk_by(|a, b| a.1 == b.1) {
            let Some(kind) = run[0].1 else { continue };
            let last = run[run.len() - 1].0;
            // A redirect that was followed to a stream is no fault; nor is one that may still be followed.
            if kind == Kind::Redirect && (followed.contains(&last.exchange) || is_fresh(case, last.exchange)) {
                continue;
            }
            let severity =
                if kind == Kind::Transient && run.len() < least { Severity::Note } else { Severity::Warning };
            found.push(report(case, kind, run, severity));
        }
    }
}

/// How long a client may take to follow a redirect, in microseconds.
const FOLLOWED_WITHIN: i64 = 2 * SECOND;

/// The capture ends so soon after an answer that what the client made of it cannot be seen.
fn is_fresh(case: &Case<'_>, resume: u32) -> bool {
    let exchange = case.exchange(resume);
    let answered = exchange.ended.or(exchange.head).or(exchange.sent);
    answered.zip(case.capture.ends()).is_some_and(|(answered, ends)| ends.since(answered) < FOLLOWED_WITHIN)
}

/// The resumes after which the next one with the same cursor got its stream.
fn followed(case: &Case<'_>) -> HashSet<u32> {
    let all: Vec<_> = case.resumes().collect();
    let mut next: HashMap<EventId, bool> = HashMap::default();
    let mut followed = HashSet::default();
    for (resumption, exchange) in all.into_iter().rev() {
        if next.insert(resumption.cursor.id, is_open_stream(exchange)) == Some(true) {
            followed.insert(resumption.exchange);
        }
    }
    followed
}

fn report(case: &Case<'_>, kind: Kind, run: &[(&Resumption, Option<Kind>)], severity: Severity) -> Finding {
    let (first, last) = (run[0].0, run[run.len() - 1].0);
    let exchange = case.exchange(first.exchange);
    let status = exchange.status.unwrap_or_default();
    let stream = case.meant(first);
    let request = stream.and_then(|(_, s)| case.open_request(s, first.exchange).or(s.requests.first().copied()));
    let html = exchange.headers.content_type == MediaType::Html;
    let proxy = case.capture.is_from_gateway(exchange) || html;
    let times = if run.len() == 1 { String::new() } else { format!(" {} times in a row", run.len()) };
    let message = format!("a resume was answered {status}{times}, {}", kind.words());
    let mut finding = case
        .finding(
            &RULE,
            if proxy { Party::Proxy } else { Party::Server },
            message,
            Locus::response(first.exchange),
            "the answer to the resume",
        )
        .kind(kind.name())
        .of_request(request)
        .of_stream(stream.map(|(number, _)| number))
        .with_cursor(first.cursor.id)
        .severity(severity)
        .counting(run.len(), run.iter().map(|(r, _)| r.exchange));
    if run.len() > 1 {
        finding = finding.and(Locus::response(last.exchange), "the last of them");
    }
    match kind {
        Kind::Transient => finding,
        Kind::Redirect => finding.remedy("serve the stream at the endpoint itself; clients: do not follow blindly"),
        Kind::NotAStream | Kind::Stop | Kind::Informational => finding.remedy(
            "servers: answer an event stream, 400 for a cursor that cannot be replayed, or 405 without streams",
        ),
    }
}
