//! mitmproxy's flow files: typed netstrings one after the other, one a flow, in the order in which flows ended.

mod flow;

use super::{Bytes, Context, FileFacts, RawExchange, ReadError, digest, digestion};
use crate::{
    model::Vantage,
    wire::tnetstring::{self, Value},
};
use std::io::Read;

/// The newest format whose keys are known.
const NEWEST: i64 = 21;
/// The oldest format that is read.
const OLDEST: i64 = 4;
/// What a flow may hold beside its two bodies.
const BESIDE_BODIES: u64 = 64 << 20;
/// Memory that is set aside for a flow before its bytes are there.
const MOST_BELIEVED: u64 = 1 << 20;

/// A flow of HTTP as it lies in the file.
struct Flow {
    /// Its netstring.
    text: Vec<u8>,
    entry: u32,
    offset: u64,
}

impl Flow {
    fn exchange(&self, context: &Context<'_>) -> Option<RawExchange<'_>> {
        let mut raw = flow::exchange(tnetstring::value(&self.text).ok()?.1, context);
        (raw.at.entry, raw.at.offset) = (self.entry, Some(self.offset));
        Some(raw)
    }
}

/// Reads a flow file.
///
/// # Errors
/// Where its flows are of a format too old, or the file cannot be read.
pub fn read(input: &mut Bytes<'_>, context: &Context<'_>) -> Result<FileFacts, ReadError> {
    let mut facts = FileFacts { vantage: Vantage::Proxy, ..FileFacts::default() };
    let one = |flow: &Flow| digest::exchange(context, &flow.exchange(context)?, Vantage::Proxy);
    let (read, exchanges) =
        digestion::digested(one, |flow| flow.text.len(), |sink| flows(context, input, &mut facts, sink));
    facts.entries = read?.into();
    facts.exchanges = exchanges;
    Ok(facts)
}

/// Hands over the flows of HTTP, one by one, and counts them.
fn flows(
    context: &Context<'_>,
    input: &mut Bytes<'_>,
    facts: &mut FileFacts,
    sink: &mut dyn FnMut(Flow),
) -> Result<u32, ReadError> {
    let most = context.limits.body.saturating_mul(2).saturating_add(BESIDE_BODIES);
    let (mut offset, mut entry) = (0_u64, 0_u32);
    loop {
        let (start, mut text) = (offset, Vec::new());
        let Some(length) = announced(input, &mut text, &mut offset)? else {
            return if text.is_empty() { Ok(entry) } else { stopped(facts, start, entry, "no flow begins here") };
        };
        if length > most {
            let skipped = std::io::copy(&mut input.take(length.saturating_add(1)), &mut std::io::sink())?;
            offset = offset.saturating_add(skipped);
            facts.caveat("limit-reached", format!("the flow at byte {start} has {length} bytes and was passed over"));
            continue;
        }
        let wanted = length.saturating_add(1);
        // What a flow claims is believed as far as it costs little.
        text.reserve_exact(usize::try_from(wanted.min(MOST_BELIEVED)).unwrap_or_default());
        let got = input.take(wanted).read_to_end(&mut text)? as u64;
        offset = offset.saturating_add(got);
        if got < wanted {
            return stopped(facts, start, entry, "the file ends within a flow");
        }
        let Ok((_, value @ Value::Dict(_))) = tnetstring::value(&text) else {
            return stopped(facts, start, entry, "what stands here is no flow");
        };
        version(value, facts)?;
        if value.get("type").bytes().is_some_and(|t| t == b"http") {
            sink(Flow { text, entry, offset: start });
            entry = entry.saturating_add(1);
        }
    }
}

/// Nothing can be read from here on: a caveat, or, where nothing was read before, the whole file's error.
fn stopped(facts: &mut FileFacts, at: u64, exchanges: u32, why: &str) -> Result<u32, ReadError> {
    if at == 0 {
        return Err(ReadError::Damaged(format!("no flow could be read: {why}")));
    }
    facts.caveat("input-truncated", format!("{why}: reading stopped at byte {at}, after {exchanges} exchanges"));
    Ok(exchanges)
}

/// The length that the next flow announces; none at the end of the file, or, with `text` not empty, where no flow
/// begins. `text` then holds what was read, so that the payload can follow it.
fn announced(input: &mut Bytes<'_>, text: &mut Vec<u8>, offset: &mut u64) -> Result<Option<u64>, ReadError> {
    text.clear();
    loop {
        let Some(byte) = input.fill_buf()?.first().copied() else { return Ok(None) };
        // Some tools leave line ends between flows.
        if text.is_empty() && byte.is_ascii_whitespace() {
            input.consume(1);
            *offset += 1;
            continue;
        }
        if !(byte.is_ascii_digit() && text.len() < tnetstring::MOST_DIGITS || byte == b':' && !text.is_empty()) {
            text.push(byte);
            return Ok(None);
        }
        input.consume(1);
        *offset += 1;
        text.push(byte);
        if byte == b':' {
            return Ok(tnetstring::length(text).ok().map(|(_, length)| length as u64));
        }
    }
}

/// Notes the flow's format number, and what is to be said about it.
fn version(flow: Value<'_>, facts: &mut FileFacts) -> Result<(), ReadError> {
    let version = flow.get("version");
    let number = version.int();
    let name = match (number, version) {
        (Some(n), _) => n.to_string(),
        (None, Value::List(parts)) => parts.filter_map(Value::int).map(|n| n.to_string()).collect::<Vec<_>>().join("."),
        _ => return Ok(()),
    };
    if number.is_none_or(|n| n < OLDEST) {
        return Err(ReadError::NotRead(format!(
            "mitmproxy flow format {name} is too old to be read: re-save it with `mitmdump -nr OLD -w NEW`"
        )));
    }
    if number > Some(NEWEST) {
        facts.caveat(
            "newer-format",
            format!("mitmproxy flow format {name} is newer than {NEWEST}, the newest known; its known keys were read"),
        );
    }
    if facts.recorder.is_none() {
        facts.recorder = Some(format!("mitmproxy (flow format {name})"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
