//! What is read: the formats with how they are recognised and what their recorders cannot show.

use super::{Look, table};
use serde::Serialize;

/// One format.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Format {
    /// Its name, as `--input` takes it.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// How it is recognised.
    pub recognised: &'static str,
    /// What it cannot show.
    pub lacks: &'static str,
}

/// Every format that is read.
pub const ALL: &[Format] = &[
    Format {
        name: "transcript",
        about: "plain text, typed by hand or written by `show --format transcript`",
        recognised: "lines that begin with @ or > METHOD URL",
        lacks: "packets and connections",
    },
    Format {
        name: "rows",
        about: "exchanges as `extract` writes them",
        recognised: "lines that begin with {\"k\":\"",
        lacks: "payloads: facts and digests only",
    },
];

/// The list as a document.
#[derive(Serialize)]
pub struct List {
    schema: &'static str,
    formats: &'static [Format],
}

/// The list as a document.
pub fn list() -> List {
    List { schema: "formats/1", formats: ALL }
}

/// The list as a table.
pub fn render(look: &Look) -> String {
    let mut all = table::new(look, &["format", "what it is", "recognised by", "cannot show"]);
    for format in ALL {
        all.add_row([format.name, format.about, format.recognised, format.lacks]);
    }
    format!("{all}\n")
}
