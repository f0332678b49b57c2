//! When an exchange began, when its answer's head came and when the answer ended, as far as the entry can be believed.

use super::{entry::Entry, recorder::Kind};
use crate::{model::Time, wire::timestamp::Timestamp};

/// The times of one entry.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    pub sent: Option<Time>,
    pub head: Option<Time>,
    pub ended: Option<Time>,
    /// The zone of the start in minutes east of UTC; none where it has none.
    pub zone: Option<i16>,
    /// The start has a fraction of a second.
    pub fine: bool,
    /// mitmproxy's mark of a response that never ended.
    pub unfinished: bool,
}

/// Longest duration that is believed: ten years in milliseconds.
const LONGEST: f64 = 315_360_000_000.0;

/// A duration in milliseconds as microseconds; none where it is negative or absurd.
fn micros(millis: Option<f64>) -> Option<i64> {
    let millis = millis.filter(|ms| (0.0..=LONGEST).contains(ms))?;
    #[expect(clippy::cast_possible_truncation, reason = "at most ten years")]
    Some((millis * 1_000.0).round() as i64)
}

/// The times of an entry.
pub(super) fn times(entry: &Entry<'_>, kind: Kind) -> Times {
    let timings = &entry.timings;
    let unfinished = kind == Kind::Mitmproxy && entry.response.present && timings.receive.number() == Some(0.0);
    let Some(start) = entry.started.raw().and_then(|text| Timestamp::parse(&text.bytes())) else {
        return Times { unfinished, ..Times::default() };
    };
    let sent = Time(start.micros);
    let part = |scalar: &crate::wire::har_split::Scalar<'_>| micros(scalar.number()).unwrap_or(0);
    // mitmproxy connects to the server while it receives or after it has received the request, and its `connect`
    // overlaps `send` or `wait`: the start plus `send` and `wait` is the very time at which it saw the head.
    let before = match kind {
        Kind::Mitmproxy => part(&timings.send),
        _ => [&timings.blocked, &timings.dns, &timings.connect, &timings.send].map(part).iter().sum(),
    };
    let head = micros(timings.wait.number()).map(|wait| sent.plus(before + wait));
    let receive = micros(timings.receive.number());
    let whole = micros(entry.time.number()).filter(|time| *time > 0).map(|time| sent.plus(time));
    let summed = head.zip(receive).map(|(head, receive)| head.plus(receive)).filter(|end| *end > sent);
    let ended = match kind {
        _ if unfinished => None,
        Kind::Mitmproxy => summed.or(whole),
        // Playwright counts to the head where it never saw the end.
        Kind::Playwright if receive.is_none() && entry.response.size.number() == Some(-1.0) => None,
        _ => whole.or(summed),
    };
    let head = match (head, ended) {
        (Some(head), Some(end)) => Some(head.min(end)),
        (head, _) => head,
    };
    Times { sent: Some(sent), head, ended, zone: start.zone, fine: start.digits > 0, unfinished }
}
