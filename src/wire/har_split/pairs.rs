//! Lists of names and values, of which a HAR consists for the most part, and which repeat from entry to entry.
//!
//! Where the text goes on byte for byte as it did in the list before, at a place where a scanner would be in the same
//! state, it means the same, and is compared instead of scanned.

use super::{Fault, RawString, Scalar, Scanner};
use std::{borrow::Cow, ops::Deref};

/// A name and its value.
pub type Pair<'t> = (Cow<'t, str>, Cow<'t, str>);

/// A list of names and values, read over and over. What it derefs to are the pairs whose names were wanted.
#[derive(Debug, Default)]
pub struct Pairs<'t> {
    list: List<'t>,
    /// The list before.
    previous: List<'t>,
    /// What stood between a value's closing quote and the next name, the name's opening quote included.
    between: &'t [u8],
    /// What stood between a name's closing quote and its value, the value's opening quote included.
    middle: &'t [u8],
}

#[derive(Debug, Default)]
struct List<'t> {
    /// The pairs that are wanted.
    pairs: Vec<Pair<'t>>,
    /// All pairs.
    places: Vec<Place>,
    /// Where the list begins, behind its bracket.
    start: usize,
}

/// A pair, wanted or not.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Where it ends, behind its value's closing quote; none where it is written in another way.
    end: Option<usize>,
    /// Its index among the pairs that are wanted.
    wanted: Option<usize>,
}

/// Says of a name, as it stands in the text, whether its pair is wanted.
pub type Wanted = fn(&[u8]) -> bool;

impl<'t> Deref for Pairs<'t> {
    type Target = [Pair<'t>];

    fn deref(&self) -> &[Pair<'t>] {
        &self.list.pairs
    }
}

impl<'t> Pairs<'t> {
    /// Forgets the list, but not how it was written.
    pub fn clear(&mut self) {
        if !self.list.places.is_empty() {
            std::mem::swap(&mut self.list, &mut self.previous);
        }
        self.list.pairs.clear();
        self.list.places.clear();
    }

    /// The list has no pair at all, wanted or not.
    pub fn is_blank(&self) -> bool {
        self.list.places.is_empty()
    }

    /// Reads `[{"name": …, "value": …}]`, `[[name, value]]` or `{name: value}`; of anything else, nothing. Pairs that
    /// are not wanted are passed over.
    ///
    /// # Errors
    ///
    /// The text is malformed.
    pub fn read(&mut self, scanner: &mut Scanner<'t>, wanted: Wanted) -> Result<(), Fault> {
        self.clear();
        match scanner.peek() {
            Some(b'[') => self.array(scanner, wanted),
            Some(b'{') => scanner.members(|scanner, name| {
                let value = scanner.scalar()?;
                self.push(Scalar::Text(name), value, None, wanted);
                Ok(())
            }),
            _ => scanner.skip(),
        }
    }

    fn array(&mut self, scanner: &mut Scanner<'t>, wanted: Wanted) -> Result<(), Fault> {
        scanner.expect(b'[', "no array")?;
        self.list.start = scanner.at();
        let mut inside = self.repeat(scanner, wanted)?;
        if !inside && scanner.accept(b']') {
            return Ok(());
        }
        loop {
            if !inside {
                let end = self.element(scanner, wanted)?;
                if let Some(end) = end {
                    let behind = *scanner;
                    scanner.go(end);
                    inside = self.repeat(scanner, wanted)?;
                    if !inside {
                        *scanner = behind;
                    }
                }
            }
            if inside {
                // Behind the last value that was compared, and still inside of its object.
                while scanner.another(b'}')? {
                    scanner.key()?;
                    scanner.skip()?;
                }
                inside = false;
            }
            if !scanner.another(b']')? {
                return Ok(());
            }
        }
    }

