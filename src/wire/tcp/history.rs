//! The last bytes that a stream delivered: what a retransmission is compared with.

/// How many bytes are kept at least, once so many were delivered.
const KEPT: usize = 4096;

/// The tail of a stream's contiguous bytes, up to the next expected one.
#[derive(Default)]
pub struct History(Vec<u8>);

impl History {
    /// Adds delivered bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        let tail = &bytes[bytes.len().saturating_sub(KEPT)..];
        if self.0.len() + tail.len() > 2 * KEPT {
            let keep = KEPT - tail.len().min(KEPT);
            self.0.drain(..self.0.len() - keep.min(self.0.len()));
        }
        self.0.extend_from_slice(tail);
    }

    /// Forgets all: the stream goes on behind a hole.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether bytes that begin `behind` bytes before the next expected one differ from what was delivered there, as
    /// far as that is remembered.
    pub fn contradicts(&self, behind: u64, bytes: &[u8]) -> bool {
        let kept = self.0.len() as u64;
        let unknown = usize::try_from(behind.saturating_sub(kept)).unwrap_or(usize::MAX);
        let Some(known) = bytes.get(unknown..) else { return false };
        let from = usize::try_from(kept.saturating_sub(behind)).unwrap_or(usize::MAX);
        let Some(old) = self.0.get(from..) else { return false };
        let shared = old.len().min(known.len());
        old[..shared] != known[..shared]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retransmission_is_compared_with_the_tail_only() {
        let mut history = History::default();
        history.push(&[b'x'; 5000]);
        history.push(b"abcdef");
        assert!(!history.contradicts(6, b"abcdef"));
        assert!(!history.contradicts(4, b"cd"));
        assert!(!history.contradicts(3, b"defNEW"));
        assert!(history.contradicts(4, b"cX"));
        assert!(history.contradicts(7, b"yabcdef"));
        assert!(!history.contradicts(1_000_000, b"unknown"));
        history.clear();
        assert!(!history.contradicts(4, b"cX"));
    }

    #[test]
    fn memory_stays_bounded() {
        let mut history = History::default();
        for n in 0..10_000_u32 {
            history.push(&n.to_be_bytes().repeat(25));
        }
        assert!(history.0.len() <= 2 * KEPT && history.0.len() >= KEPT);
        assert!(!history.contradicts(4, &9_999_u32.to_be_bytes()));
        assert!(history.contradicts(4, &9_998_u32.to_be_bytes()));
    }
}
