//! Pure parsers: bytes to borrowed values. No I/O, and no word of MCP.

pub mod coding;
pub mod har_split;
pub mod hpack;
pub mod http1;
pub mod http2;
pub mod ip;
pub mod json;
pub mod link;
pub mod sse;
pub mod tcp;
pub mod timestamp;
pub mod tnetstring;
