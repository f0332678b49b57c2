//! TCP: segments, and one direction of a connection put back in order.

mod history;
mod stream;

pub use stream::{Close, Delivery, Held, Part, Place, Received, Stamp, Stream};

/// One TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// The sender's port.
    pub source: u16,
    /// The receiver's port.
    pub destination: u16,
    /// Sequence number of the first byte (of the SYN itself, where there is one).
    pub seq: u32,
    /// The next byte that the sender expects from the other side.
    pub ack: Option<u32>,
    /// Opens the connection.
    pub syn: bool,
    /// The sender will send nothing more.
    pub fin: bool,
    /// The sender has dropped the connection.
    pub rst: bool,
    /// The captured payload.
    pub payload: &'a [u8],
    /// Bytes at the payload's end that were sent and not captured.
    pub missing: u32,
}

impl<'a> Segment<'a> {
    /// Reads a segment from an IP payload that lacks `missing` bytes at its end. Checksums are not looked at: with
    /// offload they are wrong in most captures of a sending host.
    pub fn read(bytes: &'a [u8], missing: usize) -> Option<Self> {
        let head: &[u8; 20] = bytes.first_chunk()?;
        let [s0, s1, d0, d1, q0, q1, q2, q3, a0, a1, a2, a3, offset, flags, ..] = *head;
        let header = usize::from(offset >> 4) * 4;
        if header < head.len() {
            return None;
        }
        let payload = bytes.get(header..).unwrap_or_default();
        // The snap length may have cut within the options.
        let cut_options = header.saturating_sub(bytes.len());
        Some(Self {
            source: u16::from_be_bytes([s0, s1]),
            destination: u16::from_be_bytes([d0, d1]),
            seq: u32::from_be_bytes([q0, q1, q2, q3]),
            ack: (flags & 0x10 != 0).then(|| u32::from_be_bytes([a0, a1, a2, a3])),
            syn: flags & 2 != 0,
            fin: flags & 1 != 0,
            rst: flags & 4 != 0,
            payload,
            missing: u32::try_from(missing.saturating_sub(cut_options)).unwrap_or(u32::MAX).min(1 << 24),
        })
    }
}

#[cfg(test)]
mod tests;
