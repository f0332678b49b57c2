//! cursor-from-other-stream: of several dropped streams only one is resumed, by a connection-wide "last id".

use crate::{
    evidence::Locus,
    model::{Leg, OpenedBy, Time},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "cursor-from-other-stream",
    family: Family::Resume,
    summary: "several streams dropped together and only one of their cursors was used to come back",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["stream-abandoned", "request-never-answered"],
    thresholds: &[],
    remedy: "keep one cursor per logical stream, and open one GET per stream",
    page: include_str!("cursor_from_other_stream.md"),
    check: Check::Session(check),
};

/// A connection of a stream that somebody came back for.
struct Resumed {
    started: Time,
    ended: Time,
    exchange: u32,
    stream: u32,
}

/// Connections of resumed streams in order of their start, each with the latest end of all up to it.
struct Overlaps(Vec<(Resumed, Time)>);

/// How many connections are looked at for one that was open together with another.
const MOST: usize = 256;

impl Overlaps {
    fn new(case: &Case<'_>) -> Self {
        let mut all: Vec<Resumed> = Vec::new();
        for (number, stream) in case.session.streams.iter().enumerate() {
            if case.resumes_of(number as u32).is_empty() || stream.opened_by == OpenedBy::Resume {
                continue;
            }
            all.extend(stream.legs.iter().filter_map(|leg| {
                let (started, ended) = leg.started.zip(leg.ended)?;
                Some(Resumed { started, ended, exchange: leg.exchange, stream: number as u32 })
            }));
        }
        all.sort_by_key(|leg| (leg.started, leg.exchange));
        let mut latest = Time(i64::MIN);
        let with_latest = all.into_iter().map(|leg| {
            latest = latest.max(leg.ended);
            (leg, latest)
        });
        Self(with_latest.collect())
    }

    /// A resume, after the drop, of another stream that was open together with the dropped one and ended as well: the
    /// resume, and the connection that it follows.
    fn find(&self, case: &Case<'_>, dropped: (u32, &Leg), ended: Time) -> Option<(u32, u32)> {
        let (number, leg) = dropped;
        let started = leg.started?;
        let before = self.0.partition_point(|(other, _)| other.started < ended);
        let candidates = self.0.get(..before)?.iter().rev().take_while(|(_, latest)| *latest > started).take(MOST);
        let others = candidates.map(|(other, _)| other).filter(|other| other.stream != number && other.ended > started);
        let resumed = others.filter_map(|other| {
            let resumes = case.resumes_of(other.stream);
            let late = resumes.partition_point(|x| *x <= other.exchange || case.exchange(*x).sent < Some(ended));
            let resume = *resumes.get(late)?;
            case.resumption(resume).and_then(|r| case.meant(r))?;
            Some((resume, other.exchange))
        });
        resumed.min()
    }
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.resumptions.is_empty() {
        return;
    }
    let overlaps = Overlaps::new(case);
    for (number, stream) in case.session.streams.iter().enumerate() {
        let [dropped] = stream.legs.as_slice() else { continue };
        if stream.opened_by != OpenedBy::Post || case.held_cursor(dropped).is_none() || !case.leg_is_captured(dropped) {
            continue;
        }
        let Some(ended) = dropped.ended else { continue };
        if case.client_closed(dropped.exchange) {
            continue;
        }
        let Some((resume, other)) = overlaps.find(case, (number as u32, dropped), ended) else { continue };
        let Some(request) = case.open_request(stream, resume) else { continue };
        if case.sent_again(case.request(request)).is_some() || !waited(case, number as u32, ended) {
            continue;
        }
        let severity = case.loss(request);
        let message = format!(
            "{} had its own cursor when its stream dropped; only the cursor of another stream was resumed",
            case.name_of(request)
        );
        found.push(
            case.finding(
                &RULE,
                Party::Client,
                message,
                Locus::request(resume),
                "resumed with the cursor of another stream",
            )
            .and(Locus::response(dropped.exchange), "this stream ended before its answer and was never resumed")
            .and(Locus::response(other), "the stream that was resumed instead; both were open at the same time")
            .of_request(request)
            .of_stream(number as u32)
            .with_cursor(case.held_cursor(dropped))
            .severity(severity)
            .assuming(Certainty::Likely, "the client gave this stream up because it keeps one cursor for all"),
        );
    }
}

/// The session went on long enough for a reconnect of this stream to show.
fn waited(case: &Case<'_>, stream: u32, ended: Time) -> bool {
    let wait = case.retry_of(stream).unwrap_or(0).max(2 * crate::rules::case::SECOND);
    case.last_use().is_some_and(|last| last.since(ended) > wait) || case.deletion().is_some()
}
