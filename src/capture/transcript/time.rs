//! Times: RFC 3339, or `+250ms` after the time before.

use crate::model::Time;

/// Reads a time; `before` is what a relative one counts from. `-` says that it is unknown.
///
/// # Errors
/// Says what a time looks like.
pub fn parse(text: &str, before: Option<Time>) -> Result<Option<Time>, String> {
    if text == "-" {
        return Ok(None);
    }
    if let Some(span) = text.strip_prefix('+') {
        let before = before.ok_or_else(|| format!("'{text}' has no time before it to count from"))?;
        let micros = micros(span).ok_or_else(|| format!("'{text}' is no span like +250ms, +1.5s or +40us"))?;
        return Ok(Some(before.plus(micros)));
    }
    if let Some(micros) = text.strip_suffix("us").and_then(|n| n.parse().ok()) {
        return Ok(Some(Time(micros)));
    }
    let time: jiff::Timestamp =
        text.parse().map_err(|_| format!("'{text}' is no time like 2026-01-01T00:00:01.000Z or +250ms"))?;
    Ok(Some(Time(time.as_microsecond())))
}

/// Writes a time, counted from `before` where it does not lie before that.
pub fn write(time: Time, before: Option<Time>) -> String {
    match before.map(|before| time.0.checked_sub(before.0)) {
        Some(Some(micros @ 0..)) if micros % 1000 == 0 => format!("+{}ms", micros / 1000),
        Some(Some(micros @ 0..)) => format!("+{micros}us"),
        _ => time.to_string(),
    }
}

/// A span in microseconds: digits, perhaps a fraction, and a unit.
fn micros(span: &str) -> Option<i64> {
    let at = span.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, unit) = span.split_at(at);
    let scale: u32 = match unit {
        "us" => 0,
        "ms" => 3,
        "s" => 6,
        _ => return None,
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > scale as usize {
        return None;
    }
    let padded = format!("{fraction:0<width$}", width = scale as usize);
    let rest = if padded.is_empty() { 0 } else { padded.parse().ok()? };
    whole.parse::<i64>().ok()?.checked_mul(10_i64.pow(scale))?.checked_add(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_exact_to_the_microsecond() {
        let at = |text| parse(text, Some(Time(1_000_000)));
        assert_eq!(at("+250ms"), Ok(Some(Time(1_250_000))));
        assert_eq!(at("+1.5s"), Ok(Some(Time(2_500_000))));
        assert_eq!(at("+0.000001s"), Ok(Some(Time(1_000_001))));
        assert_eq!(at("+7us"), Ok(Some(Time(1_000_007))));
        assert_eq!(at("1970-01-01T00:00:02Z"), Ok(Some(Time(2_000_000))));
        assert_eq!(at("-"), Ok(None));
        for wrong in ["+", "+1", "+1.5us", "+ms", "+-1ms", "later", "+99999999999999999999s"] {
            assert!(at(wrong).is_err(), "{wrong}");
        }
        assert!(parse("+1ms", None).is_err());
    }
}
