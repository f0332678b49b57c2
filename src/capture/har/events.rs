//! Times and events that recorders keep beside a body: `_eventSourceMessages`, and chunk times in a comment.

use super::entry::Entry;
use crate::{
    capture::RecordedEvent,
    model::Time,
    wire::har_split::{Fault, Scalar, Scanner},
};
use memchr::memmem;

/// A moment in seconds since the epoch.
fn moment(seconds: Option<f64>) -> Option<Time> {
    let seconds = seconds.filter(|s| (0.0..1e12).contains(s))?;
    #[expect(clippy::cast_possible_truncation, reason = "below 10^18")]
    Some(Time((seconds * 1e6).round() as i64))
}

/// The events of `_eventSourceMessages`; none where there is no such array.
pub(super) fn messages<'t>(entry: &Entry<'t>) -> Option<Vec<RecordedEvent<'t>>> {
    let Scalar::Nested(text) = entry.messages else { return None };
    let mut events = Vec::new();
    // The text was scanned before: where it is an array, it is a valid one.
    Scanner::new(text, 0)
        .array(|scanner| {
            let mut event = RecordedEvent::default();
            if scanner.peek() != Some(b'{') {
                return scanner.skip();
            }
            scanner.object(|scanner, key| {
                match key {
                    b"time" => event.time = moment(scanner.scalar()?.number()),
                    b"eventName" => event.name = scanner.scalar()?.text_or_empty(),
                    b"eventId" => event.id = scanner.scalar()?.text_or_empty(),
                    b"data" => event.data = scanner.scalar()?.text(),
                    _ => scanner.skip()?,
                }
                Ok(())
            })?;
            events.push(event);
            Ok(())
        })
        .ok()?;
    Some(events)
}

/// Chunk times of a comment `{"sse_chunks": [[seconds, length], …]}`, as offsets in the body and times.
pub(super) fn marks(entry: &Entry<'_>, length: usize) -> Vec<(u64, Time)> {
    let Some(comment) = entry.comment.raw().filter(|c| memmem::find(c.as_written(), b"sse_chunks").is_some()) else {
        return Vec::new();
    };
    let mut marks = Vec::new();
    let mut offset = 0_u64;
    let text = comment.bytes();
    let read = Scanner::new(&text, 0).object(|scanner, key| match key {
        b"sse_chunks" => scanner.array(|scanner| {
            let (mut time, mut size, mut place) = (None, None, 0);
            scanner.array(|scanner| {
                let number = scanner.scalar()?.number();
                match place {
                    0 => time = moment(number),
                    1 => size = number.filter(|n| (0.0..1e15).contains(n)),
                    _ => {}
                }
                place += 1;
                Ok::<(), Fault>(())
            })?;
            if let (Some(time), Some(size)) = (time, size) {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in 0..10^15")]
                let size = size as u64;
                offset = offset.saturating_add(size);
                marks.push((offset, time));
            }
            Ok(())
        }),
        _ => scanner.skip(),
    });
    // Lengths that do not add up to the body measure something else: coded bytes, or another body.
    if read.is_err() || offset != length as u64 {
        marks.clear();
    }
    marks
}
