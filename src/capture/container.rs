//! Compressed files and archives, read as if they were unpacked: in memory or through a temporary file without a name,
//! never under the names that they hold.
//!
//! Every layer is bounded ([`super::Limits`]); what lies beyond a bound is dropped with the caveat `limit-reached`,
//! and what a damaged layer still gave is read, with `input-truncated`.

mod bounded;
mod meter;
mod packing;
mod peeked;
mod shared;
mod tarball;
mod unpack;
mod utf16;
mod zipped;
mod zstd;

pub use bounded::Trouble;
pub use meter::Meter;
pub use packing::Packing;
pub use zipped::{Zip, is_attachment};

use super::{Bytes, Limits, ReadError, sniff};
use peeked::Peeked;
use shared::Seekable;
use std::{
    fs::File,
    io::{self, BufRead},
    path::Path,
};

/// A stream of bytes on its way through the layers.
type Source<'s> = Box<dyn BufRead + Send + 's>;

/// Looks up another member of the same archive.
pub type Lookup<'l> = dyn Fn(&str) -> Option<Vec<u8>> + Sync + 'l;

/// What a file, or a member of an archive, turned out to be.
pub enum Content<'c, 'b> {
    /// Unpacked bytes, and, where they come from an archive, a way to its other members.
    Bytes(&'c mut Bytes<'b>, Option<&'c Lookup<'c>>),
    /// An archive of Fiddler sessions.
    Saz(&'c mut Zip),
    /// It cannot be opened.
    Closed(ReadError),
}

/// One readable thing: a file, or a member of an archive.
pub struct Member<'c, 'b> {
    /// The file's name, and behind a `!` the member's.
    pub name: &'c str,
    /// What there is to read.
    pub content: Content<'c, 'b>,
    /// What went wrong beneath while the content was read.
    pub trouble: &'c Trouble,
    /// It stands for a whole file, not for one of several members.
    pub is_file: bool,
}

/// A file that can be read in any order, apart from the stream of its bytes.
#[derive(Clone, Copy)]
pub struct OnDisk<'d> {
    /// Where it is.
    pub path: &'d Path,
    /// What counts its bytes.
    pub meter: &'d Meter<'d>,
}

/// Where in the layers something stands.
#[derive(Clone, Copy)]
struct Place<'p> {
    name: &'p str,
    limits: &'p Limits,
    /// Layers so far; a compressed tar counts as one.
    depth: u32,
    /// The layer above is a compression.
    in_compression: bool,
    is_file: bool,
}

/// Unpacks a file and hands over what it holds, in order. A file that is not packed is handed over as it is.
///
/// `disk` is where the same file can be read in any order, if it can. What is given back are troubles that came to
/// light only behind the last member.
///
/// # Errors
/// The file itself cannot be read.
pub fn open(
    name: &str,
    source: impl BufRead + Send,
    disk: Option<OnDisk<'_>>,
    limits: &Limits,
    visit: &mut dyn FnMut(Member<'_, '_>),
) -> io::Result<Trouble> {
    let place = Place { name, limits, depth: 0, in_compression: false, is_file: true };
    let trouble = Trouble::default();
    layer(place, Box::new(source), disk, &trouble, None, visit)?;
    Ok(trouble)
}

fn layer(
    place: Place<'_>,
    source: Source<'_>,
    disk: Option<OnDisk<'_>>,
    trouble: &Trouble,
    lookup: Option<&Lookup<'_>>,
    visit: &mut dyn FnMut(Member<'_, '_>),
) -> io::Result<()> {
    let mut source = Peeked::new(source, sniff::PREFIX)?;
    let mut hand_over = |content: Content<'_, '_>| {
        visit(Member { name: place.name, content, trouble, is_file: place.is_file });
    };
    let Some(packing) = Packing::of(source.prefix()) else {
        hand_over(Content::Bytes(&mut source, lookup));
        return Ok(());
    };
    let is_layer = packing != Packing::Utf16 && !(packing == Packing::Tar && place.in_compression);
    let depth = place.depth + u32::from(is_layer);
    if depth > place.limits.depth {
        let message = format!("{packing} inside {} others is not opened (--limit depth)", place.depth);
        hand_over(Content::Closed(ReadError::NotRead(message)));
        return Ok(());
    }
    let inner = Place { depth, in_compression: packing.is_compression(), ..place };
    match packing {
        Packing::Zip => {
            let file = match disk {
                Some(disk) => Seekable::new(File::open(disk.path)?)?,
                None => Seekable::spooled(&mut source, place.limits.unpacked, trouble)?,
            };
            zipped::members(inner, file, disk.map(|disk| disk.meter), trouble, visit)
        }
        Packing::Tar => tarball::members(inner, &mut source, trouble, visit),
        _ => {
            let unpacked = unpack::unpacked(packing, Box::new(source), place.limits, trouble);
            layer(inner, Box::new(unpacked), None, trouble, lookup, visit)
        }
    }
}

#[cfg(test)]
mod tests;
