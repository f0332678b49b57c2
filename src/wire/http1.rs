//! HTTP/1: where a message begins, what its head says, and where its body ends.

mod chunked;
mod framing;
mod head;
mod likeness;

pub use chunked::{Chunk, Chunked};
pub use framing::Framing;
pub use head::{Fields, RequestHead, ResponseHead, head_end, lookup, tokens};
pub use likeness::{Likeness, PREFACE, like_request, like_response};
