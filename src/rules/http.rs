//! Rules about HTTP and the revisions of the protocol.

pub mod batch_not_allowed;
pub mod header_body_mismatch;
pub mod intermediary_404;
pub mod legacy_artifact_from_modern_server;
pub mod legacy_mechanism_in_modern_era;
pub mod missing_negotiation_headers;
pub mod modern_request_lost;
pub mod session_header_not_exposed;
pub mod wrong_status_or_content_type;
