//! The objects of a file, one after the other, whatever stands between them: an array's commas, or line ends.

use crate::capture::Bytes;
use std::io;

/// One object.
pub struct Element<'e> {
    /// Its text.
    pub text: &'e [u8],
    /// Offset of its first byte.
    pub offset: u64,
}

/// The objects of a file at the outermost level.
pub struct Elements<'i, 'b> {
    input: &'i mut Bytes<'b>,
    most: u64,
    text: Vec<u8>,
    offset: u64,
    /// How many were too long and dropped.
    pub too_long: u64,
    /// The file ended within one.
    pub is_cut: bool,
}

impl<'i, 'b> Elements<'i, 'b> {
    /// The objects of `input`, each of at most `most` bytes.
    pub fn new(input: &'i mut Bytes<'b>, most: u64) -> Self {
        Self { input, most, text: Vec::new(), offset: 0, too_long: 0, is_cut: false }
    }

    /// The next object; none at the end of the file.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn next(&mut self) -> io::Result<Option<Element<'_>>> {
        loop {
            self.text.clear();
            let (mut depth, mut in_string, mut escaped, mut dropped) = (0_u64, false, false, false);
            let mut start = self.offset;
            loop {
                let buffer = self.input.fill_buf()?;
                if buffer.is_empty() {
                    self.is_cut |= depth > 0;
                    return Ok(None);
                }
                let (mut from, mut to, mut done) = (0, buffer.len(), false);
                for (at, byte) in buffer.iter().enumerate() {
                    if depth == 0 {
                        if *byte == b'{' {
                            (depth, from, start) = (1, at, self.offset + at as u64);
                        } else {
                            from = at + 1;
                        }
                        continue;
                    }
                    match byte {
                        _ if escaped => escaped = false,
                        b'\\' if in_string => escaped = true,
                        b'"' => in_string = !in_string,
                        b'{' | b'[' if !in_string => depth += 1,
                        b'}' | b']' if !in_string => {
                            depth -= 1;
                            if depth == 0 {
                                (to, done) = (at + 1, true);
                                break;
                            }
                        }
                        _ => {}
                    }
                }
                if depth > 0 || done {
                    if self.text.len() as u64 + (to - from) as u64 > self.most {
                        dropped = true;
                        self.text = Vec::new();
                    } else if !dropped {
                        self.text.extend_from_slice(&buffer[from..to]);
                    }
                }
                self.input.consume(to);
                self.offset += to as u64;
                if done {
                    break;
                }
            }
            if !dropped {
                return Ok(Some(Element { text: &self.text, offset: start }));
            }
            self.too_long += 1;
        }
    }
}
