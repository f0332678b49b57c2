//! Head lines: `> METHOD URL`, `< STATUS [TIME]`, `name: value`, and `= END [STATE] [TIME]`.

use super::{ENDS, REASONS, escape, time};
use crate::model::{End, Missing, Time};

/// Where a URL that is only a path is served.
const HOST: &str = "http://localhost";
const PATH: &str = "/mcp";

/// The request line behind its mark.
///
/// # Errors
/// Where there is no method.
pub fn request(text: &str) -> Result<(String, String), String> {
    let (method, url) = text.split_once(' ').unwrap_or((text, ""));
    if method.is_empty() || !method.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_!#$%&'*+.^`|~\\{}".contains(&b)) {
        return Err(format!("'> {text}' is no request line like > POST http://localhost:3000/mcp"));
    }
    let url = match url.trim() {
        "" => format!("{HOST}{PATH}"),
        path if path.starts_with('/') => format!("{HOST}{}", escape::untext(path)?),
        whole => escape::untext(whole)?,
    };
    Ok((escape::untext(method)?, url))
}

/// One header line behind its mark.
///
/// # Errors
/// Where there is no colon.
pub fn header(text: &str) -> Result<(String, String), String> {
    // A pseudo-header begins with a colon.
    let colon = text.char_indices().skip(1).find(|(_, c)| *c == ':').map(|(at, _)| at);
    let at = colon.ok_or_else(|| format!("'{text}' is no header line like name: value"))?;
    Ok((escape::untext(text[..at].trim())?, escape::untext(text[at + 1..].trim())?))
}

/// The status line behind its mark: a status or `-`, and perhaps a time.
///
/// # Errors
/// Where it is none.
pub fn status(text: &str, before: Option<Time>) -> Result<(Option<u16>, Option<Time>), String> {
    let (status, rest) = text.split_once(' ').unwrap_or((text, ""));
    let status = match status {
        "-" => None,
        digits => Some(digits.parse().map_err(|_| format!("'< {text}' is no status line like < 200 or < 200 +5ms"))?),
    };
    let head = if rest.trim().is_empty() { before } else { time::parse(rest.trim(), before)? };
    Ok((status, head))
}

/// What a body is, said in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// All of it stands there.
    Whole,
    /// Only its beginning does.
    Partial(Missing),
    /// Nobody knows what it held.
    NotCaptured(Missing),
}

/// The end line behind its mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How it ended.
    pub end: End,
    /// What the body is, where it says.
    pub state: Option<State>,
    /// How many bytes of the body the client provably received, where it says: a number, or all.
    pub received: Option<Received>,
    /// When, where it says: a time, or that it is unknown.
    pub time: Option<Option<Time>>,
}

/// What the client provably received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// All that stands there.
    All,
    /// The first so many bytes.
    Bytes(u64),
}

/// Reads the end line. `before` is what a relative time counts from.
///
/// # Errors
/// Names the word that is not understood.
pub fn ended(text: &str, before: Option<Time>) -> Result<Ended, String> {
    let text = text.trim();
    let fits = |name: &str| text.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let found = ENDS.iter().find(|(name, _)| fits(name));
    let (end, rest) = found.map_or((None, text), |(name, end)| (Some(*end), text[name.len()..].trim()));
    let (state, rest) = state(rest);
    let (received, rest) = received(rest);
    if end.is_none() && state.is_none() {
        return Err(format!(
            "'= {text}' says nothing known: write = clean, = abrupt client, = abrupt server, = abrupt, = open or \
             = unknown, perhaps with not-captured or partial and a reason, received, and a time (in a body, \\= begins such a line)"
        ));
    }
    let time = if rest.is_empty() { None } else { Some(time::parse(rest, before)?) };
    Ok(Ended { end: end.unwrap_or(End::Unknown), state, received, time })
}

fn received(text: &str) -> (Option<Received>, &str) {
    let Some(rest) = text.strip_prefix("received").filter(|rest| rest.is_empty() || rest.starts_with(' ')) else {
        return (None, text);
    };
    let rest = rest.trim();
    let (number, behind) = rest.split_once(' ').unwrap_or((rest, ""));
    match number.parse() {
        Ok(bytes) => (Some(Received::Bytes(bytes)), behind.trim()),
        Err(_) => (Some(Received::All), rest),
    }
}

/// The state that a text begins with, and what is left of the text.
pub fn state(text: &str) -> (Option<State>, &str) {
    let word = |text: &'_ str| text.find(' ').unwrap_or(text.len());
    let (first, rest) = text.split_at(word(text));
    let known = match first {
        "not-captured" | "partial" => first,
        "whole" => return (Some(State::Whole), rest.trim()),
        _ => return (None, text),
    };
    let rest = rest.trim();
    let (second, behind) = rest.split_at(word(rest));
    let reason = REASONS.iter().find(|(name, _)| *name == second).map(|(_, reason)| *reason);
    let rest = if reason.is_some() { behind.trim() } else { rest };
    let state = if known == "partial" {
        State::Partial(reason.unwrap_or(Missing::CaptureEnd))
    } else {
        State::NotCaptured(reason.unwrap_or(Missing::NotRecorded))
    };
    (Some(state), rest)
}

/// A state in words; nothing for a whole body.
pub fn words(state: State) -> String {
    let (word, reason) = match state {
        State::Whole => return String::new(),
        State::Partial(reason) => ("partial", reason),
        State::NotCaptured(reason) => ("not-captured", reason),
    };
    let reason = REASONS.iter().find(|(_, r)| *r == reason).map_or("", |(name, _)| name);
    format!("{word} {reason}")
}
