//! Findings become a report: resolved to files and names, filtered, compared with a baseline.

pub mod baseline;
pub mod facts;
pub mod filter;
pub mod fingerprint;
pub mod gate;
pub mod incident;
pub mod places;
pub mod quirks;
pub mod report;
mod resolve;
mod run;
mod settle;
pub mod stamp;
mod texts;

pub use resolve::{Run, Source, caveats, pseudonym, real_id, report};
pub use run::{Judged, captures, judge};
pub use settle::settle;
pub use texts::IdTexts;
