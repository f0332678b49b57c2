//! `lastevent` reads captured HTTP traffic, reconstructs MCP sessions, streams and requests, and reports what went wrong.
#![doc = ""]

pub mod audit;
pub mod capture;
pub mod cli;
pub mod evidence;
pub mod guard;
pub mod model;
pub mod reconstruct;
pub mod redact;
pub mod report;
pub mod rules;
pub mod wire;
