//! Rules about HTTP and the revisions of the protocol.

pub mod legacy_mechanism_in_modern_era;
pub mod modern_request_lost;
