//! How to read a HAR in pieces: a strict JSON scanner, the way to the entries, and entry boundaries found from the middle.
//!
//! A HAR is one JSON document of any size. [`outline()`] walks to its entries, [`last_boundary`] cuts a block of them
//! without having seen what precedes it, [`Scanner`] reads one entry, and [`recover`] finds the next one behind damage.

mod boundary;
mod buffer;
mod marks;
mod outline;
mod pairs;
mod recovery;
mod scalar;
mod scanner;
mod string;

pub use boundary::last_boundary;
pub use buffer::Buffer;
pub use outline::{Found, Outline, Resume, outline};
pub use pairs::{Pair, Pairs};
pub use recovery::{Next, recover};
pub use scalar::Scalar;
pub use scanner::{Fault, Scanner};
pub use string::{Copied, RawString};
