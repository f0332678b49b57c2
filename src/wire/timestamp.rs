//! Calendar times as recorders write them: RFC 3339 and its common misspellings.

/// A calendar time, and the zone it was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// Microseconds since the Unix epoch; where there is no zone, as if it were UTC.
    pub micros: i64,
    /// Minutes east of UTC; none where the text does not say.
    pub zone: Option<i16>,
    /// How many fraction digits the seconds have.
    pub digits: usize,
}

impl Timestamp {
    /// Reads `YYYY-MM-DDThh:mm:ss`, a fraction of any length, and `Z`, `±hh:mm`, `±hhmm`, `±hh` or no zone at all. A
    /// space may stand for the `T`, a comma for the point.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = text.trim_ascii();
        let number = |from: usize, digits: usize| decimal(text.get(from..from + digits)?);
        let mark = |at: usize, allowed: &[u8]| text.get(at).is_some_and(|b| allowed.contains(b));
        if !(mark(4, b"-") && mark(7, b"-") && mark(10, b"Tt ") && mark(13, b":") && mark(16, b":")) {
            return None;
        }
        let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
        let (hour, minute, second) = (number(11, 2)?, number(14, 2)?, number(17, 2)?);
        let valid = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
        if !valid || hour > 24 || minute > 59 || second > 60 {
            return None;
        }
        let rest = text.get(19..)?;
        let (fraction, digits, rest) = match rest.split_first() {
            Some((b'.' | b',', rest)) => {
                let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
                let micros = (0..6)
                    .fold(0, |sum, i| sum * 10 + rest.get(i).filter(|_| i < digits).map_or(0, |b| i64::from(b - b'0')));
                (micros, digits, rest.get(digits..)?)
            }
            _ => (0, 0, rest),
        };
        let zone = zone(rest)?;
        let seconds = days_since_epoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
        let micros = seconds * 1_000_000 + fraction - i64::from(zone.unwrap_or(0)) * 60_000_000;
        Some(Self { micros, zone, digits })
    }
}

fn decimal(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |sum, b| b.is_ascii_digit().then(|| sum * 10 + i64::from(b - b'0')))
}

/// The zone that a text consists of; the outer option is none where it is something else.
fn zone(text: &[u8]) -> Option<Option<i16>> {
    let (sign, rest) = match text.trim_ascii_start().split_first() {
        None => return Some(None),
        Some((b'Z' | b'z', [])) => return Some(Some(0)),
        Some((b'+', rest)) => (1, rest),
        Some((b'-', rest)) => (-1, rest),
        Some(_) => return None,
    };
    let (hours, minutes) = match rest {
        [h1, h2] => ([*h1, *h2], *b"00"),
        [h1, h2, m1, m2] | [h1, h2, b':', m1, m2] => ([*h1, *h2], [*m1, *m2]),
        _ => return None,
    };
    let (hours, minutes) = (decimal(&hours)?, decimal(&minutes)?);
    let minutes = (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))?;
    i16::try_from(minutes).ok().map(Some)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a day of the Gregorian calendar, years counted from March.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(i64, Option<i16>)> {
        Timestamp::parse(text.as_bytes()).map(|t| (t.micros, t.zone))
    }

    #[test]
    fn the_spellings_of_one_moment_agree() {
        // date -u -d 2026-03-02T09:00:00Z +%s
        const MOMENT: i64 = 1_772_442_000_000_000;
        assert_eq!(read("2026-03-02T09:00:00Z"), Some((MOMENT, Some(0))));
        assert_eq!(read("2026-03-02 09:00:00.000Z"), Some((MOMENT, Some(0))));
        assert_eq!(read("2026-03-02T09:00:00.000000+00:00"), Some((MOMENT, Some(0))));
        assert_eq!(read("2026-03-02T10:30:00.00+0130"), Some((MOMENT, Some(90))));
        assert_eq!(read("2026-03-02t01:00:00,0000000-08"), Some((MOMENT, Some(-480))));
        assert_eq!(read("2026-03-02T09:00:00.000"), Some((MOMENT, None)));
    }

    #[test]
    fn fractions_of_one_to_nine_digits_are_microseconds() {
        let fraction = |digits: &str| read(&format!("1970-01-01T00:00:00.{digits}Z")).map(|t| t.0);
        assert_eq!(fraction("5"), Some(500_000));
        assert_eq!(fraction("12"), Some(120_000));
        assert_eq!(fraction("0004"), Some(400));
        assert_eq!(fraction("1234567"), Some(123_456));
        assert_eq!(fraction("000001999"), Some(1));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "2026",
            "2026-13-01T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "2026-02-01T00:00:00Zulu",
            "2009-10-24+02:00T09:46:11",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn days_agree_with_another_calendar() {
        for micros in [-62_135_596_800, -1, 0, 951_782_400, 1_709_164_800, 4_102_444_800, 253_402_000_000_i64] {
            let text = jiff::Timestamp::from_second(micros).expect("in range").to_string();
            assert_eq!(read(&text), Some((micros * 1_000_000, Some(0))), "{text}");
        }
    }
}
