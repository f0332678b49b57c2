//! Members of a zip archive, in the order of its directory.

use super::{
    Content, Member, Place,
    bounded::{Bounded, Trouble},
    layer,
    meter::{Meter, Share},
    shared::Seekable,
};
use crate::capture::{Limits, ReadError};
use std::{
    io::{self, BufReader, Read},
    sync::{Arc, Mutex, atomic::AtomicU64},
};

/// An open zip archive.
pub struct Zip {
    archive: zip::ZipArchive<BufReader<Seekable>>,
    limits: Limits,
    length: u64,
    /// Unpacked bytes that may still be given, over all members: members may overlap.
    left: u64,
}

impl Zip {
    fn open(file: Seekable, limits: &Limits) -> zip::result::ZipResult<Self> {
        let length = file.length();
        let left = length.saturating_mul(limits.ratio).max(64 << 20);
        let archive = zip::ZipArchive::new(BufReader::new(file))?;
        Ok(Self { archive, limits: *limits, length, left })
    }

    /// The names of its files, in the order of its directory, with their indices.
    pub fn names(&self) -> Vec<(usize, String)> {
        (0..self.archive.len())
            .filter_map(|at| Some((at, self.archive.name_for_index(at)?.ok()?.into_owned())))
            .filter(|(_, name)| !name.ends_with('/'))
            .collect()
    }

    /// The archive's comment.
    pub fn comment(&self) -> &[u8] {
        self.archive.comment()
    }

    /// The unpacked bytes of one file.
    ///
    /// # Errors
    /// It is encrypted, or packed in a way that is not read.
    pub fn member(&mut self, index: usize, name: &str, trouble: &Trouble) -> Result<Bounded<'_>, ReadError> {
        let (limits, length, left) = (self.limits, self.length, self.left);
        let file = self.archive.by_index(index).map_err(|e| ReadError::Damaged(reason(&e)))?;
        let packed = file.compressed_size().min(length);
        let limits = Limits { unpacked: limits.unpacked.min(left), ..limits };
        // What it says of its size is believed only as far as it makes the rest smaller.
        self.left = left.saturating_sub(file.size());
        Ok(Bounded::new(Box::new(file), Arc::new(AtomicU64::new(packed)), &limits, name.to_owned(), trouble))
    }

    /// The packed and unpacked bytes of one file, as the archive tells them.
    fn sizes(&mut self, index: usize) -> (u64, u64) {
        self.archive.by_index_raw(index).map_or((0, 0), |file| (file.compressed_size().min(self.length), file.size()))
    }

    /// The bytes of the file of that name, up to the bound on bodies; none where there is none, or it is damaged.
    pub fn bytes_of(&mut self, name: &str) -> Option<Vec<u8>> {
        let index = self.archive.index_for_name(name)?;
        let (most, trouble) = (self.limits.body, Trouble::default());
        let mut bytes = Vec::new();
        self.member(index, name, &trouble).ok()?.take(most).read_to_end(&mut bytes).ok()?;
        trouble.first().is_none().then_some(bytes)
    }
}

fn reason(error: &zip::result::ZipError) -> String {
    match error {
        zip::result::ZipError::UnsupportedArchive(why) if *why == zip::result::ZipError::PASSWORD_REQUIRED => {
            "it is encrypted: save it without a password".to_owned()
        }
        other => format!("it cannot be unpacked: {other}"),
    }
}

/// Hands over what the members hold.
pub fn members(
    place: Place<'_>,
    file: Seekable,
    meter: Option<&Meter<'_>>,
    trouble: &Trouble,
    visit: &mut dyn FnMut(Member<'_, '_>),
) -> io::Result<()> {
    let closed = |error: ReadError, visit: &mut dyn FnMut(Member<'_, '_>)| {
        visit(Member { name: place.name, content: Content::Closed(error), trouble, is_file: place.is_file });
    };
    let opened = Zip::open(file.clone(), place.limits).and_then(|zip| Ok((zip, Zip::open(file, place.limits)?)));
    let (mut zip, others) = match opened {
        Ok(pair) => pair,
        Err(e) => {
            closed(ReadError::Damaged(format!("the zip archive cannot be opened: {e}")), visit);
            return Ok(());
        }
    };
    let length = zip.length;
    let read_through = || meter.into_iter().for_each(|meter| meter.reach(length));
    let names = zip.names();
    if names.iter().any(|(_, name)| is_session(name)) {
        visit(Member { name: place.name, content: Content::Saz(&mut zip), trouble, is_file: place.is_file });
        read_through();
        return Ok(());
    }
    let mut before = 0;
    let others = Mutex::new(others);
    for (count, (index, name)) in names.iter().enumerate() {
        if count as u64 >= place.limits.members {
            trouble.note("limit-reached", format!("only the first {count} members were read (limit `members`)"));
            break;
        }
        // Bodies that a HAR beside them refers to are read as parts of it.
        if is_attachment(name) && names.iter().any(|(_, n)| is_har(n) && folder(n) == folder(name)) {
            continue;
        }
        let full = format!("{}!{name}", place.name);
        let own = Trouble::default();
        let (packed, unpacked) = zip.sizes(*index);
        let inner = Place { name: &full, in_compression: false, is_file: false, ..place };
        let bytes = match zip.member(*index, &full, &own) {
            Ok(bytes) => bytes,
            Err(error) => {
                visit(Member { name: &full, content: Content::Closed(error), trouble: &own, is_file: false });
                continue;
            }
        };
        let lookup = |wanted: &str| {
            let plain = !wanted.contains(['/', '\\']);
            let wanted = format!("{}{wanted}", folder(name));
            others.lock().ok().filter(|_| plain)?.bytes_of(&wanted)
        };
        let share = Share { inner: bytes, meter, before, packed, unpacked, given: 0 };
        layer(inner, Box::new(share), None, &own, Some(&lookup), visit)?;
        before = before.saturating_add(packed);
        own.pass_on(trouble);
    }
    read_through();
    Ok(())
}

/// `raw/12_c.txt`: what a client sent in Fiddler's session 12.
pub fn is_session(name: &str) -> bool {
    let number = name.strip_prefix("raw/").and_then(|n| n.strip_suffix("_c.txt"));
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// A body that Playwright attaches: named by its SHA-1.
pub fn is_attachment(name: &str) -> bool {
    let plain = name.rsplit('/').next().unwrap_or_default();
    let stem = plain.split('.').next().unwrap_or_default();
    stem.len() == 40 && plain.len() > 40 && stem.bytes().all(|b| b.is_ascii_hexdigit())
}

fn is_har(name: &str) -> bool {
    name.len() > 4 && name.as_bytes()[name.len() - 4..].eq_ignore_ascii_case(b".har")
}

/// The part of a name up to its last slash, that slash included.
fn folder(name: &str) -> &str {
    name.rfind('/').map_or("", |at| &name[..=at])
}
