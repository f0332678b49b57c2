//! Which findings are reported: never what is reconstructed, and after suppression.

use super::{
    report::{Finding, Report, Severities},
    run::Judged,
};
use crate::{
    audit::stamp::Stamp,
    redact::Key,
    rules::{Certainty, Family, Rule, Severity},
};

/// What the user chose to see.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Rules or families to report; all where empty.
    pub select: Vec<String>,
    /// Rules or families to leave out; wins over `select`.
    pub ignore: Vec<String>,
    /// The least severity.
    pub min_severity: Option<Severity>,
    /// The least certainty.
    pub min_certainty: Option<Certainty>,
    /// A session: its pseudonym or the beginning of it, or its real id.
    pub session: Option<String>,
    /// A pattern of endpoints, with `*` and `?`.
    pub endpoint: Option<String>,
    /// Leaves out findings that were over before.
    pub since: Option<Stamp>,
    /// Leaves out findings that began later.
    pub until: Option<Stamp>,
}

impl Filter {
    /// Checks the names of rules and families.
    ///
    /// # Errors
    /// Names the first unknown one, and what it may have been meant to be.
    pub fn check(&self, rules: &[&Rule]) -> Result<(), String> {
        for name in self.select.iter().chain(&self.ignore) {
            let known = || Family::ALL.iter().map(|f| f.as_str()).chain(rules.iter().map(|r| r.id));
            if !known().any(|k| k == name) {
                let hint = nearest(name, known()).map(|k| format!("; did you mean '{k}'?")).unwrap_or_default();
                return Err(format!("no rule or family is called '{name}'{hint}"));
            }
        }
        Ok(())
    }

    /// The ids of the rules that are reported.
    pub fn rules(&self, rules: &[&Rule]) -> Vec<String> {
        rules.iter().filter(|r| self.takes(r.id, r.family.as_str())).map(|r| r.id.to_owned()).collect()
    }

    /// Leaves out of a report what was not chosen, and counts anew.
    pub fn apply(&self, report: &mut Report, key: &Key) {
        report.findings.retain(|finding| self.keeps(finding, key));
        report.summary.findings = Severities::count(&report.findings);
    }

    /// The options that name sessions or endpoints of which the captures have none: mistyped, as a rule.
    pub fn unmatched<'f>(&'f self, judged: &[Judged], key: &Key) -> Vec<(&'static str, &'f str)> {
        let sessions = || judged.iter().flat_map(|j| &j.capture.sessions);
        let session = self
            .session
            .as_deref()
            .filter(|meant| !sessions().any(|s| is_session(meant, &format!("s_{:016x}", s.label), key)));
        let endpoint = self.endpoint.as_deref().filter(|pattern| !sessions().any(|s| glob(pattern, &s.endpoint)));
        session.map(|s| ("--session", s)).into_iter().chain(endpoint.map(|e| ("--endpoint", e))).collect()
    }

    fn takes(&self, rule: &str, family: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|n| n == rule || n == family);
        (self.select.is_empty() || named(&self.select)) && !named(&self.ignore)
    }

    fn keeps(&self, finding: &Finding, key: &Key) -> bool {
        self.takes(&finding.rule, &finding.family)
            && self.min_severity.is_none_or(|least| finding.severity >= least)
            && self.min_certainty.is_none_or(|least| finding.certainty >= least)
            && self.session.as_deref().is_none_or(|s| finding.session.as_deref().is_some_and(|f| is_session(s, f, key)))
            && self.endpoint.as_deref().is_none_or(|p| finding.endpoint.as_deref().is_some_and(|e| glob(p, e)))
            && self.since.is_none_or(|since| finding.last.is_some_and(|last| last >= since))
            && self.until.is_none_or(|until| finding.first.is_some_and(|first| first <= until))
    }
}

/// A session's pseudonym is the one meant: by its beginning, or by the real id that it stands for.
pub fn is_session(meant: &str, pseudonym: &str, key: &Key) -> bool {
    (meant.starts_with("s_") && pseudonym.starts_with(meant))
        || pseudonym == format!("s_{:016x}", key.hash(b's', meant.as_bytes()))
}

/// A pattern covers a text: `*` stands for any characters, `?` for one; everything else for itself.
pub fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            // The last star takes one character more.
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (p, t) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// The known name that is closest to a mistyped one, if one is close.
pub fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let limit = (name.chars().count() / 3).max(1);
    known.map(|k| (distance(name, k), k)).filter(|(d, _)| *d <= limit).min().map(|(_, k)| k)
}

/// How many insertions, deletions, replacements and neighbour swaps lie between two names.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = [vec![0; b.len() + 1], (0..=b.len()).collect::<Vec<_>>(), vec![0; b.len() + 1]];
    for i in 1..=a.len() {
        rows[2][0] = i;
        for j in 1..=b.len() {
            let replaced = rows[1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[1][j] + 1).min(rows[2][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[0][j - 2] + 1);
            }
            rows[2][j] = best;
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_what_its_stars_allow() {
        for (pattern, text, covered) in [
            ("http://localhost:*/mcp", "http://localhost:3000/mcp", true),
            ("*/mcp", "http://localhost:3000/mcp", true),
            ("*/mcp", "http://localhost:3000/mcp2", false),
            ("*a*b", "aab", true),
            ("?", "", false),
            ("", "", true),
            ("***", "x", true),
        ] {
            assert_eq!(glob(pattern, text), covered, "{pattern} {text}");
        }
    }

    #[test]
    fn a_mistyped_name_finds_its_neighbour() {
        let known = ["resume-after-terminal", "stale-cursor", "resume"];
        assert_eq!(nearest("resume-after-termnial", known.into_iter()), Some("resume-after-terminal"));
        assert_eq!(nearest("resmue", known.into_iter()), Some("resume"));
        assert_eq!(nearest("banana", known.into_iter()), None);
        assert_eq!(distance("ca", "abc"), 3);
    }

    #[test]
    fn a_session_is_found_by_pseudonym_by_its_beginning_and_by_real_id() {
        let key = Key::new(None, false);
        let pseudonym = format!("s_{:016x}", key.hash(b's', b"real"));
        assert!(is_session(&pseudonym, &pseudonym, &key));
        assert!(is_session(&pseudonym[..10], &pseudonym, &key));
        assert!(is_session("real", &pseudonym, &key));
        assert!(is_session("s_", &pseudonym, &key));
        assert!(!is_session("other", &pseudonym, &key));
    }
}
