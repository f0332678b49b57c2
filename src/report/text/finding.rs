//! One finding in the manner of rustc: title, evidence with its facts, notes, help.

use super::super::Look;
use crate::{
    audit::report::{Evidence, Finding},
    redact::{Shortener, escape},
    rules::{Party, Severity},
};
use annotate_snippets::{AnnotationKind, Level, Message, Renderer, Snippet, renderer::DEFAULT_TERM_WIDTH};

/// How many pieces of evidence are shown unless all are asked for.
const MOST: usize = 4;

/// Ends every place name, so that the line and column that the renderer adds can be cut off again: facts are no lines
/// of the file, and a place names its own line where it has one.
const PLACE_ENDS: char = '\u{e000}';

/// The finding as text without a final line feed.
pub fn render(finding: &Finding, short: &Shortener, look: &Look) -> String {
    let clean = |text: &str| escape::terminal(&short.shorten(text)).into_owned();
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let id = finding.kind.as_ref().map_or_else(|| finding.rule.clone(), |kind| format!("{}: {kind}", finding.rule));
    let mut group = level.primary_title(clean(&finding.message)).id(id.clone()).elements([] as [Message<'_>; 0]);
    if look.quiet {
        let place = finding.evidence.first().map(|e| clean(&place(e))).unwrap_or_default();
        return format!("{}[{id}]: {}: {place}", finding.severity.as_str(), clean(&finding.message));
    }
    let most = if look.verbose { usize::MAX } else { MOST };
    for (i, evidence) in finding.evidence.iter().take(most).enumerate() {
        let (source, span) = source(evidence, &clean);
        let kind = if i == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let mark = kind.span(span).label(clean(&evidence.what));
        let path = format!("{}{PLACE_ENDS}", clean(&place(evidence)));
        group = group.element(Snippet::source(source).path(path).line_numbering(false).fold(false).annotation(mark));
    }
    let more = finding.evidence.len().saturating_sub(most);
    if more > 0 {
        group = group.element(Level::NOTE.message(format!("{more} more pieces of evidence: -v shows them")));
    }
    group = group.element(Level::NOTE.message(clean(&about(finding))));
    for assumption in &finding.assumptions {
        group = group.element(Level::NOTE.message(clean(&format!("this assumes: {assumption}"))));
    }
    if !finding.suppresses.is_empty() {
        let rules = finding.suppresses.join(", ");
        group = group.element(Level::NOTE.message(format!("stands for its consequences too: {rules}")));
    }
    if let Some(known) = &finding.known {
        let report = known.report.as_ref().map(|r| format!(" ({r})")).unwrap_or_default();
        let fixed = known.fixed.as_ref().map(|v| format!("; fixed in {v}")).unwrap_or_default();
        group = group.element(Level::NOTE.message(clean(&format!("known: {}{report}{fixed}", known.note))));
    }
    if !finding.remedy.is_empty() {
        group = group.element(Level::HELP.message(clean(&finding.remedy)));
    }
    let renderer = if look.color { Renderer::styled() } else { Renderer::plain() };
    let width = look.width.map_or(DEFAULT_TERM_WIDTH, usize::from);
    cut_columns(&renderer.term_width(width).render(&[group]))
}

/// The facts as source, and the span of the line that the evidence is about.
fn source(evidence: &Evidence, clean: &impl Fn(&str) -> String) -> (String, std::ops::Range<usize>) {
    let about = |fact: &&String| fact.starts_with("data:") || fact.starts_with("last-event-id:");
    let focus = evidence.facts.iter().find(about).or(evidence.facts.first());
    let (mut source, mut span) = (String::new(), 0..0);
    for fact in &evidence.facts {
        if !source.is_empty() {
            source.push('\n');
        }
        let from = source.len();
        source.push_str(&clean(fact));
        if focus.is_some_and(|f| std::ptr::eq(f, fact)) {
            span = from..source.len();
        }
    }
    (source, span)
}

/// `run.har: entry 4, response, event 3, line 12, at 2026-11-30T19:40:01Z`.
fn place(evidence: &Evidence) -> String {
    let part = match evidence.part {
        crate::evidence::Part::Request => "request",
        crate::evidence::Part::Response => "response",
    };
    let mut place = format!("{}: entry {}, {part}", evidence.file, evidence.entry);
    let numbers = [
        (", event ", evidence.event),
        (", line ", evidence.line),
        (", request in frame ", evidence.frame),
        (", TCP stream ", evidence.tcp_stream),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            place.push_str(name);
            place.push_str(&number.to_string());
        }
    }
    if let Some(time) = evidence.time {
        place.push_str(&format!(", {time}"));
    }
    place
}

/// Who, where, what and how often, in one line.
fn about(finding: &Finding) -> String {
    let mut parts = vec![finding.certainty.as_str().to_owned()];
    parts.push(match finding.party {
        Party::Client => "the client's fault".to_owned(),
        Party::Server => "the server's fault".to_owned(),
        Party::Proxy => "an intermediary's fault".to_owned(),
        Party::Unknown => "whose fault is not known".to_owned(),
    });
    parts.extend(finding.session_id.as_ref().or(finding.session.as_ref()).map(|s| format!("session {s}")));
    parts.extend(finding.endpoint.clone());
    if let Some(request) = &finding.request {
        let called: Vec<_> = [&finding.method, &finding.name].into_iter().flatten().map(String::as_str).collect();
        parts.push(format!("request {request} ({})", called.join(" ")));
    }
    parts.extend(finding.stream.as_ref().map(|s| format!("stream {s}")));
    parts.extend(finding.cursor.as_ref().map(|c| format!("cursor {c}")));
    if finding.count > 1 {
        let span = match (finding.first, finding.last) {
            (Some(first), Some(last)) if first != last => format!(" from {first} to {last}"),
            _ => String::new(),
        };
        parts.push(format!("{} times{span}", finding.count));
    }
    parts.join(", ")
}

fn cut_columns(rendered: &str) -> String {
    let mut parts = rendered.split(PLACE_ENDS);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit()));
    }
    out
}
