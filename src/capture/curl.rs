//! What curl prints: `-i`, `-v`, `--trace` and `--trace-ascii`, one run or several in a file.

mod call;
mod chunked;
mod clock;
mod command;
mod ending;
mod head;
mod include;
mod meter;
mod shell;
mod trace;
mod verbose;

use super::{Bytes, Context, FileFacts, RawExchange, ReadError, sniff::Format, whole};
use crate::model::Vantage;
use call::Call;

/// Reads the output of curl: one of the four formats of its family.
///
/// # Errors
/// Where the file cannot be read.
pub fn read(input: &mut Bytes<'_>, format: Format, context: &Context<'_>) -> Result<FileFacts, ReadError> {
    let mut facts = FileFacts { vantage: Vantage::Client, ..FileFacts::default() };
    exchanges(context, format, input, &mut facts, &mut |facts, raw| facts.push(context, raw))?;
    Ok(facts)
}

fn exchanges(
    context: &Context<'_>,
    format: Format,
    input: &mut Bytes<'_>,
    facts: &mut FileFacts,
    sink: &mut dyn FnMut(&mut FileFacts, &RawExchange<'_>),
) -> Result<(), ReadError> {
    let (text, _) = whole::read(context, input, facts)?;
    let mut entry = 0_u32;
    let mut hand_over = |call: Call| {
        if call.is_tunnel() {
            return;
        }
        if facts.recorder.is_none() {
            facts.recorder = call.version().map(|v| v.replacen('/', " ", 1));
        }
        let mut raw = call.exchange(&context.limits);
        raw.at.entry = entry;
        entry = entry.saturating_add(1);
        sink(facts, &raw);
    };
    match format {
        Format::CurlInclude => include::calls(&text, &mut hand_over),
        Format::CurlVerbose => verbose::calls(&text, &mut hand_over),
        _ => trace::calls(&text, format == Format::CurlTraceAscii, &mut hand_over),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
