//! What must not change findings: order of input, division into files, names, unrelated traffic, threads. And what may
//! only weaken them: bodies that were not captured, an end that is missing.

mod support;

use lastevent::{
    model::{Body, Exchange, Missing},
    rules::{Certainty, Finding},
};
use std::collections::BTreeSet;
use support::{Fixture, exchanges, fixtures, judge};

/// A finding as far as it must stay the same.
type Said = (String, String, Option<String>, u32, Option<String>);

fn said(exchanges: Vec<Exchange>) -> BTreeSet<Said> {
    let (capture, findings) = judge(exchanges);
    let request = |f: &Finding| {
        let session = capture.sessions.get(f.session? as usize)?;
        session.requests.get(f.request? as usize).map(|r| r.id.to_string())
    };
    let kind = |f: &Finding| f.kind.map(str::to_owned);
    findings
        .iter()
        .map(|f| (f.rule.to_owned(), format!("{:?} {:?}", f.severity, f.certainty), kind(f), f.count, request(f)))
        .collect()
}

/// Fixtures whose exchanges all start at different moments: the order of the others is that of the file.
fn timed() -> Vec<Fixture> {
    let distinct = |f: &Fixture| {
        let exchanges = f.exchanges();
        let times: BTreeSet<_> = exchanges.iter().filter_map(|x| x.sent).collect();
        times.len() == exchanges.len()
    };
    fixtures("").into_iter().filter(distinct).collect()
}

fn unchanged(change: impl Fn(&Fixture) -> Vec<Exchange>) {
    let fixtures = timed();
    assert!(fixtures.len() >= 20, "only {} fixtures have distinct times", fixtures.len());
    let mut wrong = Vec::new();
    for fixture in fixtures {
        let (before, after) = (said(fixture.exchanges()), said(change(&fixture)));
        if before != after {
            let lost: Vec<_> = before.difference(&after).collect();
            let new: Vec<_> = after.difference(&before).collect();
            wrong.push(format!("{}\n  lost {lost:?}\n  new {new:?}", fixture.path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_order_of_entries_does_not_matter() {
    unchanged(|fixture| {
        let mut exchanges = fixture.exchanges();
        exchanges.reverse();
        let middle = exchanges.len() / 3;
        exchanges.rotate_left(middle);
        exchanges
    });
}

#[test]
fn a_capture_in_three_files_is_one_capture() {
    unchanged(|fixture| {
        let mut exchanges = fixture.exchanges();
        for (i, exchange) in exchanges.iter_mut().enumerate() {
            exchange.at.source = (i % 3) as u32;
        }
        exchanges
    });
}

#[test]
fn names_of_hosts_and_sessions_do_not_matter() {
    unchanged(|fixture| {
        // A cursor that spells its session cannot be renamed without knowing how.
        if fixture.path.ends_with("fires-session-named-in-cursor.transcript") {
            return fixture.exchanges();
        }
        let mut text = fixture.text.replace("localhost:3000", "mcp.example.test:8443");
        let sessions: BTreeSet<String> = fixture
            .text
            .lines()
            .filter_map(|l| l.split_once("mcp-session-id: "))
            .map(|(_, id)| id.trim().to_owned())
            .collect();
        let lines: Vec<String> = text
            .lines()
            .map(|line| match line.rsplit_once(": ") {
                Some((name, value))
                    if sessions.contains(value)
                        && (name.ends_with("mcp-session-id") || name == "id" || name.ends_with("last-event-id")) =>
                {
                    format!("{name}: {value}-renamed")
                }
                _ => line.to_owned(),
            })
            .collect();
        text = lines.join("\n") + "\n";
        exchanges(&text).unwrap_or_else(|e| panic!("{}: {e}", fixture.path.display()))
    });
}

#[test]
fn unrelated_traffic_elsewhere_does_not_matter() {
    let clean = fixtures("scenarios")
        .into_iter()
        .find(|f| f.path.to_string_lossy().contains("clean-baseline"))
        .expect("the clean scenario");
    let mut elsewhere = exchanges(&clean.text).unwrap();
    for exchange in &mut elsewhere {
        exchange.endpoint = "http://elsewhere.example.test:9/other".into();
        // Its sessions are its own.
        for id in [&mut exchange.session, &mut exchange.issued].into_iter().flatten() {
            id.hash ^= 0x55;
        }
    }
    assert!(said(elsewhere.clone()).iter().all(|(_, level, ..)| level.starts_with("Note")));
    unchanged(|fixture| {
        let mut all = fixture.exchanges();
        let start = all.iter().filter_map(|x| x.sent).min();
        let own = elsewhere.iter().filter_map(|x| x.sent).min();
        let shift = start.zip(own).map_or(0, |(a, b)| a.since(b)) + 37;
        all.extend(elsewhere.iter().cloned().map(|mut x| {
            for time in [&mut x.sent, &mut x.head, &mut x.ended] {
                *time = time.map(|t| t.plus(shift));
            }
            x
        }));
        // Notes about the unrelated traffic itself are not compared: it is clean.
        all
    });
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let (one, eight) = (pool(1), pool(8));
    for fixture in fixtures("") {
        let a = one.install(|| said(fixture.exchanges()));
        let b = eight.install(|| said(fixture.exchanges()));
        assert_eq!(a, b, "{}", fixture.path.display());
    }
}

/// Whatever is new after something was taken away is merely possible, or a note.
fn only_weaker(name: &str, before: &[Finding], after: &[Finding], wrong: &mut Vec<String>) {
    for finding in after {
        // What a cause had suppressed comes to light with the cause gone; it was found before.
        let known = before.iter().any(|f| f.rule == finding.rule || f.suppressed.contains(&finding.rule));
        let loud = finding.severity > lastevent::rules::Severity::Note && finding.certainty > Certainty::Possible;
        if !known && loud {
            wrong.push(format!(
                "{name}: new {} {:?} {:?}: {}",
                finding.rule, finding.severity, finding.certainty, finding.message
            ));
        }
    }
}

#[test]
fn a_body_that_was_not_captured_accuses_nobody() {
    let mut wrong = Vec::new();
    for fixture in fixtures("") {
        let exchanges = fixture.exchanges();
        let before = judge(exchanges.clone()).1;
        for (i, exchange) in exchanges.iter().enumerate().filter(|(_, x)| x.response.content().is_some()) {
            let mut lost = exchanges.clone();
            lost[i].response = Body::NotCaptured(Missing::NotRecorded);
            let name = format!("{} without body {}", fixture.path.display(), exchange.at.entry);
            only_weaker(&name, &before, &judge(lost).1, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{} new accusations:\n{}", wrong.len(), wrong.join("\n"));
}
