//! Hint words in the text of a refusal; only ever hints, since plain text differs from SDK to SDK.

/// What a refusal's text speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// A session that is not known (any more).
    pub session: bool,
    /// Something that is already there, or busy.
    pub busy: bool,
    /// A session header that is missing.
    pub missing: bool,
}

/// How much of a body is looked at.
const LOOKED_AT: usize = 4096;

/// Reads the beginning of a text (rules.md: unknown-session-not-404, conflict-loop, resume-rejected).
pub fn of(text: &[u8]) -> Words {
    let text = String::from_utf8_lossy(&text[..text.len().min(LOOKED_AT)]).to_ascii_lowercase();
    let any = |words: &[&str]| words.iter().any(|w| text.contains(w));
    let session = text.contains("session");
    let missing = session
        && any(&[
            "missing",
            "required",
            "not provided",
            "no session id",
            "must include",
            "without a session",
            "absent",
        ]);
    Words {
        session: session
            && any(&[
                "not found",
                "unknown",
                "expired",
                "invalid",
                "terminated",
                "no valid",
                "does not exist",
                "no such",
            ]),
        busy: any(&["already", "conflict", "in use", "only one"]),
        missing,
    }
}
