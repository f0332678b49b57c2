//! One direction of an HTTP/2 connection: its frames, and its header blocks decoded in order.

use super::block::Fields;
use crate::{
    capture::pcap::frames::Frames,
    wire::{
        hpack::Decoder,
        http2::{FrameHead, kind},
        tcp::Stamp,
    },
};

/// Longest header block in bytes.
const LONGEST_BLOCK: usize = 1 << 20;

/// A header block, which may go on in further frames.
pub struct Begun {
    /// The frame that began it.
    pub head: FrameHead,
    /// The block as far as it is there.
    pub block: Vec<u8>,
    /// The packet that brought that frame.
    pub first: Stamp,
}

/// One direction.
pub struct Direction {
    /// Its frames.
    pub frames: Frames,
    fields: Decoder,
    begun: Option<Begun>,
    /// Its header blocks cannot be decoded any more.
    is_dead: bool,
}

impl Direction {
    /// The client's direction or the server's; `is_lost` where its beginning is not in the capture.
    pub fn new(is_client: bool, is_lost: bool) -> Self {
        let (frames, fields) = (Frames::new(is_client, is_lost), Decoder::new(is_lost));
        Self { frames, fields, begun: None, is_dead: false }
    }

    /// Adds a part of a header block; the block once it is whole.
    pub fn collect(&mut self, head: FrameHead, payload: &[u8], own: Stamp) -> Option<Begun> {
        let Some(part) = head.block(payload).and_then(|range| payload.get(range)) else {
            self.tear();
            return None;
        };
        if head.kind == kind::CONTINUATION {
            let begun = self.begun.as_mut().filter(|b| b.head.stream == head.stream)?;
            begun.block.extend_from_slice(part);
            if begun.block.len() > LONGEST_BLOCK {
                self.tear();
                return None;
            }
        } else {
            self.begun = Some(Begun { head, block: part.to_vec(), first: own });
        }
        if head.ends_headers() { self.begun.take() } else { None }
    }

    /// The fields of a block; none where the direction's blocks cannot be decoded any more.
    pub fn decode(&mut self, block: &[u8]) -> Option<Fields> {
        if self.is_dead {
            return None;
        }
        match self.fields.decode(block) {
            Ok(block) => Some(Fields::new(block)),
            Err(_) => {
                self.is_dead = true;
                None
            }
        }
    }

    /// Blocks were lost.
    pub fn tear(&mut self) {
        self.begun = None;
        self.fields.tear();
    }
}
