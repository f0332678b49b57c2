//! x
use super::{Bytes, Context, FileFacts, ReadError, sniff::Format};
/// x
pub fn read(_input: &mut Bytes<'_>, _format: Format, _context: &Context<'_>) -> Result<FileFacts, ReadError> {
    Err(ReadError::NotRead("no".into()))
}
