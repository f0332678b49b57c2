//! resume-became-new-stream: the server ignored the cursor and opened an ordinary new stream.

use crate::{
    evidence::Locus,
    model::{EventLog, Exchange, Method, OpenedBy, Resolved, Resumption, Stream, Time},
    reconstruct::is_open_stream,
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};
use foldhash::HashSet;

/// The rule.
pub static RULE: Rule = Rule {
    id: "resume-became-new-stream",
    family: Family::Replay,
    summary: "a resume was accepted, and what came is a new stream instead of the old one",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[],
    remedy: "servers: answer 400 where replay is not supported; clients: check that what comes belongs to the stream",
    page: include_str!("resume_became_new_stream.md"),
    check: Check::Session(check),
};

/// What only a standalone stream has reason to carry.
const SESSION_WIDE: &[&str] = &[
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
];

/// What shows that the stream is a new one.
#[derive(Clone, Copy)]
enum Sign {
    /// Its ids name another stream than the cursor does.
    Namespace,
    /// A GET without cursor was refused with 409 while it was open, as if it were the standalone stream.
    Conflict(u32),
    /// It brought news of the session only.
    News,
}

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.resumptions.is_empty() {
        return;
    }
    let conflicts = conflicts(case);
    for (resumption, exchange) in case.resumes().filter(|(_, x)| is_open_stream(x)) {
        let known = matches!(resumption.resolved, Resolved::Exact | Resolved::Format);
        let Some((number, stream)) = case.meant(resumption).filter(|(_, s)| known && s.opened_by == OpenedBy::Post)
        else {
            continue;
        };
        let Some(request) = case.open_request(stream, resumption.exchange) else { continue };
        if !is_related(case, resumption, stream)
            && let Some(sign) = sign(case, resumption, exchange, &conflicts)
        {
            found.push(report(case, resumption, number, request, sign));
        }
    }
}

/// GETs without cursor that were refused with 409 although no standalone stream was open.
fn conflicts(case: &Case<'_>) -> Vec<(u32, Time)> {
    let mut open_until = Some(Time(i64::MIN));
    let mut conflicts = Vec::new();
    for &index in &case.session.exchanges {
        let exchange = case.exchange(index);
        if exchange.method != Method::Get || exchange.cursor.is_some() {
            continue;
        }
        if is_open_stream(exchange) {
            open_until = open_until.zip(exchange.ended).map(|(a, b)| a.max(b));
        } else if exchange.status == Some(409)
            && let Some(sent) = exchange.sent
            && open_until.is_some_and(|until| until <= sent)
        {
            conflicts.push((index, sent));
        }
    }
    conflicts
}

/// Anything on the connection belongs to the stream, or to any request.
fn is_related(case: &Case<'_>, resumption: &Resumption, stream: &Stream) -> bool {
    let Some(log) = case.log(resumption.exchange) else { return false };
    let tokens: HashSet<u64> = match log.tokens.is_empty() {
        true => HashSet::default(),
        false => stream.requests.iter().filter_map(|r| case.request(*r).token).collect(),
    };
    let named = resumption.cursor.stream.is_some_and(|name| log.streams.contains(&name));
    let inclusive = log.events.iter().any(|e| e.explicit_id() == Some(resumption.cursor.id));
    named || inclusive || !resumption.answers.is_empty() || log.tokens.iter().any(|(_, token)| tokens.contains(token))
}

fn sign(case: &Case<'_>, resumption: &Resumption, exchange: &Exchange, conflicts: &[(u32, Time)]) -> Option<Sign> {
    let log = case.log(resumption.exchange);
    // Names of streams stand in ids of some forms only; opaque ones prove nothing.
    if resumption.cursor.stream.is_some() && log.is_some_and(|l| !l.streams.is_empty()) {
        return Some(Sign::Namespace);
    }
    let next = conflicts.partition_point(|(x, _)| *x < resumption.exchange);
    let still_open = |at: Time| exchange.ended.map_or(exchange.end == crate::model::End::Open, |ended| ended > at);
    if let Some((conflict, _)) = conflicts.get(next).filter(|(_, at)| still_open(*at)) {
        return Some(Sign::Conflict(*conflict));
    }
    log.is_some_and(brings_only_news).then_some(Sign::News)
}

fn brings_only_news(log: &EventLog) -> bool {
    let news = |m: &crate::model::Message| SESSION_WIDE.iter().any(|name| m.is(name));
    log.tokens.is_empty() && !log.messages.is_empty() && log.messages.iter().all(|(_, m)| news(m))
}

fn report(case: &Case<'_>, resumption: &Resumption, stream: u32, request: u32, sign: Sign) -> Finding {
    let (kind, words) = match sign {
        Sign::Namespace => ("namespace", "its event ids name another stream"),
        Sign::Conflict(_) => ("conflict", "the server counts it as the standalone stream"),
        Sign::News => ("session-news", "it brought news of the session, and nothing of the request"),
    };
    let message = format!("the resume for {} was accepted, but became a new stream: {words}", case.name_of(request));
    let finding = case
        .finding(&RULE, Party::Server, message, Locus::response(resumption.exchange), "the stream that was opened")
        .and(Locus::request(case.request(request).at.exchange), "the request whose stream was to be resumed")
        .kind(kind)
        .of_request(request)
        .of_stream(stream)
        .with_cursor(resumption.cursor.id)
        .severity(case.loss(request));
    match sign {
        Sign::Namespace => finding.assuming(Certainty::Likely, "ids of this form name their stream"),
        Sign::Conflict(at) => finding
            .and(Locus::response(at), "409 for a GET without cursor, while no other such stream was open")
            .assuming(Certainty::Likely, "no second client holds the standalone stream"),
        Sign::News => {
            finding.assuming(Certainty::Possible, "this server sends such notifications on the standalone stream only")
        }
    }
}
