//! The resumption guard: an event id is a cursor into a stream, not proof that the stream is resumable.
//!
//! A pure state machine with the conditions, words and outcomes of the guard that this program is built on. It can be
//! used on its own, in a client; the analyzer drives it with what a capture shows, and asks what it would have done.
//!
//! Its reading of statuses is kept to the letter. What the protocol says beyond it (a 404 means that the *session* is
//! gone, 409 that the stream still has a connection, 400 that the cursor was refused, a new id that the client shall
//! come again) stands beside it, as the [`Verdict`](crate::model::Verdict) of a resumption.

use crate::model::{Direction, EventId, Outcome};
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

/// What a cursor is kept for. A request is named by its session, direction, typed id and occurrence, since ids repeat
/// across sessions, after a client's restart, and in the server's own id space.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A request.
    Request {
        /// The session.
        session: u64,
        /// Who sent it.
        direction: Direction,
        /// Its id as JSON text.
        id: Arc<str>,
        /// Which of several requests with this id it is.
        occurrence: u32,
    },
    /// A standalone stream, which is never terminal.
    Standalone {
        /// The session.
        session: u64,
        /// Its label.
        stream: Arc<str>,
    },
}

/// Why the guard refuses to resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidResumption {
    /// The cursor's namespace cannot be bound to a session.
    #[error("Last-Event-ID without Mcp-Session-Id: the cursor's namespace cannot be bound to a session")]
    NoSession,
    /// The stream ended because the work was completed.
    #[error(
        "the request is terminal: replaying the cursor would duplicate its terminal event under a new stream identity"
    )]
    Terminal,
    /// No event with an id was observed.
    #[error("no event cursor was observed: cannot resume without a Last-Event-ID")]
    NoCursor,
}

/// The two headers of a valid resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResumeHeaders<'s> {
    /// `Mcp-Session-Id`.
    pub session: &'s str,
    /// `Last-Event-ID`.
    pub cursor: EventId,
}

/// Keeps, for each request, its last cursor and whether it is terminal.
#[derive(Clone, Debug, Default)]
pub struct StreamResumptionGuard {
    terminal: HashSet<Subject>,
    cursors: HashMap<Subject, EventId>,
}

impl StreamResumptionGuard {
    /// Takes note of an event: its id, if it has one, moves the cursor; a result or an error makes the request terminal.
    pub fn observe_event(&mut self, subject: &Subject, event_id: Option<EventId>, terminal: bool) {
        if let Some(id) = event_id {
            self.cursors.insert(subject.clone(), id);
        }
        if terminal && matches!(subject, Subject::Request { .. }) {
            self.terminal.insert(subject.clone());
        }
    }

    /// The headers to resume with.
    ///
    /// # Errors
    /// Refuses where there is no session, the request is terminal, or no cursor was observed; in this order.
    pub fn build_resume_headers<'s>(
        &self,
        subject: &Subject,
        session: Option<&'s str>,
    ) -> Result<ResumeHeaders<'s>, InvalidResumption> {
        let session = session.ok_or(InvalidResumption::NoSession)?;
        if self.terminal.contains(subject) {
            return Err(InvalidResumption::Terminal);
        }
        let cursor = *self.cursors.get(subject).ok_or(InvalidResumption::NoCursor)?;
        Ok(ResumeHeaders { session, cursor })
    }

    /// What the answer to a resume means. `body_empty`: it was received to its end and held no JSON-RPC message.
    pub fn interpret_resume_response(&self, subject: &Subject, status: u16, body_empty: bool) -> Outcome {
        match status {
            404 | 409 => Outcome::BufferEvictedRetryFromScratch,
            // An empty replay is no proof that no events were missed.
            200 if body_empty && self.terminal.contains(subject) => Outcome::TerminalAlreadyObservedNoAction,
            200 if body_empty => Outcome::AmbiguousEmptyReplayEscalateToRetry,
            200 => Outcome::ContinuationValid,
            _ => Outcome::UnexpectedStatus,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject() -> Subject {
        Subject::Request { session: 1, direction: Direction::Client, id: "2".into(), occurrence: 0 }
    }

    #[test]
    fn every_state_gives_the_advice_and_the_outcome_of_the_table() {
        use InvalidResumption::{NoCursor, NoSession, Terminal};
        use Outcome::*;
        let id = EventId::new(7, Some(3));
        // cursor seen, terminal, session -> refusal
        let advice = [
            (false, false, false, Some(NoSession)),
            (false, false, true, Some(NoCursor)),
            (false, true, false, Some(NoSession)),
            (false, true, true, Some(Terminal)),
            (true, false, false, Some(NoSession)),
            (true, false, true, None),
            (true, true, false, Some(NoSession)),
            (true, true, true, Some(Terminal)),
        ];
        // status, empty -> outcome where the request is open, and where it is terminal
        let outcomes = [
            (200, true, AmbiguousEmptyReplayEscalateToRetry, TerminalAlreadyObservedNoAction),
            (200, false, ContinuationValid, ContinuationValid),
            (404, true, BufferEvictedRetryFromScratch, BufferEvictedRetryFromScratch),
            (409, false, BufferEvictedRetryFromScratch, BufferEvictedRetryFromScratch),
            (400, true, UnexpectedStatus, UnexpectedStatus),
            (204, true, UnexpectedStatus, UnexpectedStatus),
            (500, false, UnexpectedStatus, UnexpectedStatus),
        ];
        for (cursor, terminal, session, refusal) in advice {
            let mut guard = StreamResumptionGuard::default();
            guard.observe_event(&subject(), cursor.then_some(id), terminal);
            let headers = guard.build_resume_headers(&subject(), session.then_some("s"));
            assert_eq!(headers, refusal.map_or(Ok(ResumeHeaders { session: "s", cursor: id }), Err));
            for (status, empty, open, closed) in outcomes {
                let outcome = guard.interpret_resume_response(&subject(), status, empty);
                assert_eq!(outcome, if terminal { closed } else { open }, "{status} {empty}");
            }
        }
    }

    #[test]
    fn a_standalone_stream_is_never_terminal_and_another_occurrence_is_another_request() {
        let mut guard = StreamResumptionGuard::default();
        let standalone = Subject::Standalone { session: 1, stream: "g0".into() };
        guard.observe_event(&standalone, Some(EventId::new(1, None)), true);
        assert!(guard.build_resume_headers(&standalone, Some("s")).is_ok());
        guard.observe_event(&subject(), Some(EventId::new(1, None)), true);
        let again = Subject::Request { session: 1, direction: Direction::Client, id: "2".into(), occurrence: 1 };
        assert_eq!(guard.build_resume_headers(&again, Some("s")), Err(InvalidResumption::NoCursor));
    }
}
