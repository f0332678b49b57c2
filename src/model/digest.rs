//! A 128-bit digest, printed as 32 hex digits.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::fmt;

/// A 128-bit keyed digest; 0 stands for "none".
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id128(pub u128);

impl Id128 {
    /// No digest was taken.
    pub fn is_none(&self) -> bool {
        self.0 == 0
    }

    /// The 64-bit digest that event logs keep of most messages.
    pub fn short(self) -> u64 {
        (self.0 >> 64) as u64
    }
}

impl fmt::Debug for Id128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Serialize for Id128 {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{:032x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Id128 {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(from)?;
        u128::from_str_radix(&text, 16).map(Self).map_err(|_| D::Error::custom("a digest is 32 hex digits"))
    }
}
