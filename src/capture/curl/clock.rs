//! curl's times: a `Date` header has a date and whole seconds, a trace a time of day in an unnamed zone.

use crate::model::Time;

const DAY: i64 = 86_400_000_000;
const QUARTER: i64 = 900_000_000;

/// The moment of a `Date` header.
pub fn date(value: &str) -> Option<Time> {
    let parser = jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true);
    parser.parse_timestamp(value.trim()).ok().map(|t| Time(t.as_microsecond()))
}

/// Microseconds since midnight of `HH:MM:SS.ffffff`.
pub fn time_of_day(text: &[u8]) -> Option<i64> {
    if text.len() != 15 || text[2] != b':' || text[5] != b':' || text[8] != b'.' {
        return None;
    }
    let number = |range: std::ops::Range<usize>| {
        let digits = text.get(range)?;
        digits.iter().all(u8::is_ascii_digit).then_some(())?;
        std::str::from_utf8(digits).ok()?.parse::<i64>().ok()
    };
    let (hours, minutes, seconds) = (number(0..2)?, number(3..5)?, number(6..8)?);
    (hours < 24 && minutes < 60 && seconds <= 60)
        .then_some(((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + number(9..15)?)
}

/// Times of day made continuous: midnight adds a day, and a `Date` header says what day and zone it was.
#[derive(Debug, Default)]
pub struct Clock {
    last: Option<i64>,
    days: i64,
    /// What must be added to continuous times of day.
    base: Option<i64>,
}

impl Clock {
    /// Microseconds since the midnight before the first time.
    pub fn continuous(&mut self, time_of_day: i64) -> i64 {
        if let Some(last) = self.last {
            // Far backwards is midnight; far forwards is a line that belongs before it.
            if time_of_day < last - DAY / 2 {
                self.days += 1;
            } else if time_of_day > last + DAY / 2 && self.days > 0 {
                self.days -= 1;
            }
        }
        self.last = Some(time_of_day);
        self.days.saturating_mul(DAY).saturating_add(time_of_day)
    }

    /// A response whose head arrived at `continuous` has this `Date`. The first one counts; a later one only where it
    /// shows that days went by unseen.
    ///
    /// Zones are whole quarters of an hour, so that the rest of the difference is the delay of the response and the
    /// distance of the two clocks, and the trace's own clock is kept.
    pub fn dated(&mut self, continuous: i64, date: Time) {
        let difference = date.0.saturating_sub(continuous);
        match self.base {
            None => self.base = Some(difference.saturating_add(QUARTER / 2).div_euclid(QUARTER) * QUARTER),
            Some(base) => {
                let days = difference.saturating_sub(base).saturating_add(DAY / 2).div_euclid(DAY);
                self.base = Some(base.saturating_add(days.saturating_mul(DAY)));
            }
        }
    }

    /// The moment of a continuous time; none before any `Date` was seen.
    pub fn moment(&self, continuous: i64) -> Option<Time> {
        self.base.map(|base| Time(base.saturating_add(continuous)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Time {
        Time(text.parse::<jiff::Timestamp>().expect("a time").as_microsecond())
    }

    #[test]
    fn a_trace_in_any_zone_gets_its_date_from_the_header() {
        // 19:43 UTC seen in Kathmandu (+05:45) on the next day.
        let mut clock = Clock::default();
        let sent = clock.continuous(time_of_day(b"01:28:39.900000").expect("a time"));
        let head = clock.continuous(time_of_day(b"01:28:40.100000").expect("a time"));
        clock.dated(head, date("Mon, 30 Nov 2026 19:43:40 GMT").expect("a date"));
        assert_eq!(clock.moment(sent), Some(at("2026-11-30T19:43:39.9Z")));
    }

    #[test]
    fn midnight_goes_forward() {
        let mut clock = Clock::default();
        let head = clock.continuous(time_of_day(b"23:59:59.500000").expect("a time"));
        clock.dated(head, date("Mon, 30 Nov 2026 23:59:59 GMT").expect("a date"));
        let later = clock.continuous(time_of_day(b"00:00:00.250000").expect("a time"));
        assert_eq!(clock.moment(later), Some(at("2026-12-01T00:00:00.25Z")));
    }

    #[test]
    fn days_without_a_line_are_found_by_the_next_date() {
        let mut clock = Clock::default();
        let first = clock.continuous(time_of_day(b"10:00:00.000000").expect("a time"));
        clock.dated(first, date("Mon, 30 Nov 2026 10:00:00 GMT").expect("a date"));
        let second = clock.continuous(time_of_day(b"11:00:00.000000").expect("a time"));
        clock.dated(second, date("Wed, 02 Dec 2026 11:00:00 GMT").expect("a date"));
        assert_eq!(clock.moment(second), Some(at("2026-12-02T11:00:00Z")));
    }

    #[test]
    fn what_is_no_time_of_day_is_none() {
        for text in ["24:00:00.000000", "1:00:00.0000000", "aa:00:00.000000", "10-00-00.000000"] {
            assert_eq!(time_of_day(text.as_bytes()), None, "{text}");
        }
    }
}
