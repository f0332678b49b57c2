//! Typed netstrings, in which mitmproxy keeps its flows: `<length>:<payload><type>`.
//!
//! Values are read lazily: a list or dictionary is its payload until somebody walks it, so that nothing recurses and
//! nothing is built, however deep or wide the text is.

use nom::{
    IResult, Parser,
    bytes::complete::{tag, take, take_while_m_n},
    combinator::{map_opt, map_res},
    sequence::terminated,
};

/// The longest length that is written out, in digits.
pub const MOST_DIGITS: usize = 12;

/// One value; texts and bytes are borrowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// `,`: bytes.
    Bytes(&'a [u8]),
    /// `;`: text, in UTF-8 as far as its writer kept to it.
    Text(&'a [u8]),
    /// `#`
    Int(i64),
    /// `^`
    Float(f64),
    /// `!`
    Bool(bool),
    /// `~`
    Null,
    /// `]`
    List(Items<'a>),
    /// `}`
    Dict(Items<'a>),
}

/// The payload of a list or dictionary, walked value by value. It ends early where the payload is malformed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Items<'a>(&'a [u8]);

/// The length that a value announces, from its first bytes up to the colon.
///
/// # Errors
/// Where no value begins so.
pub fn length(input: &[u8]) -> IResult<&[u8], usize> {
    let digits = take_while_m_n(1, MOST_DIGITS, |b: u8| b.is_ascii_digit());
    let number = map_res(digits, |d| std::str::from_utf8(d).unwrap_or_default().parse());
    terminated(number, tag(&b":"[..])).parse(input)
}

/// One value, and what follows it.
///
/// # Errors
/// Where the text is no typed netstring, or ends too early.
pub fn value(input: &[u8]) -> IResult<&[u8], Value<'_>> {
    let (rest, length) = length(input)?;
    map_opt((take(length), take(1_usize)), |(payload, kind)| typed(payload, kind)).parse(rest)
}

fn typed<'a>(payload: &'a [u8], kind: &[u8]) -> Option<Value<'a>> {
    let text = || std::str::from_utf8(payload).ok();
    Some(match kind {
        b"," => Value::Bytes(payload),
        b";" => Value::Text(payload),
        b"#" => Value::Int(text()?.parse().ok()?),
        b"^" => Value::Float(text()?.parse().ok()?),
        b"!" => match payload {
            b"true" => Value::Bool(true),
            b"false" => Value::Bool(false),
            _ => return None,
        },
        b"~" => payload.is_empty().then_some(Value::Null)?,
        b"]" => Value::List(Items(payload)),
        b"}" => Value::Dict(Items(payload)),
        _ => return None,
    })
}

impl<'a> Iterator for Items<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        let (rest, next) = value(self.0).ok()?;
        self.0 = rest;
        Some(next)
    }
}

impl<'a> Items<'a> {
    /// Nothing is left: after a walk to the end, false says that the payload is malformed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members of a dictionary.
    pub fn pairs(mut self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> {
        std::iter::from_fn(move || Some((self.next()?, self.next()?)))
    }
}

impl<'a> Value<'a> {
    /// The member of that name; [`Value::Null`] where this is no dictionary or has none.
    pub fn get(self, name: &str) -> Self {
        let Self::Dict(items) = self else { return Self::Null };
        items.pairs().find(|(key, _)| key.bytes() == Some(name.as_bytes())).map_or(Self::Null, |(_, value)| value)
    }

    /// Bytes or text.
    pub fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) | Self::Text(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// A number, as floating point.
    #[expect(clippy::cast_precision_loss, reason = "times and ports, far below 2^53")]
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Int(n) => Some(n as f64),
            Self::Float(n) => Some(n),
            _ => None,
        }
    }

    /// A whole number.
    pub fn int(self) -> Option<i64> {
        if let Self::Int(n) = self { Some(n) } else { None }
    }

    /// The elements of a list; nothing for other values.
    pub fn list(self) -> Items<'a> {
        if let Self::List(items) = self { items } else { Items(&[]) }
    }

    /// It is `~`, or is not there.
    pub fn is_null(self) -> bool {
        self == Self::Null
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(text: &[u8]) -> Value<'_> {
        let (rest, value) = value(text).expect("a value");
        assert!(rest.is_empty());
        value
    }

    #[test]
    fn every_type_is_read_from_its_last_byte() {
        assert_eq!(one(b"3:a:b,"), Value::Bytes(b"a:b"));
        assert_eq!(one("2:\u{fc};".as_bytes()), Value::Text("\u{fc}".as_bytes()));
        assert_eq!(one(b"2:-7#"), Value::Int(-7));
        assert_eq!(one(b"3:1.5^"), Value::Float(1.5));
        assert_eq!(one(b"5:false!"), Value::Bool(false));
        assert!(one(b"0:~").is_null());
        assert_eq!(one(b"8:1:1#1:2#]").list().map(Value::int).collect::<Vec<_>>(), [Some(1), Some(2)]);
    }

    #[test]
    fn members_are_found_under_text_and_byte_keys() {
        let dict = one(b"26:1:a;1:x,1:b,10:1:c;3:2.5^}}");
        assert_eq!(dict.get("a").bytes(), Some(&b"x"[..]));
        assert_eq!(dict.get("b").get("c").number(), Some(2.5));
        assert!(dict.get("z").get("y").is_null());
    }

    #[test]
    fn what_is_cut_or_no_netstring_is_refused() {
        for text in
            [&b"3:ab"[..], b"3:abc", b"x", b"1:1", b"1:a#", b"3:yes!", b"1:a~", b"1:a?", b"9999999999999:a,", b":,"]
        {
            assert!(value(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_malformed_member_ends_the_walk_and_is_seen() {
        let Value::List(mut items) = one(b"8:1:1#9:2#]") else { panic!("a list") };
        assert_eq!(items.by_ref().count(), 1);
        assert!(!items.is_empty());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(prop_oneof![Just(b':'), Just(b'}'), Just(b'2'), any::<u8>()], 0..64)) {
            if let Ok((_, value)) = value(&bytes) {
                let _ = (value.get("a"), value.list().count());
            }
        }
    }
}
