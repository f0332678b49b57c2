//! How a transfer ended, in the words that curl prints.

/// What curl said of the end of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// Nothing: the text ends, or the next request begins.
    #[default]
    NotSaid,
    /// The connection was left intact: the transfer was complete.
    Intact,
    /// curl closed the connection and complained of nothing.
    Closed,
    /// curl gave up, as after `--max-time`.
    ByClient,
    /// The server closed or reset the connection in the middle.
    ByServer,
}

impl Ending {
    /// What a line of curl's own says about the end, if it does: `* …`, `== Info: …` or `curl: (NN) …`, without the
    /// mark.
    pub fn of(line: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        let starts = |heads: &[&str]| heads.iter().any(|h| text.starts_with(h));
        let has = |words: &[&str]| words.iter().any(|w| text.contains(w));
        if has(&[
            "Operation timed out",
            "Operation too slow",
            "Callback aborted",
            "Failure writing output",
            "Failed writing",
        ]) {
            Some(Self::ByClient)
        } else if has(&[
            "transfer closed with",
            "Empty reply from server",
            "Recv failure",
            "Connection reset",
            "Send failure",
            "was not closed cleanly",
            "Received HTTP/0.9",
            "unexpected eof",
            "Failed to connect",
            "connect to ",
        ]) && !starts(&["Connected to"])
        {
            Some(Self::ByServer)
        } else if is_closing(text) {
            Some(if text.ends_with("left intact") { Self::Intact } else { Self::Closed })
        } else {
            None
        }
    }
}

/// curl is done with the connection: `Connection #0 to host h left intact`, `Closing connection 0`, `shutting down …`.
pub fn is_closing(text: &str) -> bool {
    (text.starts_with("Connection #") && text.ends_with("left intact"))
        || text.starts_with("Closing connection")
        || text.starts_with("shutting down connection #")
}
