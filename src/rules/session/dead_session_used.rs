//! dead-session-used: a session id is used after a 404, or after the client's own DELETE.

use crate::{
    evidence::Locus,
    model::{Exchange, Method, Time},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "dead-session-used",
    family: Family::Session,
    summary: "a session that is gone is used instead of initializing again",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["rejected-cursor-reused", "no-reinitialize-after-404"],
    thresholds: &[Threshold {
        name: "grace",
        default: 100.0,
        about: "milliseconds after the 404 in which requests may still be under way",
    }],
    remedy: "initialize again without a session id; requests in flight are lost",
    page: include_str!("dead_session_used.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.id.is_none() || case.session.placeholder {
        return;
    }
    after_delete(case, found);
    after_404(case, found);
}

/// Exchanges that carry the session id and start after `end` by more than `grace` microseconds.
fn uses(case: &Case<'_>, death: u32, end: Option<Time>, grace: i64) -> Vec<u32> {
    let later = |x: &&u32| {
        let exchange = case.exchange(**x);
        let after = match (exchange.sent, end) {
            (Some(sent), Some(end)) => sent.since(end) > grace,
            _ => **x > death,
        };
        **x > death && after && exchange.session.is_some() && exchange.method != Method::Delete
    };
    case.session.exchanges.iter().filter(later).copied().collect()
}

fn after_delete(case: &Case<'_>, found: &mut Vec<Finding>) {
    let accepted = |x: &&u32| case.exchange(**x).method == Method::Delete && case.exchange(**x).accepted();
    let Some(&delete) = case.session.exchanges.iter().find(accepted) else { return };
    let uses = uses(case, delete, case.exchange(delete).sent, 0);
    // An `initialize` that issues the id again makes a new session of it.
    let reborn = uses.iter().any(|x| crate::reconstruct::initializes(case.exchange(*x)));
    if let Some(&first) = uses.first()
        && !reborn
    {
        found.push(report(case, "after-delete", delete, first, &uses, Severity::Warning));
    }
}

fn refuses(case: &Case<'_>, exchange: &Exchange) -> bool {
    exchange.status == Some(404)
        && exchange.session.is_some()
        && exchange.method != Method::Delete
        && !case.capture.is_from_gateway(exchange)
}

fn after_404(case: &Case<'_>, found: &mut Vec<Finding>) {
    let Some(&death) = case.session.exchanges.iter().find(|x| refuses(case, case.exchange(**x))) else { return };
    // Accepted later: then 404 did not mean what it says, which other rules tell.
    if case.accepted_after(death).is_some() {
        return;
    }
    let deleted = case
        .session
        .exchanges
        .iter()
        .any(|x| *x < death && case.exchange(*x).method == Method::Delete && case.exchange(*x).accepted());
    if deleted {
        return;
    }
    let exchange = case.exchange(death);
    let end = exchange.ended.or(exchange.head).or(exchange.sent);
    let uses = uses(case, death, end, (case.thresholds.get(&RULE, "grace") * 1000.0) as i64);
    let Some(&first) = uses.first() else { return };
    let report = report(case, "after-404", death, first, &uses, Severity::Error);
    let status = |x: u32| case.exchange(x).status;
    // A resume may be refused for its cursor: only what has none, and the client's silence, prove more.
    let of_cursors = [death].iter().chain(&uses).all(|x| case.exchange(*x).cursor.is_some() || status(*x).is_none());
    found.push(if uses.iter().all(|x| status(*x).is_none()) {
        report.assuming(Certainty::Possible, "the answers, which the capture lacks, refuse the session again")
    } else if of_cursors {
        report.assuming(Certainty::Possible, "the 404 speaks of the session, and not of the cursor")
    } else {
        report
    });
}

fn report(case: &Case<'_>, kind: &'static str, death: u32, first: u32, uses: &[u32], severity: Severity) -> Finding {
    let why = if kind == "after-404" { "answered 404" } else { "deleted by the client" };
    let message = format!("the session was {why}, and then used by {} more exchange(s)", uses.len());
    case.finding(&RULE, Party::Client, message, Locus::request(first), "the session id is used again")
        .and(Locus::response(death), "the session ended here")
        .kind(kind)
        .severity(severity)
        .counting(uses.len(), uses.iter().copied())
}
