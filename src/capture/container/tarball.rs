//! Members of a tar archive, in file order.

use super::{Place, bounded::Trouble, layer};
use std::io::{self, BufReader, Read, Seek};

/// Members up to this size are held in memory, larger ones in a temporary file.
const IN_MEMORY: usize = 16 << 20;

/// Hands over what the members hold.
pub fn members(
    place: Place<'_>,
    source: &mut (dyn Read + Send),
    trouble: &Trouble,
    visit: &mut dyn FnMut(super::Member<'_, '_>),
) -> io::Result<()> {
    let mut archive = tar::Archive::new(source);
    let mut count = 0_u64;
    let stop = |message: String, caveat: &'static str| trouble.note(caveat, message);
    for entry in archive.entries()? {
        let mut entry = match entry {
            Ok(entry) => entry,
            Err(e) => {
                stop(format!("the tar archive is damaged or cut behind {count} members: {e}"), "input-truncated");
                break;
            }
        };
        if !entry.header().entry_type().is_file() {
            continue;
        }
        count += 1;
        if count > place.limits.members {
            stop(format!("only the first {} members were read (limit `members`)", count - 1), "limit-reached");
            break;
        }
        let name = format!("{}!{}", place.name, String::from_utf8_lossy(&entry.path_bytes()));
        // The archive's reader cannot go to another thread; a copy can, and an archive inside needs to seek in it.
        let mut copy = tempfile::spooled_tempfile(IN_MEMORY);
        let copied = io::copy(&mut (&mut entry).take(place.limits.unpacked), &mut copy);
        let wanted = entry.size().min(place.limits.unpacked);
        let own = Trouble::default();
        if entry.size() > wanted {
            own.note("limit-reached", format!("{name} is larger than the limit `unpacked`"));
        }
        if copied.as_ref().is_ok_and(|n| *n < wanted) || copied.is_err() {
            own.note("input-truncated", format!("{name} is cut: the tar archive is damaged or ends within it"));
        }
        copy.rewind()?;
        let inner = Place { name: &name, in_compression: false, is_file: false, ..place };
        layer(inner, Box::new(BufReader::new(copy)), None, &own, None, visit)?;
        own.pass_on(trouble);
    }
    Ok(())
}
