//! Times in documents: RFC 3339 texts in UTC.

use crate::model::Time;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{fmt, str::FromStr};

/// A moment that is written as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Stamp(pub Time);

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Stamp {
    type Err = String;

    /// Reads RFC 3339 with any offset, a date alone (its midnight in UTC), or microseconds since the epoch as `123us`.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(micros) = text.strip_suffix("us").and_then(|n| n.parse().ok()) {
            return Ok(Self(Time(micros)));
        }
        let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
        let time: jiff::Timestamp =
            whole.parse().map_err(|_| format!("'{text}' is no time like 2026-01-31T12:00:00Z or 2026-01-31"))?;
        Ok(Self(Time(time.as_microsecond())))
    }
}

impl Serialize for Stamp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Stamp {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <std::borrow::Cow<'de, str>>::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_reads_back_from_what_it_was_written_as() {
        for micros in [0, 1, 1_796_067_601_123_456, -1_000_000, i64::MAX] {
            let stamp = Stamp(Time(micros));
            assert_eq!(stamp.to_string().parse(), Ok(stamp), "{stamp}");
        }
        assert_eq!("2026-11-30".parse(), Ok(Stamp(Time(1_795_996_800_000_000))));
        assert!("yesterday".parse::<Stamp>().is_err());
    }
}
