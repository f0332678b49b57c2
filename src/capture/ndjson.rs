//! JSON objects, one a line: JSON-RPC messages, mcpsnoop's envelopes, access logs, and what a field map describes.

mod access;
mod field;
mod lines;
mod map;
mod mcpsnoop;
mod message;

pub use map::{FieldMap, MapError};

use super::{Bytes, Context, FileFacts, RawExchange, ReadError, sniff::Format};
use crate::model::Vantage;
use lines::Lines;

/// The longest line of a log that is read, in bytes.
const LONGEST_LOG_LINE: u64 = 16 << 20;

/// What one line was.
enum Line {
    /// It gave exchanges.
    Read,
    /// It belongs to the format and says nothing of the traffic.
    Silent,
    /// It is something else.
    Foreign,
}

/// Reads lines of one of the formats `json-rpc-lines`, `mcpsnoop` and `access-log`. With a field map, the map alone
/// says what a line holds.
///
/// # Errors
/// Where no line is of the format, or the file cannot be read.
pub fn read(
    input: &mut Bytes<'_>,
    format: Format,
    map: Option<&FieldMap>,
    context: &Context<'_>,
) -> Result<FileFacts, ReadError> {
    let vantage = if format == Format::JsonRpcLines { Vantage::Unknown } else { Vantage::Proxy };
    let mut facts = FileFacts { vantage, ..FileFacts::default() };
    exchanges(context, format, map, input, &mut facts, &mut |facts, raw| facts.push(context, raw))?;
    Ok(facts)
}

fn exchanges(
    context: &Context<'_>,
    format: Format,
    map: Option<&FieldMap>,
    input: &mut Bytes<'_>,
    facts: &mut FileFacts,
    sink: &mut dyn FnMut(&mut FileFacts, &RawExchange<'_>),
) -> Result<(), ReadError> {
    // Lines of messages are scanned, the others become trees in memory.
    let most = if map.is_some() || format == Format::AccessLog { LONGEST_LOG_LINE } else { u64::MAX };
    let mut lines = Lines::new(input, context.limits.body.min(most));
    let (mut entry, mut foreign, mut known) = (0_u32, None::<(u64, u64)>, 0_u64);
    let mut talk = message::Talk::default();
    let mut times = access::Clock::default();
    while let Some(line) = lines.next()? {
        let text = line.text.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let mut hand_over = |raw: &mut RawExchange<'_>| {
            (raw.at.entry, raw.at.offset) = (entry, Some(line.offset));
            entry = entry.saturating_add(1);
            sink(facts, raw);
        };
        let what = match (map, format) {
            (Some(map), _) => map::line(text, map, &mut talk, &mut hand_over),
            (None, Format::Mcpsnoop) => mcpsnoop::line(text, &mut hand_over),
            (None, Format::AccessLog) => access::line(text, &mut times, &mut hand_over),
            (None, _) => message::line(text, &mut talk, &mut hand_over),
        };
        match what {
            Line::Read | Line::Silent => known += 1,
            Line::Foreign if line.is_too_long => {
                facts.caveat(
                    "limit-reached",
                    format!("line {} is too long (limit `body`) and was dropped", line.number),
                );
            }
            Line::Foreign if !line.ended => {
                facts.caveat("input-truncated", format!("the last line, {}, is cut and was dropped", line.number));
            }
            Line::Foreign => {
                let (_, count) = foreign.get_or_insert((line.number, 0));
                *count += 1;
            }
        }
    }
    if known == 0 {
        return Err(ReadError::NotACapture(format!("none of its lines is {format}")));
    }
    if let Some((first, count)) = foreign {
        let message = format!("lines of another kind were passed over; the first is line {first}");
        facts.caveats("undecodable-entry", count, message);
    }
    times.account(facts);
    Ok(())
}

#[cfg(test)]
mod tests;
