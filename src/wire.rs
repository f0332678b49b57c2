//! Pure parsers: bytes to borrowed values. No I/O, and no word of MCP.

pub mod json;
pub mod sse;
pub mod coding;
pub mod http1;
pub mod ip;
pub mod link;
pub mod tcp;
