//! What is publicly known of the implementations that speak in a session. Display only, never evidence.

use crate::{
    model::{Session, Shape},
    reconstruct::Capture,
};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// A known quirk, as a finding carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Which side is known for it: client or server.
    pub speaker: String,
    /// What is known, in one sentence.
    pub note: String,
    /// A public report of it, as `owner/repo#N`.
    pub report: Option<String>,
    /// The version that mends it.
    pub fixed: Option<String>,
}

/// One entry of the data file.
#[derive(Debug, Deserialize)]
struct Quirk {
    speaker: String,
    name: String,
    #[serde(default)]
    agents: Vec<String>,
    #[serde(default)]
    shapes: Vec<Shape>,
    rule: String,
    kind: Option<String>,
    note: String,
    report: Option<String>,
    fixed: Option<String>,
}

#[derive(Debug, Deserialize)]
struct File {
    quirk: Vec<Quirk>,
}

static QUIRKS: LazyLock<Vec<Quirk>> = LazyLock::new(|| {
    let file: Result<File, _> = toml::from_str(include_str!("quirks.toml"));
    file.map(|f| f.quirk).unwrap_or_default()
});

/// What is known of a session's client or server that fits a finding.
pub fn known(capture: &Capture, session: &Session, rule: &str, kind: Option<&str>) -> Option<Known> {
    let fits =
        |q: &&Quirk| q.rule == rule && (q.kind.is_none() || q.kind.as_deref() == kind) && speaks(capture, session, q);
    QUIRKS.iter().find(fits).map(|q| Known {
        speaker: q.speaker.clone(),
        note: q.note.clone(),
        report: q.report.clone(),
        fixed: q.fixed.clone(),
    })
}

/// The implementation speaks in the session: by its name, by its User-Agent, or by the form of its event ids.
fn speaks(capture: &Capture, session: &Session, quirk: &Quirk) -> bool {
    let named = |of: &Option<crate::model::Implementation>| {
        of.as_ref().is_some_and(|i| i.name.to_lowercase().contains(&quirk.name))
    };
    if quirk.speaker == "server" {
        return named(&session.server) || session.resumptions.iter().any(|r| quirk.shapes.contains(&r.cursor.shape));
    }
    let first = session.exchanges.first().map(|x| capture.exchange(*x));
    let agent = first.and_then(|x| x.headers.user_agent.as_deref()).unwrap_or_default().to_lowercase();
    named(&session.client) || quirk.agents.iter().any(|a| agent.contains(a.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;

    #[test]
    fn every_quirk_names_a_rule_and_says_who_speaks() {
        assert_eq!(QUIRKS.len(), 13);
        for quirk in QUIRKS.iter() {
            assert!(rules::ALL.iter().any(|r| r.id == quirk.rule), "{}", quirk.rule);
            assert!(["client", "server"].contains(&quirk.speaker.as_str()), "{}", quirk.note);
            assert!(quirk.report.as_ref().is_none_or(|r| r.contains('/') && r.contains('#')), "{}", quirk.note);
        }
    }
}
