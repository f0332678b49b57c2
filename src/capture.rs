//! Files to exchanges: one file a format, each found by content, all ending in the same digestion.

mod digestion;
mod encoded;
mod input;
mod message_body;
mod raw;
#[cfg(test)]
mod specimen;
mod whole;

pub mod cdp;
pub mod container;
pub mod curl;
pub mod digest;
pub mod flows;
pub mod har;
pub mod ndjson;
pub mod pcap;
pub mod read;
pub mod rows;
pub mod saz;
pub mod sniff;
pub mod sse;
pub mod transcript;
pub mod tshark;
pub mod vantage;
pub mod walk;

pub use input::{Bytes, CaveatCount, Context, FileFacts, Limits, ReadError};
pub use raw::{Headers, RawBody, RawExchange, RecordedEvent, header};
