//! Files to exchanges: one file a format, each found by content, all ending in the same digestion.

mod encoded;
mod input;
mod raw;
#[cfg(test)]
mod specimen;
mod whole;

pub mod curl;
pub mod digest;
pub mod flows;
pub mod har;
pub mod pcap;
pub mod rows;
pub mod sniff;
pub mod sse;
pub mod transcript;

pub use input::{Bytes, CaveatCount, Context, FileFacts, Limits, ReadError};
pub use raw::{Headers, RawBody, RawExchange, RecordedEvent, header};
