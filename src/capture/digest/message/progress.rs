//! Progress notifications, of which most of all traffic consists, and which differ from one another in little.
//!
//! Up to the value of its token a notification mostly reads as the one before. Where it does, that part is compared
//! instead of parsed. The result never depends on what was read before: only how long it takes.

use super::{Parsed, Reader};
use crate::wire::json::{Json, Malformed};

/// How the last progress notification was written.
#[derive(Debug, Default)]
pub struct Last {
    /// Its text from the beginning to the end of its token's value; empty where it has none.
    beginning: Vec<u8>,
    /// Keyed digest of the beginning.
    digest: u128,
    /// Keyed hash of the token.
    token: u64,
}

impl Last {
    /// Keeps a notification: its token, if it has one, and where that ends.
    pub(super) fn keep(&mut self, text: &[u8], token: Option<(u64, usize)>, key: &[u8; 16]) {
        self.beginning.clear();
        (self.token, self.digest) = (0, 0);
        let Some((token, end)) = token else { return };
        self.beginning.extend_from_slice(text.get(..end).unwrap_or_default());
        self.token = token;
        if self.again(text, key).is_some() {
            self.digest = Json::digest_bytes(&self.beginning, key);
        } else {
            (self.token, self.digest) = (0, 0);
            self.beginning.clear();
        }
    }

    /// The token's hash, if the text is a progress notification that begins as the last one did.
    fn again(&self, text: &[u8], key: &[u8; 16]) -> Option<u64> {
        if self.token == 0 || !text.starts_with(&self.beginning) {
            return None;
        }
        let rest = || -> Result<bool, Malformed> {
            let mut json = Json::new(text, key);
            json.set_digesting(false);
            json.go(self.beginning.len(), 2);
            let mut usual = true;
            json.members(|json, member| {
                usual &= member.raw != b"progressToken" && !member.escaped;
                json.value()
            })?;
            json.members(|json, member| {
                usual &= member.raw == b"jsonrpc";
                json.value()
            })?;
            json.end()?;
            Ok(usual)
        };
        // What is unusual, or malformed, is parsed from its start.
        rest().is_ok_and(|usual| usual).then_some(self.token)
    }

    /// A keyed digest of the text of the notification that was read last.
    pub fn digest(&self, text: &[u8], key: &[u8; 16]) -> u64 {
        let rest = text.get(self.beginning.len()..).unwrap_or_default();
        Json::digest_behind(rest, self.digest, key).max(1)
    }
}

impl Reader<'_> {
    /// As [`Reader::parse`], with a short way for progress that is written as the last one was.
    ///
    /// # Errors
    /// Where the text is no JSON.
    pub fn event(&mut self, text: &[u8]) -> Result<Parsed, Malformed> {
        match self.last_progress.again(text, self.key.sip()) {
            Some(token) => Ok(Parsed::Progress(Some(token))),
            None => self.parse(text),
        }
    }
}
