//! The way through the document around the entries: from its first byte to them, and from them to its last byte.

use super::{Fault, Scalar, Scanner};

/// Where in a document to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// At its first byte.
    Start,
    /// Behind the array of entries.
    BehindEntries {
        /// The document is wrapped in a function call (JSONP).
        wrapped: bool,
    },
}

/// Where the walk through a document ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// At an array of entries: the offset of the first byte behind its bracket.
    Entries(usize),
    /// At the end of the document: the offset of the first byte behind it.
    End(usize),
    /// At the end of a document that has no member `log`.
    NoLog,
    /// At the end of a document whose log has no array of entries.
    NoEntries,
}

/// What stands around the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outline<'t> {
    /// Where the walk ended.
    pub found: Found,
    /// `creator.name`.
    pub name: Scalar<'t>,
    /// `creator.version`.
    pub version: Scalar<'t>,
    /// The document is wrapped in a function call (JSONP).
    pub wrapped: bool,
}

/// Walks through a document, from its start to the entries or from behind them to the end.
///
/// A byte order mark, blanks and NUL bytes may precede the document, and a function call may wrap it.
///
/// # Errors
///
/// The document is malformed on the way, or ends.
pub fn outline(text: &[u8], resume: Resume) -> Result<Outline<'_>, Fault> {
    let mut outline = Outline { found: Found::NoLog, name: Scalar::Absent, version: Scalar::Absent, wrapped: false };
    let mut scanner = Scanner::new(text, 0);
    // 1 inside of the document's object, 2 inside of its log.
    let mut depth = 2;
    let mut first = false;
    match resume {
        Resume::BehindEntries { wrapped } => (outline.wrapped, outline.found) = (wrapped, Found::End(0)),
        Resume::Start => {
            let start = preamble(text);
            scanner = Scanner::new(text, start);
            if scanner.peek().is_some_and(|byte| byte != b'{') {
                scanner = Scanner::new(text, call(text, scanner.at()).ok_or(Fault::invalid(start, "no JSON object"))?);
                outline.wrapped = true;
            }
            scanner.expect(b'{', "no JSON object")?;
            (depth, first) = (1, true);
        }
    }
    loop {
        if (first && scanner.accept(b'}')) || (!first && !scanner.another(b'}')?) {
            depth -= 1;
            if depth == 0 {
                break;
            }
            first = false;
            continue;
        }
        first = false;
        let key = scanner.key()?;
        match (depth, key.bytes().as_ref(), scanner.peek()) {
            (1, b"log", Some(b'{')) => {
                scanner.accept(b'{');
                (depth, first) = (2, true);
                if outline.found == Found::NoLog {
                    outline.found = Found::NoEntries;
                }
            }
            (2, b"entries", Some(b'[')) => {
                scanner.accept(b'[');
                outline.found = Found::Entries(scanner.at());
                return Ok(outline);
            }
            (2, b"creator", Some(b'{')) => scanner.object(|scanner, key| {
                match key {
                    b"name" => outline.name = scanner.scalar()?,
                    b"version" => outline.version = scanner.scalar()?,
                    _ => scanner.skip()?,
                }
                Ok(())
            })?,
            _ => scanner.skip()?,
        }
    }
    if outline.wrapped {
        scanner.accept(b')');
        scanner.accept(b';');
    }
    if let Found::End(_) = outline.found {
        outline.found = Found::End(scanner.at());
    }
    Ok(outline)
}

/// The length of what may precede a document: a byte order mark, blanks, NUL bytes.
fn preamble(text: &[u8]) -> usize {
    let rest = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0)).count();
    text.len() - rest.len() + blanks
}

/// The offset behind the opening of a function call: `name.of.callback(`.
fn call(text: &[u8], start: usize) -> Option<usize> {
    let rest = text.get(start..)?;
    let rest = rest.strip_prefix(b"/**/").unwrap_or(rest);
    let name = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.')).count();
    let behind = rest.get(name..)?.trim_ascii_start().strip_prefix(b"(")?;
    (name > 0).then_some(text.len() - behind.len())
}
