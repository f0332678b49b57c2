//! Reports and sessions to text: one file a format. Whatever is printed goes through [`crate::redact`] first.

mod caveats;
pub mod formats;
pub mod json;
pub mod ndjson;
pub mod rules;
pub mod sessions;
pub mod table;
pub mod text;
pub mod timeline;
pub mod transcript;

/// How a format for people is to look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// With colours.
    pub color: bool,
    /// As little as possible.
    pub quiet: bool,
    /// Everything there is.
    pub verbose: bool,
    /// Columns of the terminal; none where there is no terminal and lines may be long.
    pub width: Option<u16>,
}

/// `1 finding`, `2 findings`.
fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
