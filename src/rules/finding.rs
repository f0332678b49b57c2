//! What a rule says: a finding with its evidence, not yet resolved to files and names.

use crate::{evidence::Locus, model::EventId};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Information.
    Note,
    /// A SHOULD violated, an outcome that needs action, or an error with incomplete proof.
    Warning,
    /// A wrong or lost result, a double execution, or a MUST violated and proven.
    Error,
}

impl Severity {
    /// Its name, as it is serialised.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// How sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// It rests on several assumptions. Never an error.
    Possible,
    /// It rests on one assumption, which the finding names.
    Likely,
    /// The bytes prove it.
    Certain,
}

impl Certainty {
    /// Its name, as it is serialised.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Party {
    /// The client.
    Client,
    /// The server.
    Server,
    /// Something between the two.
    Proxy,
    /// The capture does not tell.
    Unknown,
}

impl Party {
    /// Its name, as it is serialised.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Proxy => "proxy",
            Self::Unknown => "unknown",
        }
    }
}

/// One piece of evidence: where, and what stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Where it stands.
    pub at: Locus,
    /// What stands there, in words and facts; never captured text that is not redacted.
    pub what: Cow<'static, str>,
}

/// One occurrence of a fault. It cannot be built without primary evidence.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// The rule's sub-kind.
    pub kind: Option<&'static str>,
    /// How bad it is.
    pub severity: Severity,
    /// How sure it is.
    pub certainty: Certainty,
    /// Whose fault it is.
    pub party: Party,
    /// One sentence.
    pub message: String,
    /// Index of the session in the run.
    pub session: Option<u32>,
    /// Index of the request in the session.
    pub request: Option<u32>,
    /// Index of the stream in the session.
    pub stream: Option<u32>,
    /// The cursor that it is about.
    pub cursor: Option<EventId>,
    /// How many occurrences it groups.
    pub count: u32,
    /// Evidence, the primary piece first; never empty.
    pub evidence: Vec<Evidence>,
    /// What it takes for granted.
    pub assumptions: Vec<Cow<'static, str>>,
    /// What to do, where that depends on the case; else the rule's own remedy holds.
    pub remedy: Option<Cow<'static, str>>,
    /// The exchanges that it is about, for suppression (indices in the run, sorted).
    pub exchanges: Vec<u32>,
    /// The rules of findings that it suppressed.
    pub suppressed: Vec<&'static str>,
}

impl Finding {
    /// A finding with the rule's default severity, certain, and its primary evidence.
    pub fn new(rule: &super::Rule, party: Party, message: String, evidence: Evidence) -> Self {
        Self {
            rule: rule.id,
            kind: None,
            severity: rule.severity,
            certainty: Certainty::Certain,
            party,
            message,
            session: None,
            request: None,
            stream: None,
            cursor: None,
            count: 1,
            exchanges: vec![evidence.at.exchange],
            evidence: vec![evidence],
            assumptions: Vec::new(),
            remedy: None,
            suppressed: Vec::new(),
        }
    }

    /// Names the session.
    pub fn in_session(mut self, session: u32) -> Self {
        self.session = Some(session);
        self
    }

    /// Names the request.
    pub fn of_request(mut self, request: impl Into<Option<u32>>) -> Self {
        self.request = request.into();
        self
    }

    /// Names the stream.
    pub fn of_stream(mut self, stream: impl Into<Option<u32>>) -> Self {
        self.stream = stream.into();
        self
    }

    /// Names the cursor.
    pub fn with_cursor(mut self, cursor: impl Into<Option<EventId>>) -> Self {
        self.cursor = cursor.into();
        self
    }

    /// Names the sub-kind.
    pub fn kind(mut self, kind: &'static str) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Sets the severity.
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Lowers the certainty to this, with the assumption that makes it so.
    pub fn assuming(mut self, certainty: Certainty, assumption: impl Into<Cow<'static, str>>) -> Self {
        self.certainty = self.certainty.min(certainty);
        self.assumptions.push(assumption.into());
        self
    }

    /// Adds evidence.
    pub fn and(mut self, at: Locus, what: impl Into<Cow<'static, str>>) -> Self {
        self.exchanges.push(at.exchange);
        self.evidence.push(Evidence { at, what: what.into() });
        self
    }

    /// Says how many occurrences it groups, and over which exchanges.
    pub fn counting(mut self, count: usize, exchanges: impl IntoIterator<Item = u32>) -> Self {
        self.count = u32::try_from(count).unwrap_or(u32::MAX);
        self.exchanges.extend(exchanges);
        self
    }

    /// Says what to do in this case.
    pub fn remedy(mut self, remedy: impl Into<Cow<'static, str>>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}
