//! Captured packets from either file format, one after the other.

use super::{classic::Classic, pcapng::Pcapng, window::Window};
use crate::capture::{Bytes, ReadError};

/// Largest record that is believed; longer ones mean that the file is damaged.
pub const LARGEST: usize = 64 << 20;

/// One captured packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its number in the file, from 1, as Wireshark counts.
    pub frame: u32,
    /// Its time in microseconds since the Unix epoch; simple packets have none.
    pub micros: Option<i64>,
    /// The `LINKTYPE_` of its interface.
    pub link: u32,
    /// What was captured of it.
    pub bytes: &'a [u8],
    /// How many bytes of it were not.
    pub uncaptured: usize,
}

/// Where and why a file could not be read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Offset of the record that could not be read.
    pub offset: u64,
    /// The last packet that could.
    pub frame: u32,
    /// What is wrong there.
    pub why: &'static str,
}

/// What comes next in a file.
pub enum Next<'a> {
    /// A packet.
    Packet(Record<'a>),
    /// The file's regular end.
    End,
    /// It ends, or cannot be followed, in the middle.
    Stop(Stop),
}

/// The packets of a capture file.
pub enum Records<'i, 'b> {
    /// libpcap's own format.
    Classic(Classic<'i, 'b>),
    /// Its successor.
    Pcapng(Pcapng<'i, 'b>),
}

impl<'i, 'b> Records<'i, 'b> {
    /// Begins to read a file.
    pub fn open(input: &'i mut Bytes<'b>) -> Result<Self, ReadError> {
        let mut window = Window::new(input);
        window.fill(4)?;
        match window.bytes().first_chunk() {
            Some([0x0a, 0x0d, 0x0d, 0x0a]) => Ok(Self::Pcapng(Pcapng::new(window))),
            Some(magic) => Ok(Self::Classic(Classic::open(*magic, window)?)),
            None => Err(ReadError::NotACapture("no packet capture: shorter than four bytes".into())),
        }
    }

    /// The next packet.
    pub fn next(&mut self) -> Result<Next<'_>, ReadError> {
        match self {
            Self::Classic(file) => file.next(),
            Self::Pcapng(file) => file.next(),
        }
    }

    /// The program that wrote the file, by its own account.
    pub fn recorder(&self) -> Option<&str> {
        match self {
            Self::Classic(_) => None,
            Self::Pcapng(file) => file.recorder.as_deref(),
        }
    }

    /// How many packets contradict themselves and were left out, and the first of them.
    pub fn contradictions(&self) -> (u64, Option<Stop>) {
        match self {
            Self::Classic(_) => (0, None),
            Self::Pcapng(file) => file.broken.clone(),
        }
    }
}
