//! A file that several readers read in any order: what archives with a directory at their end need.

use super::bounded::Trouble;
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    sync::{Arc, Mutex},
};

/// One reader's place in a shared file.
#[derive(Clone)]
pub struct Seekable {
    file: Arc<Mutex<File>>,
    length: u64,
    at: u64,
}

impl Seekable {
    /// A file on disk.
    ///
    /// # Errors
    /// Its length cannot be told.
    pub fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(Mutex::new(file)), length, at: 0 })
    }

    /// The bytes of a stream, in a temporary file without a name.
    ///
    /// # Errors
    /// The stream cannot be read, or the temporary file not be written.
    pub fn spooled(source: &mut dyn Read, most: u64, trouble: &Trouble) -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        let length = io::copy(&mut source.take(most), &mut file)?;
        if length == most && source.read(&mut [0])? > 0 {
            trouble.note("limit-reached", format!("only the first {most} bytes were read (limit `unpacked`)"));
        }
        Self::new(file)
    }

    /// Its length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }
}

impl Read for Seekable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self.file.lock().map_err(|_| io::Error::other("another reader failed"))?;
        file.seek(SeekFrom::Start(self.at))?;
        let length = file.read(buffer)?;
        self.at += length as u64;
        Ok(length)
    }
}

impl Seek for Seekable {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}
