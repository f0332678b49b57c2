//! Pure parsers: bytes to borrowed values. No I/O, and no word of MCP.

pub mod har_split;
pub mod json;
pub mod sse;
pub mod timestamp;
