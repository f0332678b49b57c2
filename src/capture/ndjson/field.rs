//! Values of log fields: times, durations, numbers and texts in the spellings that logs have.

use crate::{model::Time, wire::timestamp::Timestamp};
use serde_json::Value;

/// A text that says something: not empty and not the `-` of logs. Numbers count as texts; of a list its first element.
pub fn text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Array(values) => return values.first().and_then(text),
        _ => return None,
    };
    (!text.is_empty() && text != "-").then_some(text)
}

/// A number, also in quotes.
pub fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
    .filter(|n: &f64| n.is_finite())
}

/// A moment, and whether it has a fraction of seconds: RFC 3339, the common log format's, or a number since the epoch
/// in seconds, or in milli-, micro- or nanoseconds by its size.
pub fn moment(value: &Value) -> Option<(Time, bool)> {
    if let Some(number) = number(value) {
        return of_epoch(number).map(|time| (time, number.fract() != 0.0 || number.abs() >= 1e11));
    }
    let text = value.as_str()?.trim();
    if let Some(stamp) = Timestamp::parse(text.as_bytes()) {
        return Some((Time(stamp.micros), stamp.digits > 0));
    }
    let parsed = jiff::fmt::strtime::parse("%d/%b/%Y:%H:%M:%S %z", text.trim_matches(['[', ']'])).ok()?;
    Some((Time(parsed.to_timestamp().ok()?.as_microsecond()), false))
}

#[expect(clippy::cast_possible_truncation, reason = "bounded by the year 5138")]
fn of_epoch(number: f64) -> Option<Time> {
    let seconds = match number {
        n if n < 1e8 => return None,
        n if n < 1e11 => n,
        n if n < 1e14 => n / 1e3,
        n if n < 1e17 => n / 1e6,
        n if n < 1e20 => n / 1e9,
        _ => return None,
    };
    Some(Time((seconds * 1e6).round() as i64))
}

/// A duration in microseconds: a number in the unit that the field's name ends with (seconds where it names none), or
/// a text such as `12ms` or `1m2.5s`.
#[expect(clippy::cast_possible_truncation, reason = "bounded by the filter")]
pub fn duration(name: &str, value: &Value) -> Option<i64> {
    let micros = match number(value) {
        Some(number) => number * unit_of_name(name),
        None => spelled(value.as_str()?.trim())?,
    };
    (0.0..1e15).contains(&micros).then_some(micros as i64)
}

fn unit_of_name(name: &str) -> f64 {
    let name = name.to_ascii_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|e| name.ends_with(e));
    if ends(&["ms", "millis", "milliseconds"]) {
        1e3
    } else if ends(&["_us", "micros", "microseconds"]) {
        1.0
    } else if ends(&["_ns", "nanos", "nanoseconds"]) {
        1e-3
    } else {
        1e6
    }
}

/// Go's spelling of durations.
fn spelled(text: &str) -> Option<f64> {
    let (mut rest, mut micros) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        micros += number
            * match &rest[..end] {
                "h" => 3600e6,
                "m" => 60e6,
                "s" => 1e6,
                "ms" => 1e3,
                "us" | "\u{b5}s" | "\u{3bc}s" => 1.0,
                "ns" => 1e-3,
                _ => return None,
            };
        rest = &rest[end..];
    }
    (!text.is_empty()).then_some(micros)
}

/// A text as part of a URL.
pub fn percent_encoded(text: &str) -> String {
    use std::fmt::Write;
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn moments_are_read_in_every_common_spelling() {
        let expected = Time(1_796_068_397_919_000);
        for (value, fine) in [
            (json!(1_796_068_397.919), true),
            (json!("1796068397.919"), true),
            (json!(1_796_068_397_919_i64), true),
            (json!("2026-11-30T19:53:17.919Z"), true),
        ] {
            assert_eq!(moment(&value), Some((expected, fine)), "{value}");
        }
        assert_eq!(moment(&json!("30/Nov/2026:20:53:17 +0100")), Some((Time(1_796_068_397_000_000), false)));
        for value in [json!("yesterday"), json!(5), json!(null), json!(1e300)] {
            assert_eq!(moment(&value), None, "{value}");
        }
    }

    #[test]
    fn durations_have_the_unit_of_their_name_or_their_own() {
        assert_eq!(duration("duration", &json!(240.029)), Some(240_029_000));
        assert_eq!(duration("duration_ms", &json!(12)), Some(12_000));
        assert_eq!(duration("duration", &json!("12ms")), Some(12_000));
        assert_eq!(duration("duration", &json!("1m2.5s")), Some(62_500_000));
        assert_eq!(duration("request_time", &json!("0.004")), Some(4_000));
        for value in [json!("soon"), json!(-1), json!("5"), json!("")] {
            assert_eq!(duration("duration", &value).filter(|d| *d != 5_000_000), None, "{value}");
        }
    }
}
