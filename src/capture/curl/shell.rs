//! The words of a command line, by the quoting rules of POSIX shells.

/// The words of a command by the rules of POSIX shells, and how long it is, its line end included.
pub fn words(text: &[u8]) -> Option<(Vec<Vec<u8>>, usize)> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(byte) = text.get(at).copied() {
        at += 1;
        match byte {
            b'\n' => break,
            b' ' | b'\t' | b'\r' => words.extend(word.take()),
            b'|' | b';' | b'>' | b'&' if word.is_none() => {
                // What follows is another command, or where the output goes.
                at += memchr::memchr(b'\n', &text[at..]).map_or(text.len() - at, |n| n + 1);
                break;
            }
            b'\\' => match text.get(at) {
                Some(b'\n') => at += 1,
                Some(b'\r') if text.get(at + 1) == Some(&b'\n') => at += 2,
                Some(next) => {
                    word.get_or_insert_default().push(*next);
                    at += 1;
                }
                None => break,
            },
            b'\'' => {
                let end = memchr::memchr(b'\'', text.get(at..)?)?;
                word.get_or_insert_default().extend_from_slice(&text[at..at + end]);
                at += end + 1;
            }
            b'"' => at = double_quoted(text, at, word.get_or_insert_default())?,
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    Some((words, at))
}

/// Takes over the text up to the closing quote, and gives the offset behind it.
fn double_quoted(text: &[u8], mut at: usize, word: &mut Vec<u8>) -> Option<usize> {
    loop {
        let byte = *text.get(at)?;
        at += 1;
        match byte {
            b'"' => return Some(at),
            b'\\' => {
                let next = *text.get(at)?;
                at += 1;
                match next {
                    b'"' | b'\\' | b'$' | b'`' => word.push(next),
                    b'\n' => {}
                    _ => word.extend_from_slice(&[b'\\', next]),
                }
            }
            _ => word.push(byte),
        }
    }
}
