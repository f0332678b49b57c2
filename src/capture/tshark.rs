//! `tshark -T json` and `-T ek`: one object a packet. Messages stand in the packet that ends them, without the times of
//! their parts, and what was cut off is often not there at all: the packet capture itself says more.

mod elements;
mod packet;
mod pairing;

use super::{Bytes, Context, FileFacts, RawExchange, ReadError, sniff::Format};
use elements::Elements;
use packet::Packet;
use pairing::Pairing;

/// Reads the output of tshark.
///
/// # Errors
/// Where no packet can be read, or the file cannot.
pub fn read(input: &mut Bytes<'_>, format: Format, context: &Context<'_>) -> Result<FileFacts, ReadError> {
    let mut facts = FileFacts::default();
    exchanges(context, format, input, &mut facts, &mut |facts, raw| facts.push(context, raw))?;
    facts.exchanges.sort_by_key(|exchange| exchange.at.entry);
    Ok(facts)
}

/// Hands over the exchanges as they become complete, numbered in the order of their requests.
fn exchanges(
    context: &Context<'_>,
    format: Format,
    input: &mut Bytes<'_>,
    facts: &mut FileFacts,
    sink: &mut dyn FnMut(&mut FileFacts, &RawExchange<'_>),
) -> Result<(), ReadError> {
    let kind = if format == Format::TsharkEk { "tshark -T ek" } else { "tshark -T json" };
    facts.recorder = Some(kind.to_owned());
    // Bytes stand as hex, and several times.
    let mut elements = Elements::new(input, context.limits.body.saturating_mul(8));
    let mut pairing = Pairing::new(context);
    let mut packets = 0_u64;
    while let Some(element) = elements.next()? {
        let Some(packet) = Packet::of(element.text) else { continue };
        packets += 1;
        let Some(message) = packet.message() else { continue };
        pairing.take(&packet, message, element.offset, &mut |raw| sink(facts, raw));
    }
    let unanswered = pairing.finish(&mut |raw| sink(facts, raw));
    if unanswered > 0 {
        let message =
            "tshark prints a response only once it has ended: those that were cut off or still open are missing";
        facts.caveats("body-not-captured", unanswered, message);
    }
    if elements.too_long > 0 {
        facts.caveats("limit-reached", elements.too_long, "a packet is too long (limit `body`) and was dropped");
    }
    if packets == 0 {
        return Err(ReadError::Damaged(format!("no packet of this {kind} output can be read")));
    }
    if elements.is_cut {
        facts.caveat("input-truncated", "the file ends within a packet");
    }
    let message = format!("{kind} has no times within bodies, and not all that was cut off: pass the packet capture");
    facts.caveat("no-or-coarse-time", message);
    Ok(())
}

#[cfg(test)]
mod tests;
