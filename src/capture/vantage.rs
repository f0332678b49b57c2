//! Why is a file believed to have been recorded where it was?

use super::{FileFacts, sniff::Format};
use crate::model::Vantage;

/// What shows the vantage of a file, in words; `asked` is `--vantage`.
pub fn shown_by(format: Format, facts: &FileFacts, asked: Option<Vantage>) -> String {
    if asked.is_some() {
        return "--vantage says so".to_owned();
    }
    if !facts.vantage_shown_by.is_empty() {
        return facts.vantage_shown_by.join("; ");
    }
    let recorder = facts.recorder.as_deref();
    let known = facts.vantage != Vantage::Unknown;
    match format {
        Format::Har | Format::HarLines => match (recorder, known) {
            (Some(recorder), true) => format!("{recorder} records there"),
            (Some(recorder), false) => format!("where {recorder} records is not known"),
            (None, _) => "the file names no recorder".to_owned(),
        },
        Format::Flows | Format::Saz => "the recorder is a proxy".to_owned(),
        Format::CurlInclude | Format::CurlVerbose | Format::CurlTrace | Format::CurlTraceAscii => {
            "curl is the client".to_owned()
        }
        Format::CdpLog => "the browser is the client".to_owned(),
        Format::Mcpsnoop => "the recorder stands between client and server".to_owned(),
        Format::AccessLog => "such logs are written by what receives for the server".to_owned(),
        Format::Pcap | Format::Pcapng => "no connection of it carried HTTP".to_owned(),
        Format::TsharkJson | Format::TsharkEk => {
            "hop limits and handshakes are not looked at in this format".to_owned()
        }
        Format::Transcript if known => "the transcript says so".to_owned(),
        Format::Transcript => "the transcript does not say".to_owned(),
        Format::Rows => "the rows say so".to_owned(),
        _ => "the format does not tell".to_owned(),
    }
}
