//! Documents as JSON: indented, and safe to look at in a terminal.

use crate::redact::escape;
use serde::Serialize;

/// A document with its final line feed.
///
/// # Errors
/// None of the documents of this program can fail to be written; the error is that of the serializer.
pub fn render(document: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut text = escape::json(serde_json::to_string_pretty(document)?);
    text.push('\n');
    Ok(text)
}
