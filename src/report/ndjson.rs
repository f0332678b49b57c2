//! The report as NDJSON: a head, then findings, caveats and the summary, one object a line.

use crate::{
    audit::report::{Input, Report, RunFacts, Tool},
    redact::escape,
};
use serde::Serialize;

#[derive(Serialize)]
struct Line<'a, T> {
    r#type: &'static str,
    #[serde(flatten)]
    object: &'a T,
}

#[derive(Serialize)]
struct Head<'a> {
    schema: &'a str,
    tool: &'a Tool,
    run: &'a RunFacts,
    inputs: &'a [Input],
}

/// The report, in the order of its JSON.
///
/// # Errors
/// None of the documents of this program can fail to be written; the error is that of the serializer.
pub fn render(report: &Report) -> Result<String, serde_json::Error> {
    let mut out = String::new();
    let Report { schema, tool, run, inputs, summary, findings, incidents, caveats } = report;
    line(&mut out, "head", &Head { schema, tool, run, inputs })?;
    for finding in findings {
        line(&mut out, "finding", finding)?;
    }
    for incident in incidents {
        line(&mut out, "incident", incident)?;
    }
    for caveat in caveats {
        line(&mut out, "caveat", caveat)?;
    }
    line(&mut out, "summary", summary)?;
    Ok(out)
}

fn line(out: &mut String, r#type: &'static str, object: &impl Serialize) -> Result<(), serde_json::Error> {
    out.push_str(&escape::json(serde_json::to_string(&Line { r#type, object })?));
    out.push('\n');
    Ok(())
}
