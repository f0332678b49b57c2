//! The only door from captured bytes to printed text: keyed pseudonyms and escaping.

pub mod escape;
mod shorten;

pub use shorten::Shortener;

use siphasher::sip::SipHasher24;
use std::hash::Hasher as _;

/// The key of a run's pseudonyms. Without a key file it is a constant, so that runs and shards agree.
pub struct Key {
    names: [u64; 2],
    sip: [u8; 16],
    /// Real ids are kept for printing (`--show-ids`).
    pub show_ids: bool,
    /// The key is the constant one.
    pub is_default: bool,
}

impl Key {
    /// The constant key, or one derived from the bytes of a key file.
    pub fn new(secret: Option<&[u8]>, show_ids: bool) -> Self {
        let hash = blake3::derive_key("lastevent 2026-11-30 pseudonyms", secret.unwrap_or(b"default"));
        let half = |i: usize| u64::from_le_bytes(std::array::from_fn(|j| hash[i + j]));
        let mut sip = [0; 16];
        sip.copy_from_slice(&blake3::derive_key("lastevent 2026-11-30 digests", &hash)[..16]);
        Self { names: [half(0), half(8)], sip, show_ids, is_default: secret.is_none() }
    }

    /// What reports say of the key: `default`, or a digest that names it.
    pub fn name(&self) -> String {
        if self.is_default { "default".to_owned() } else { format!("k_{:016x}", self.hash(b'k', b"name")) }
    }

    /// The key of payload digests.
    pub fn sip(&self) -> &[u8; 16] {
        &self.sip
    }

    /// The keyed 64-bit hash of a text, apart for each purpose (`s` sessions, `c` cursors, `a` addresses …).
    pub fn hash(&self, purpose: u8, text: &[u8]) -> u64 {
        let mut hasher = SipHasher24::new_with_keys(self.names[0] ^ u64::from(purpose), self.names[1]);
        hasher.write(text);
        hasher.finish().max(1)
    }
}
