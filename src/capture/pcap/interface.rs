//! What a pcapng interface says of its packets: link type, snap length, and what its time stamps count.

use pcap_parser::{InterfaceDescriptionBlock, OptionCode};

/// An interface of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its `LINKTYPE_`.
    pub link: u32,
    /// Most bytes of a packet that are captured; 0 means all.
    pub snaplen: u32,
    resolution: u8,
    offset: i64,
}

impl Interface {
    /// An interface whose description cannot be read: packets of it are counted, and no link type is 0xffff.
    pub const UNKNOWN: Self = Self { link: 0xffff, snaplen: 0, resolution: 6, offset: 0 };

    /// Reads a description. The numbers of options are in the section's byte order, which the parser leaves to us.
    pub fn read(block: &InterfaceDescriptionBlock<'_>, is_big: bool) -> Self {
        let option = |code| block.options.iter().find(|o| o.code == code).and_then(|o| o.as_bytes().ok());
        let resolution = option(OptionCode::IfTsresol).and_then(|b| b.first().copied()).unwrap_or(6);
        let offset = option(OptionCode::IfTsoffset)
            .and_then(|b| b.first_chunk().copied())
            .map_or(0, |b| if is_big { i64::from_be_bytes(b) } else { i64::from_le_bytes(b) });
        Self { link: block.linktype.0.cast_unsigned() & 0xffff, snaplen: block.snaplen, resolution, offset }
    }

    /// A count of ticks as microseconds since the Unix epoch.
    pub fn micros(&self, ticks: u64) -> i64 {
        let ticks = u128::from(ticks) * 1_000_000;
        let exponent = u32::from(self.resolution & 0x7f);
        let micros = if self.resolution & 0x80 != 0 {
            ticks.checked_shr(exponent).unwrap_or(0)
        } else {
            10_u128.checked_pow(exponent).map_or(0, |unit| ticks / unit)
        };
        let micros = i64::try_from(micros).unwrap_or(i64::MAX);
        micros.saturating_add(self.offset.saturating_mul(1_000_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(resolution: u8, offset: i64) -> Interface {
        Interface { link: 1, snaplen: 0, resolution, offset }
    }

    #[test]
    fn ticks_are_counted_in_powers_of_ten_and_of_two_and_moved_by_the_offset() {
        assert_eq!(interface(6, 0).micros(1_700_000_000_123_456), 1_700_000_000_123_456);
        assert_eq!(interface(9, 0).micros(1_700_000_000_123_456_789), 1_700_000_000_123_456);
        assert_eq!(interface(3, 5).micros(1_700_000_000_123), 1_700_000_005_123_000);
        assert_eq!(interface(0, -10).micros(100), 90_000_000);
        assert_eq!(interface(0x80 | 10, 0).micros(1024 * 7 + 512), 7_500_000);
    }

    #[test]
    fn senseless_resolutions_give_senseless_times_and_no_panic() {
        for resolution in 0..=255 {
            interface(resolution, i64::MIN).micros(u64::MAX);
            interface(resolution, i64::MAX).micros(u64::MAX);
        }
        assert_eq!(interface(0x7f, 0).micros(u64::MAX), 0);
        assert_eq!(interface(0, 0).micros(u64::MAX), i64::MAX);
    }
}
