//! What a capture says, as facts: exchanges as they were recorded, and the sessions that they make up.
//!
//! [`Exchange`] is the row: plain serde-serialisable facts, and all that reconstruction and rules may ask.

mod body;
mod digest;
mod exchange;
mod headers;
mod id;
mod message;
mod session;
mod stream;

mod time;

pub use body::{Body, Content, End, EventFact, EventFlags, EventKind, EventLog, Missing, OtherKind, Side, Tail};
pub use digest::Id128;
pub use exchange::{Address, Exchange, Method, Vantage};
pub use headers::{Era, HeaderFacts, HeaderFlags, MediaType};
pub use id::{Cursor, EventId, SessionId, Shape};
pub use message::{Detail, Direction, Message, MessageFlags, MessageKind, ToolHints};
pub use session::{Implementation, Receipt, Reply, Request, RequestState, Session, SessionEnd, Terminal, Transport};
pub use stream::{Advice, Leg, LegEnd, Next, OpenedBy, Outcome, Resolved, Resumption, Stream, Verdict};
pub use time::Time;
