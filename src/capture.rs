//! Files to exchanges: one file a format, each found by content, all ending in the same digestion.

mod encoded;
mod input;
mod raw;
#[cfg(test)]
mod specimen;
mod whole;

pub mod curl;
pub mod flows;
pub mod sniff;

pub mod digest;
pub mod pcap;
pub mod rows;
pub mod transcript;
pub mod har;

pub use input::{Bytes, CaveatCount, Context, FileFacts, Limits, ReadError};
pub use raw::{Headers, RawBody, RawExchange, RecordedEvent, header};
