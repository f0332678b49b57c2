//! session-abandoned-for-get-stream: the optional GET stream failed, and a client gave up a good session over it.

use crate::{
    evidence::Locus,
    model::{Direction, Method},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity, Threshold, case::SECOND},
};

/// The rule.
pub static RULE: Rule = Rule {
    id: "session-abandoned-for-get-stream",
    family: Family::Session,
    summary: "a client discards a session because its optional GET stream failed",
    severity: Severity::Warning,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &[],
    thresholds: &[Threshold {
        name: "window",
        default: 30.0,
        about: "seconds after the failed GET in which the new session must begin",
    }],
    remedy: "the standalone GET stream is optional: keep the session when it is refused",
    page: include_str!("session_abandoned_for_get_stream.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.id.is_none() || case.session.placeholder {
        return;
    }
    let refused = case.session.exchanges.iter().rev().copied().find(|x| {
        let exchange = case.exchange(*x);
        exchange.method == Method::Get
            && exchange.cursor.is_none()
            && exchange.session.is_some()
            && matches!(exchange.status, Some(400 | 404 | 405 | 406 | 409))
    });
    let Some(get) = refused else { return };
    let posts = || case.session.exchanges.iter().copied().filter(|x| case.exchange(*x).method == Method::Post);
    let good = posts().filter(|x| *x < get).all(|x| case.exchange(x).accepted());
    let went_on = posts().any(|x| x > get);
    let Some(next) = case.reinitialized_after(get).filter(|_| good && !went_on) else { return };
    let window = (case.thresholds.get(&RULE, "window") * SECOND as f64) as i64;
    let soon = case.exchange(next).sent.zip(case.exchange(get).sent).is_some_and(|(b, a)| b.since(a) <= window);
    // A client that had nothing to do with the session may simply have started again.
    let used = case.session.requests.iter().any(|r| r.direction == Direction::Client && &*r.method != "initialize");
    if !soon || !used {
        return;
    }
    let open = case.first_open(next);
    let status = case.exchange(get).status.unwrap_or_default();
    let message = format!(
        "the optional GET stream was answered {status}, and the client gave up a session whose POSTs were answered well"
    );
    found.push(
        case.finding(&RULE, Party::Client, message, Locus::response(get), "the GET was refused")
            .and(Locus::request(next), "the client initialized anew")
            .of_request(open)
            .severity(if open.is_some() { Severity::Error } else { Severity::Warning })
            .assuming(Certainty::Likely, "the refused GET is the reason"),
    );
}
