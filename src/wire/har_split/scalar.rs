//! A JSON value that should be a text or a number, whatever its writer made of it.

use super::RawString;
use std::borrow::Cow;

/// A value, or its absence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scalar<'t> {
    /// There is no such member.
    #[default]
    Absent,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it stands in the text.
    Number(&'t [u8]),
    /// A string.
    Text(RawString<'t>),
    /// An object or array, as it stands in the text.
    Nested(&'t [u8]),
}

impl<'t> Scalar<'t> {
    /// A finite number, or a string that holds one.
    pub fn number(&self) -> Option<f64> {
        let parse =
            |digits: &[u8]| std::str::from_utf8(digits).ok()?.trim().parse().ok().filter(|n: &f64| n.is_finite());
        match self {
            Self::Number(digits) => parse(digits),
            Self::Text(text) => parse(&text.bytes()),
            _ => None,
        }
    }

    /// A string; a number or truth value in its place counts as its spelling.
    pub fn raw(&self) -> Option<RawString<'t>> {
        match self {
            Self::Text(text) => Some(*text),
            Self::Number(digits) => Some(RawString::plain(digits)),
            Self::Bool(true) => Some(RawString::plain(b"true")),
            Self::Bool(false) => Some(RawString::plain(b"false")),
            Self::Absent | Self::Null | Self::Nested(_) => None,
        }
    }

    /// The value of [`Scalar::raw`].
    pub fn text(&self) -> Option<Cow<'t, str>> {
        self.raw().map(|raw| raw.text())
    }

    /// The value of [`Scalar::raw`]; empty where there is none.
    pub fn text_or_empty(&self) -> Cow<'t, str> {
        self.text().unwrap_or_default()
    }

    /// There is a member, and it is not `null`.
    pub fn is_present(&self) -> bool {
        !matches!(self, Self::Absent | Self::Null)
    }
}
