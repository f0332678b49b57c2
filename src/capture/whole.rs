//! A whole file in memory, for formats that are small by nature; bounded all the same.

use super::{Bytes, Context, FileFacts};
use std::io::{self, Read};

/// The bytes of a file, up to the bound on bodies, and whether that is all: the rest of a larger one is dropped with a
/// caveat.
///
/// # Errors
/// Where the file cannot be read.
pub fn read(context: &Context<'_>, input: &mut Bytes<'_>, facts: &mut FileFacts) -> io::Result<(Vec<u8>, bool)> {
    let most = context.limits.body;
    let mut bytes = Vec::new();
    input.take(most).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == most && !input.fill_buf()?.is_empty() {
        facts.caveat(
            "limit-reached",
            format!("the file is longer than {most} bytes (limit `body`); the rest was dropped"),
        );
        io::copy(input, &mut io::sink())?;
        return Ok((bytes, false));
    }
    Ok((bytes, true))
}
