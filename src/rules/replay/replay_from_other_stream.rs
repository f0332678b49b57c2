//! replay-from-other-stream: a resumed connection delivers what belongs to another stream of the session.

use crate::{
    evidence::Locus,
    model::{Body, Direction, EventId, OpenedBy, Resolved, Resumption},
    rules::{Case, Certainty, Check, Family, Finding, Party, Rule, STREAMABLE, Severity},
};
use foldhash::HashMap;
use std::collections::BTreeMap;

/// The rule.
pub static RULE: Rule = Rule {
    id: "replay-from-other-stream",
    family: Family::Replay,
    summary: "a resume was answered with messages of another stream",
    severity: Severity::Error,
    since: "0.1.0",
    eras: STREAMABLE,
    suppresses: &["response-on-wrong-stream"],
    thresholds: &[],
    remedy: "servers: filter the replay by the stream that the cursor belongs to",
    page: include_str!("replay_from_other_stream.md"),
    check: Check::Session(check),
};

fn check(case: &Case<'_>, found: &mut Vec<Finding>) {
    if !case.is_streamable() || case.session.resumptions.is_empty() {
        return;
    }
    let (standalone, tokens) = (standalone_events(case), Tokens::new(case));
    for (resumption, _) in case.resumes() {
        let Some((stream, facts)) = case.meant(resumption) else { continue };
        if facts.opened_by == OpenedBy::Post {
            found.extend(of_standalone(case, resumption, stream, &standalone));
        }
        if facts.opened_by == OpenedBy::Resume {
            continue;
        }
        for (request, mut places) in foreign(case, resumption, stream, &tokens) {
            places.sort_unstable();
            let owner = case.request(request).stream.map(|s| case.stream(s).label.clone()).unwrap_or_default();
            let message = format!(
                "the resume of stream {} delivered {} message(s) of {}, which belongs to stream {owner}",
                facts.label,
                places.len(),
                case.name_of(request)
            );
            let mut finding = case
                .finding(&RULE, Party::Server, message, places[0], "a message of another stream")
                .and(Locus::request(resumption.exchange), "the resume")
                .and(Locus::request(case.request(request).at.exchange), "the request that it belongs to")
                .of_request(request)
                .of_stream(stream)
                .with_cursor(resumption.cursor.id);
            let post = &case.exchange(case.request(request).at.exchange).response;
            if case.owner_is_uncertain(resumption) || matches!(post, Body::NotCaptured(_)) {
                let why = "what the capture lacks would not show another owner, or a task";
                finding = finding.severity(Severity::Warning).assuming(Certainty::Possible, why);
            } else if resumption.resolved == Resolved::Temporal {
                finding = finding
                    .severity(Severity::Warning)
                    .assuming(Certainty::Possible, "the cursor belongs to the only stream that could be meant");
            } else if resumption.resolved != Resolved::Exact {
                finding = finding.assuming(Certainty::Likely, "the form of the cursor names its stream");
            }
            found.push(finding);
        }
    }
}

/// Messages that standalone streams delivered, by id and content.
fn standalone_events(case: &Case<'_>) -> HashMap<(EventId, u64), Locus> {
    let mut events = HashMap::default();
    let streams = case.session.streams.iter().filter(|s| s.opened_by == OpenedBy::Get);
    for leg in streams.flat_map(|s| &s.legs) {
        let Some(log) = case.log(leg.exchange) else { continue };
        for (event, fact) in log.events.iter().enumerate().filter(|(_, e)| e.is_message()) {
            if let Some(id) = fact.explicit_id() {
                events.entry((id, fact.payload)).or_insert(Locus::event(leg.exchange, event as u32));
            }
        }
    }
    events
}

/// The resume of a request's stream delivered what the standalone stream had delivered before.
fn of_standalone(
    case: &Case<'_>,
    resumption: &Resumption,
    stream: u32,
    standalone: &HashMap<(EventId, u64), Locus>,
) -> Option<Finding> {
    let log =
        case.log(resumption.exchange).filter(|_| !standalone.is_empty() && resumption.resolved == Resolved::Exact)?;
    let mut again = log.events.iter().enumerate().filter_map(|(event, fact)| {
        let first =
            standalone.get(&(fact.explicit_id()?, fact.payload)).filter(|at| at.exchange < resumption.exchange)?;
        Some((event as u32, *first))
    });
    let (event, first) = again.next()?;
    let count = 1 + again.count();
    let message = format!(
        "the resume of stream {} delivered {count} message(s) of the standalone stream",
        case.stream(stream).label
    );
    Some(
        case.finding(
            &RULE,
            Party::Server,
            message,
            Locus::event(resumption.exchange, event),
            "a message of another stream",
        )
        .and(first, "it was delivered there before")
        .of_stream(stream)
        .with_cursor(resumption.cursor.id)
        .counting(count, [resumption.exchange]),
    )
}

/// By progress token: the first request that used it, and the exchange of the second one.
struct Tokens(HashMap<u64, (u32, Option<u32>)>);

impl Tokens {
    fn new(case: &Case<'_>) -> Self {
        let mut tokens: HashMap<u64, (u32, Option<u32>)> = HashMap::default();
        for (number, request) in case.session.requests.iter().enumerate() {
            let Some(token) = request.token else { continue };
            let first = tokens.entry(token).or_insert((number as u32, None));
            if first.0 != number as u32 {
                first.1 = first.1.or(Some(request.at.exchange));
            }
        }
        Self(tokens)
    }

    /// The request that a token stood for before an exchange; one that several requests used says nothing.
    fn owner(&self, case: &Case<'_>, token: u64, exchange: u32) -> Option<u32> {
        let (request, second) = *self.0.get(&token)?;
        let sent_before = case.request(request).at.exchange < exchange;
        (sent_before && second.is_none_or(|x| x >= exchange)).then_some(request)
    }
}

/// Messages on a resumed connection that belong to requests of other streams, by request.
fn foreign(case: &Case<'_>, resumption: &Resumption, stream: u32, tokens: &Tokens) -> BTreeMap<u32, Vec<Locus>> {
    let mut foreign: BTreeMap<u32, Vec<Locus>> = BTreeMap::new();
    let elsewhere = |request: u32| {
        let facts = case.request(request);
        let home = facts.stream.filter(|home| case.stream(*home).opened_by == OpenedBy::Post);
        facts.direction == Direction::Client && home.is_some_and(|home| home != stream) && facts.task.is_none()
    };
    for (request, delivery) in &resumption.answers {
        if elsewhere(*request) {
            foreign.entry(*request).or_default().push(case.request(*request).terminals[*delivery as usize].at);
        }
    }
    let Some(log) = case.log(resumption.exchange) else { return foreign };
    for (event, token) in &log.tokens {
        if let Some(request) = tokens.owner(case, *token, resumption.exchange).filter(|r| elsewhere(*r)) {
            foreign.entry(request).or_default().push(Locus::event(resumption.exchange, *event));
        }
    }
    foreign
}