    /// Takes pairs while they are those of the list before, or written in the same way. The scanner stands behind the
    /// list's bracket or behind a value inside of its object; and behind a value where this is true.
    fn repeat(&mut self, scanner: &mut Scanner<'t>, wanted: Wanted) -> Result<bool, Fault> {
        let mut any = false;
        loop {
            let (text, at) = (scanner.text(), scanner.at());
            let index = self.list.places.len();
            let rest = text.get(at..).unwrap_or_default();
            if self.list.end(index) == Some(at)
                && let (Some(from), Some(to)) = (self.previous.end(index), self.previous.end(index + 1))
                && let Some(before) = text.get(from..to)
                && rest.starts_with(before)
                && let Some(place) = self.previous.places.get(index)
            {
                let end = at + before.len();
                self.list.push(Some(end), place.wanted.and_then(|wanted| self.previous.pairs.get(wanted)).cloned());
                scanner.go(end);
            } else if index > 0 && !self.between.is_empty() && rest.starts_with(self.between) {
                let (name, end) = RawString::scan(text, at + self.between.len() - 1)?;
                if !text.get(end..).unwrap_or_default().starts_with(self.middle) {
                    return Ok(any);
                }
                let (value, end) = RawString::scan(text, end + self.middle.len() - 1)?;
                self.list.push(Some(end), is_wanted(name, wanted).then(|| (name.text(), value.text())));
                scanner.go(end);
            } else {
                return Ok(any);
            }
            any = true;
        }
    }

    /// Reads one element, and gives the offset behind its value where name and value are its first two members.
    fn element(&mut self, scanner: &mut Scanner<'t>, wanted: Wanted) -> Result<Option<usize>, Fault> {
        let (mut name, mut value, mut end) = (Scalar::Absent, Scalar::Absent, None);
        let mut place = 0;
        match scanner.peek() {
            Some(b'{') => {
                let (mut name_start, mut name_end) = (0, 0);
                scanner.members(|scanner, key| {
                    place += 1;
                    scanner.peek();
                    let start = scanner.at();
                    if key.is("name") {
                        name = scanner.scalar()?;
                        (name_start, name_end) = (start, scanner.at());
                    } else if key.is("value") {
                        value = scanner.scalar()?;
                        if let (2, Scalar::Text(_), Scalar::Text(_)) = (place, name, value) {
                            end = Some(scanner.at());
                            self.middle = scanner.text().get(name_end..=start).unwrap_or_default();
                        }
                    } else {
                        scanner.skip()?;
                    }
                    Ok(())
                })?;
                if let (Some(_), Some(Place { end: Some(before), .. })) = (end, self.list.places.last()) {
                    self.between = scanner.text().get(*before..=name_start).unwrap_or_default();
                }
            }
            Some(b'[') => scanner.array(|scanner| {
                match place {
                    0 => name = scanner.scalar()?,
                    1 => value = scanner.scalar()?,
                    _ => scanner.skip()?,
                }
                place += 1;
                Ok(())
            })?,
            _ => scanner.skip()?,
        }
        // Without a name nothing is kept, and what follows does not follow a pair.
        end = end.filter(|_| name.raw().is_some());
        self.push(name, value, end, wanted);
        Ok(end)
    }

    fn push(&mut self, name: Scalar<'t>, value: Scalar<'t>, end: Option<usize>, wanted: Wanted) {
        if let Some(name) = name.raw() {
            self.list.push(end, is_wanted(name, wanted).then(|| (name.text(), value.text_or_empty())));
        }
    }
}

fn is_wanted(name: RawString<'_>, wanted: Wanted) -> bool {
    wanted(&name.bytes())
}

impl<'t> List<'t> {
    fn push(&mut self, end: Option<usize>, pair: Option<Pair<'t>>) {
        let wanted = pair.is_some().then_some(self.pairs.len());
        self.pairs.extend(pair);
        self.places.push(Place { end, wanted });
    }

    /// Where the pair before this one ends, or the list begins.
    fn end(&self, index: usize) -> Option<usize> {
        match index.checked_sub(1) {
            None => Some(self.start),
            Some(before) => self.places.get(before)?.end,
        }
    }
}
