//! retry-ignored: a client came back earlier than the server's `retry` allows.

use crate::{
    evidence::Locus,
    model::{End, Era, Exchange, Leg, OpenedBy, Side, Vantage},
    rules::{
        Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold,
        resume::resume_after_terminal::late_resumes,
    },
};
use foldhash::HashSet;

/// The rule.
pub static RULE: Rule = Rule {
    id: "retry-ignored",
    family: Family::Reconnect,
    summary: "a client reconnects before the time that the server asked for has passed",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[
        Threshold { name: "tolerance", default: 50.0, about: "milliseconds by which a reconnect may come early" },
        Threshold {
            name: "share",
            default: 0.1,
            about: "share of retry by which a reconnect may come early, where that is more",
        },
        Threshold { name: "late", default: 2.0, about: "multiple of retry from which a reconnect is noted as late" },
    ],
    remedy: "wait at least the last retry value of the stream before reconnecting",
    page: include_str!("retry_ignored.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() {
        return;
    }
    let late: HashSet<u32> = late_resumes(case).iter().map(|l| l.resumption.exchange).collect();
    for (number, stream) in case.session.streams.iter().enumerate() {
        for pair in stream.legs.windows(2) {
            if !late.contains(&pair[1].exchange) {
                found.extend(judge(case, number as u32, &pair[0], pair[1].exchange));
            }
        }
    }
    // A standalone stream that ended is reopened by the next GET without cursor.
    let standalone = case.session.streams.iter().enumerate().filter(|(_, s)| s.opened_by == OpenedBy::Get);
    for (number, stream) in standalone {
        let Some(leg) = stream.legs.last() else { continue };
        let next = case.bare_after(leg.exchange);
        if let Some(next) = next {
            found.extend(judge(case, number as u32, leg, next));
        }
    }
}

fn is_coarse(exchange: &Exchange) -> bool {
    exchange.coarse_times || exchange.sent.is_none()
}

fn judge(case: &Case<'_>, stream: u32, leg: &Leg, next: u32) -> Option<Finding> {
    let (before, after) = (case.exchange(leg.exchange), case.exchange(next));
    let facts = case.stream(stream);
    // What another connection had asked for says nothing of this one.
    let (_, retry) = *case.log(leg.exchange)?.retries.last().filter(|(_, ms)| *ms > 0)?;
    let retry = i64::try_from(retry).ok()?.checked_mul(1000)?;
    let ended = leg.ended?;
    if is_coarse(before) || is_coarse(after) || before.end == End::Abrupt(Side::Client) || before.end == End::Open {
        return None;
    }
    let waited = after.sent?.since(ended);
    if waited < 0 {
        return None;
    }
    let tolerance =
        (case.thresholds.get(&RULE, "tolerance") * 1000.0).max(retry as f64 * case.thresholds.get(&RULE, "share"));
    let early = (waited as f64) < retry as f64 - tolerance;
    // Some clients keep one value for all streams.
    let most = case.most_retry_before(next).max(retry);
    let late = waited as f64 > most as f64 * case.thresholds.get(&RULE, "late") && after.cursor.is_some();
    if !early && !late {
        return None;
    }
    let ms = |micros: i64| micros / 1000;
    let message = format!(
        "the client came back after {} ms; the server had asked for {} ms",
        ms(waited),
        ms(if early { retry } else { most })
    );
    let severity = match (early, case.session.era >= Era::November2025) {
        (false, _) => Severity::Note,
        (true, true) => Severity::Error,
        (true, false) => Severity::Warning,
    };
    let finding = case
        .finding(&RULE, Party::Client, message, Locus::request(next), "the reconnect")
        .and(Locus::response(leg.exchange), "the connection that ended, and had sent retry")
        .of_request(facts.requests.first().copied())
        .of_stream(stream)
        .with_cursor(after.cursor.as_ref().map(|c| c.id))
        .severity(severity)
        .kind(if early { "early" } else { "late" });
    let seen_late = matches!(before.end, End::Abrupt(_)) && before.vantage == Vantage::Server;
    Some(match (seen_late, before.end) {
        (true, _) => finding
            .severity(severity.min(Severity::Warning))
            .assuming(Certainty::Possible, "the client saw the end when the server did"),
        (false, End::Unknown) => {
            finding.assuming(Certainty::Likely, "the server or the network ended the connection, and not the client")
        }
        _ => finding,
    })
}
