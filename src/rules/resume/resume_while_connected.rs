//! resume-while-connected: a stream is resumed while its previous connection is still open.

use crate::{
    evidence::Locus,
    model::{End, Leg, LegEnd, Resolved, Resumption, Side, Vantage},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "resume-while-connected",
    family: Family::Resume,
    summary: "a stream is resumed before its previous connection has ended",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[Threshold {
        name: "overlap",
        default: 50.0,
        about: "milliseconds that two connections of a stream may overlap",
    }],
    remedy: "clients: abort the old connection before resuming; on 409 back off, then send the same cursor again",
    page: include_str!("resume_while_connected.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.resumptions.is_empty() {
        return;
    }
    let tolerance = (case.thresholds.get(&RULE, "overlap") * 1000.0) as i64;
    for (number, stream) in case.session.streams.iter().enumerate() {
        // The accepted connection that lasts longest so far.
        let mut open: Option<&Leg> = None;
        for leg in &stream.legs {
            let earlier = open.filter(|earlier| overlaps(earlier, leg, tolerance));
            if let Some((earlier, resumption)) = earlier.zip(resume(case, leg))
                && is_judged(case, number as u32, earlier, leg)
            {
                found.push(report(case, number as u32, resumption, earlier, leg));
            }
            if leg.status.is_some_and(|s| (200..300).contains(&s)) && open.is_none_or(|open| lasts(leg) > lasts(open)) {
                open = Some(leg);
            }
        }
    }
}

/// When a connection ended; open ones last longest, unknown ends count for nothing.
fn lasts(leg: &Leg) -> i64 {
    match (leg.end, leg.ended) {
        (LegEnd::Open, _) => i64::MAX,
        (_, ended) => ended.map_or(i64::MIN, |t| t.0),
    }
}

fn overlaps(earlier: &Leg, leg: &Leg, tolerance: i64) -> bool {
    leg.started.is_some_and(|start| lasts(earlier).saturating_sub(start.0) >= tolerance)
}

/// The resume that a connection began with, where it is known which stream was meant.
fn resume<'c>(case: &Case<'c>, leg: &Leg) -> Option<&'c Resumption> {
    let at = case.session.resumptions.binary_search_by_key(&leg.exchange, |r| r.exchange).ok()?;
    let resumption = &case.session.resumptions[at];
    matches!(resumption.resolved, Resolved::Exact | Resolved::Format | Resolved::Content).then_some(resumption)
}

/// Two times of one clock, and a stream that was not finished (resume-after-terminal says that).
fn is_judged(case: &Case<'_>, stream: u32, earlier: &Leg, leg: &Leg) -> bool {
    let (a, b) = (case.exchange(earlier.exchange), case.exchange(leg.exchange));
    a.vantage == b.vantage
        && !a.coarse_times
        && !b.coarse_times
        && case.completed_before(stream, leg.exchange).is_none()
}

fn report(case: &Case<'_>, number: u32, resumption: &Resumption, earlier: &Leg, leg: &Leg) -> Finding {
    let old = case.exchange(earlier.exchange);
    let how = match (earlier.end, earlier.ended.zip(leg.started)) {
        (LegEnd::Open, _) | (_, None) => "it did not end in the capture".to_owned(),
        (_, Some((ended, start))) => format!("it ended {} ms later", ended.since(start) / 1000),
    };
    let answer = match leg.status {
        Some(status) if status >= 400 => format!(", and was refused with {status}"),
        _ => String::new(),
    };
    let message = format!("the stream was resumed while its previous connection was open ({how}){answer}");
    let stream = case.stream(number);
    let finding = case
        .finding(&RULE, Party::Unknown, message, Locus::request(leg.exchange), "the resume")
        .and(Locus::response(earlier.exchange), "the connection that was still open")
        .of_request(case.open_request(stream, leg.exchange).or(stream.requests.first().copied()))
        .of_stream(number)
        .with_cursor(resumption.cursor.id);
    let mut finding = match (old.vantage, old.end) {
        (Vantage::Client, _) => finding,
        // What the server holds for open, the network may have taken from the client long ago.
        (Vantage::Server, _) => finding
            .severity(Severity::Note)
            .assuming(Certainty::Possible, "the connection was still open at the client's end as well"),
        (_, End::Abrupt(Side::Client)) => finding
            .assuming(Certainty::Likely, "the client closed the old connection when its end was seen, and not before"),
        _ => finding.assuming(
            Certainty::Possible,
            "the connection was still open at the client's end as well, and one process opened both",
        ),
    };
    let by_client = old.vantage == Vantage::Client || old.end == End::Abrupt(Side::Client);
    if by_client && old.vantage != Vantage::Server {
        finding.party = Party::Client;
    }
    finding
}
