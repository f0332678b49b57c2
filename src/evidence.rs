//! Where a fact was seen: the address of evidence, small enough to keep one for every fact.

use serde::{Deserialize, Serialize};

/// Which half of an exchange a fact lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The client's half: method, headers and body of the request.
    Request,
    /// The server's half: status, headers and body of the response.
    Response,
}

/// The address of one fact: an exchange of the run, a half of it and, within an event stream, one block.
///
/// File, entry, line and byte range are looked up from the exchange when the address is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Locus {
    /// Index of the exchange in the run's list.
    pub exchange: u32,
    /// The half of the exchange.
    pub part: Part,
    /// Ordinal of the SSE block within the body, from 0, where the fact lies in one.
    pub event: Option<u32>,
}

impl Locus {
    /// The request half of an exchange.
    pub fn request(exchange: u32) -> Self {
        Self { exchange, part: Part::Request, event: None }
    }

    /// The response half of an exchange.
    pub fn response(exchange: u32) -> Self {
        Self { exchange, part: Part::Response, event: None }
    }

    /// One SSE block of a response.
    pub fn event(exchange: u32, event: u32) -> Self {
        Self { exchange, part: Part::Response, event: Some(event) }
    }
}
