//! One incident: its headline, its course, what it touched, and what to do.

use super::super::Look;
use crate::{
    audit::incident::{Incident, Touched},
    redact::{Shortener, escape},
};
use std::fmt::Write as _;

/// The incident as text, with a final line feed.
pub fn render(incident: &Incident, short: &Shortener, look: &Look) -> String {
    let clean = |text: &str| escape::terminal(&short.shorten(text)).into_owned();
    let mut out = format!("incident: {}\n", clean(&incident.headline));
    let session = incident.session.as_deref().map_or_else(String::new, |s| format!("session {s}, "));
    let span = match (incident.first, incident.last) {
        (Some(first), Some(last)) => format!("{first} to {last}, "),
        _ => String::new(),
    };
    let _ = writeln!(out, "  {}", clean(&format!("{session}{span}{} findings", incident.findings.len())));
    if look.quiet {
        return out;
    }
    for step in &incident.course {
        let time = step.time.map_or_else(|| "-".to_owned(), |t| t.to_string());
        let _ = writeln!(out, "  {time}  {}", clean(&format!("{} ({}: entry {})", step.what, step.file, step.entry)));
    }
    for (what, touched) in
        [("may have run twice", &incident.blast_radius.repeated), ("answers lost", &incident.blast_radius.lost)]
    {
        if !touched.is_empty() {
            let names: Vec<String> = touched.iter().map(name).collect();
            let _ = writeln!(out, "  {what}: {}", clean(&names.join(", ")));
        }
    }
    let _ = writeln!(out, "  help: {}", clean(&incident.remedy));
    out
}

fn name(touched: &Touched) -> String {
    let words = [touched.method.as_deref(), touched.name.as_deref()];
    let words: Vec<&str> = words.into_iter().flatten().collect();
    format!("request {} ({})", touched.request, words.join(" "))
}
