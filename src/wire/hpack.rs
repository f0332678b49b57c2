//! HPACK (RFC 7541): header blocks to fields, also where the capture does not hold the connection's beginning.

mod fixed;
mod huffman;

use fixed::FIXED;
use std::{collections::VecDeque, sync::Arc};

/// Size of the dynamic table before either side says otherwise.
const INITIAL_SIZE: usize = 4096;

/// Largest dynamic table that is followed.
const LARGEST_TABLE: usize = 1 << 20;

/// What an entry of the dynamic table costs beside its name and value.
const OVERHEAD: usize = 32;

/// Most bytes of names and values that one block may give: indices make few bytes into many.
const LARGEST_LIST: usize = 1 << 20;

/// A field: its name and value as bytes.
pub type Field = (Arc<[u8]>, Arc<[u8]>);

/// The fields of a block, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The known ones, in order.
    pub fields: Vec<Field>,
    /// How many refer to parts of the dynamic table that were filled before the capture began, or after a loss.
    pub unknown: usize,
}

/// A block that breaks the format: its connection cannot be followed in this direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("damaged header block")]
pub struct Damaged;

/// The decoder of one direction.
pub struct Decoder {
    /// Newest first; none where an entry is known to be there, and nothing of it or not its name.
    dynamic: VecDeque<Option<Field>>,
    size: usize,
    most: usize,
    /// The table held entries that were never seen.
    is_torn: bool,
}

impl Decoder {
    /// A decoder at the beginning of a connection, or else somewhere within it.
    pub fn new(is_torn: bool) -> Self {
        Self { dynamic: VecDeque::new(), size: 0, most: INITIAL_SIZE, is_torn }
    }

    /// Blocks were lost: nothing that the table holds is certain any more.
    pub fn tear(&mut self) {
        self.dynamic.clear();
        self.size = 0;
        self.is_torn = true;
    }

    /// Decodes a whole block.
    pub fn decode(&mut self, block: &[u8]) -> Result<Block, Damaged> {
        let mut rest = block;
        let mut list = Block::default();
        let mut size = 0;
        while let Some(&first) = rest.first() {
            let field = match first {
                0x80.. => {
                    let index = integer(&mut rest, 7)?;
                    self.entry(index)?
                }
                0x40..0x80 => {
                    let field = self.literal(&mut rest, 6)?;
                    self.insert(field.clone());
                    field
                }
                0x20..0x40 => {
                    let most = integer(&mut rest, 5)?;
                    self.resize(most)?;
                    continue;
                }
                _ => self.literal(&mut rest, 4)?,
            };
            match field {
                Some(field) => {
                    size += field.0.len() + field.1.len() + OVERHEAD;
                    if size > LARGEST_LIST {
                        return Err(Damaged);
                    }
                    list.fields.push(field);
                }
                None => list.unknown += 1,
            }
        }
        Ok(list)
    }

    /// The entry with this index; none inside where it was never seen.
    fn entry(&self, index: usize) -> Result<Option<Field>, Damaged> {
        let index = index.checked_sub(1).ok_or(Damaged)?;
        if let Some((name, value)) = FIXED.get(index) {
            return Ok(Some((name.as_bytes().into(), value.as_bytes().into())));
        }
        match self.dynamic.get(index - FIXED.len()) {
            Some(entry) => Ok(entry.clone()),
            None if self.is_torn => Ok(None),
            None => Err(Damaged),
        }
    }

    fn literal(&self, rest: &mut &[u8], prefix: u8) -> Result<Option<Field>, Damaged> {
        let index = integer(rest, prefix)?;
        let name = if index == 0 { Some(string(rest)?) } else { self.entry(index)?.map(|(name, _)| name) };
        let value = string(rest)?;
        Ok(name.map(|name| (name, value)))
    }

    fn insert(&mut self, field: Option<Field>) {
        let size = cost(field.as_ref());
        self.size += size;
        self.dynamic.push_front(field);
        self.evict();
    }

    fn resize(&mut self, most: usize) -> Result<(), Damaged> {
        if most > LARGEST_TABLE {
            return Err(Damaged);
        }
        self.most = most;
        self.evict();
        // A table that was emptied holds nothing unknown.
        self.is_torn &= most > 0;
        Ok(())
    }

    fn evict(&mut self) {
        while self.size > self.most
            && let Some(oldest) = self.dynamic.pop_back()
        {
            self.size = self.size.saturating_sub(cost(oldest.as_ref()));
        }
    }
}

/// What an entry counts against the table; an unknown name counts as nothing, so that no entry leaves too early.
fn cost(field: Option<&Field>) -> usize {
    OVERHEAD + field.map_or(0, |(name, value)| name.len() + value.len())
}

/// An integer whose first byte gives its low `prefix` bits.
fn integer(rest: &mut &[u8], prefix: u8) -> Result<usize, Damaged> {
    let (&first, mut bytes) = rest.split_first().ok_or(Damaged)?;
    let mask = (1_u8 << prefix) - 1;
    let mut value = usize::from(first & mask);
    if first & mask == mask {
        for shift in (0..28).step_by(7) {
            let (&byte, behind) = bytes.split_first().ok_or(Damaged)?;
            bytes = behind;
            value += usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                *rest = bytes;
                return Ok(value);
            }
        }
        return Err(Damaged);
    }
    *rest = bytes;
    Ok(value)
}

fn string(rest: &mut &[u8]) -> Result<Arc<[u8]>, Damaged> {
    let is_huffman = rest.first().is_some_and(|first| first & 0x80 != 0);
    let length = integer(rest, 7)?;
    let (bytes, behind) = rest.split_at_checked(length).ok_or(Damaged)?;
    *rest = behind;
    if !is_huffman {
        return Ok(bytes.into());
    }
    let mut text = Vec::with_capacity(bytes.len() * 2);
    huffman::decode(bytes, &mut text).ok_or(Damaged)?;
    Ok(text.into())
}

#[cfg(test)]
mod tests;
