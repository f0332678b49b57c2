//! The document of `check`, schema `report/1`: what every report format is made from.
//!
//! Members and their order are a promise (README, "The JSON report"); they may be added to, never renamed.

use super::{incident::Incident, quirks::Known, stamp::Stamp};
use crate::{
    evidence::Part,
    model::{Direction, Era, Vantage},
    rules::{Certainty, Party, Severity},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the schema.
pub const SCHEMA: &str = "report/1";

/// One run's report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// What made the report.
    pub tool: Tool,
    /// How it was asked to.
    pub run: RunFacts,
    /// What was read, in the order of reading.
    pub inputs: Vec<Input>,
    /// Everything counted.
    pub summary: Summary,
    /// What is wrong, in the order of the contract.
    pub findings: Vec<Finding>,
    /// What the capture does not show.
    pub caveats: Vec<Caveat>,
    /// Findings of one cause, together; each is among the findings, too.
    #[serde(default)]
    pub incidents: Vec<Incident>,
}

/// The program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What a run was asked to do, as far as it changes the findings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Ids of the rules whose findings are reported.
    pub rules: Vec<String>,
    /// Thresholds that differ from their defaults, by `rule.name`.
    pub thresholds: BTreeMap<String, f64>,
    /// `default`, or a digest that names the key of the pseudonyms.
    pub key: String,
    /// `I/N` where the run kept one share of the sessions only.
    pub shard: Option<String>,
}

/// How the reading of a file went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// To its end.
    Read,
    /// What could be salvaged of it; a caveat says where it stops.
    Partial,
    /// A capture that could not be read, or a named input that is none.
    Failed,
}

/// One file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Its name; a member of an archive is `archive!member`.
    pub file: String,
    /// Its format.
    pub format: Option<String>,
    /// The recorder, as the file names it.
    pub recorder: Option<String>,
    /// From where the recorder saw the traffic.
    pub vantage: Vantage,
    /// How many HTTP exchanges it holds.
    pub exchanges: u64,
    /// How the reading went.
    pub status: Status,
    /// Why it failed.
    pub error: Option<String>,
}

/// Everything counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Files that were read.
    pub files: u64,
    /// Exchanges that are MCP; two recordings of one exchange count once.
    pub exchanges: u64,
    /// Sessions.
    pub sessions: u64,
    /// Streams, over all their connections.
    pub streams: u64,
    /// Requests in both directions.
    pub requests: u64,
    /// Requests that carried `Last-Event-ID`.
    pub resumptions: u64,
    /// What the resumptions were.
    pub verdicts: Verdicts,
    /// The findings of this report by severity.
    pub findings: Severities,
    /// Shortcomings of the capture: how many kinds, over all files.
    pub caveats: u64,
}

/// Resumptions by verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdicts {
    /// They continued their stream.
    pub valid: u64,
    /// The guard refuses them, or what they brought belongs elsewhere.
    pub invalid: u64,
    /// They brought nothing.
    pub failed: u64,
    /// The server refused them.
    pub rejected: u64,
    /// The server invited to come again.
    pub polling: u64,
    /// They had not ended and brought nothing yet.
    pub open: u64,
    /// The capture does not tell.
    pub unknown: u64,
}

impl Verdicts {
    /// The counts with their names, in the order of the schema.
    pub fn named(&self) -> [(&'static str, u64); 7] {
        [
            ("valid", self.valid),
            ("invalid", self.invalid),
            ("failed", self.failed),
            ("rejected", self.rejected),
            ("polling", self.polling),
            ("open", self.open),
            ("unknown", self.unknown),
        ]
    }
}

/// Findings by severity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Severities {
    /// Errors.
    pub error: u64,
    /// Warnings.
    pub warning: u64,
    /// Notes.
    pub note: u64,
}

impl Severities {
    /// Counts the findings of a report.
    pub fn count(findings: &[Finding]) -> Self {
        let of = |s| findings.iter().filter(|f| f.severity == s).count() as u64;
        Self { error: of(Severity::Error), warning: of(Severity::Warning), note: of(Severity::Note) }
    }

    /// All of them.
    pub fn total(&self) -> u64 {
        self.error + self.warning + self.note
    }
}

/// One finding, resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule's id.
    pub rule: String,
    /// The rule's sub-kind.
    pub kind: Option<String>,
    /// The rule's family.
    pub family: String,
    /// How bad it is.
    pub severity: Severity,
    /// How sure it is.
    pub certainty: Certainty,
    /// Whose fault it is.
    pub party: Party,
    /// One sentence.
    pub message: String,
    /// The session's pseudonym.
    pub session: Option<String>,
    /// The real session id, where the user asked for real ids.
    pub session_id: Option<String>,
    /// Scheme, authority and path.
    pub endpoint: Option<String>,
    /// The revision that holds.
    pub era: Option<Era>,
    /// The JSON-RPC id as JSON text.
    pub request: Option<String>,
    /// How many requests of the same id and direction came before it.
    pub occurrence: Option<u32>,
    /// Who sent the request.
    pub direction: Option<Direction>,
    /// The request's method.
    pub method: Option<String>,
    /// The tool or prompt that it names.
    pub name: Option<String>,
    /// The stream's label within the session.
    pub stream: Option<String>,
    /// The cursor's pseudonym, or its text where the user asked for real ids.
    pub cursor: Option<String>,
    /// How many occurrences it groups.
    pub count: u32,
    /// When it was first seen.
    pub first: Option<Stamp>,
    /// When it was last seen.
    pub last: Option<Stamp>,
    /// Where it was seen, the primary piece first.
    pub evidence: Vec<Evidence>,
    /// What it takes for granted.
    pub assumptions: Vec<String>,
    /// Rules whose findings it makes superfluous here.
    pub suppresses: Vec<String>,
    /// What to do.
    pub remedy: String,
    /// Names this occurrence.
    pub fingerprint: String,
    /// Names this kind of fault wherever it occurs.
    pub signature: String,
    /// What is publicly known of the party at fault.
    #[serde(default)]
    pub known: Option<Known>,
}

/// One piece of evidence, resolved to a place that a person can open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The file.
    pub file: String,
    /// Ordinal of the exchange within the file, from 0.
    pub entry: u32,
    /// The half of the exchange.
    pub part: Part,
    /// Ordinal of the SSE block within the body, from 0.
    pub event: Option<u32>,
    /// The block's first line within the decoded body, from 1.
    pub line: Option<u32>,
    /// The block's half-open range in the decoded body.
    pub bytes: Option<[u32; 2]>,
    /// Offset of the entry in the unpacked file.
    pub offset: Option<u64>,
    /// The packet that begins the request, as Wireshark numbers it.
    pub frame: Option<u32>,
    /// The TCP connection, as Wireshark numbers it.
    pub tcp_stream: Option<u32>,
    /// When it was there, as well as the recorder says.
    pub time: Option<Stamp>,
    /// What it is evidence of.
    pub what: String,
    /// What stands there, in facts: one line each.
    #[serde(default)]
    pub facts: Vec<String>,
}

/// A shortcoming of the capture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caveat {
    /// Its name.
    pub caveat: String,
    /// The file that it concerns.
    pub file: Option<String>,
    /// How often.
    pub count: u64,
    /// What it means.
    pub message: String,
}
