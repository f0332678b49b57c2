//! A moment: microseconds since the Unix epoch, as every recorder's clock is reduced to.

use serde::{Deserialize, Serialize};

/// Microseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub i64);

impl Time {
    /// Microseconds from `earlier` to this moment; negative where the clock ran backwards.
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// This moment moved by `micros`.
    pub fn plus(self, micros: i64) -> Self {
        Self(self.0.saturating_add(micros))
    }
}

impl std::fmt::Display for Time {
    /// RFC 3339 in UTC, with as many fraction digits as the value needs (0, 3 or 6).
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(t) => write!(f, "{t}"),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}
