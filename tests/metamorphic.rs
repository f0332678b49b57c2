//! What must not change findings: order of input, division into files, names, unrelated traffic, threads. And what may
//! only weaken them: bodies that were not captured, an end that is missing.

mod support;

use lastevent::{
    capture::{RawBody, RawExchange, transcript},
    model::{Body, End, Exchange, Missing, Time},
    rules::{Certainty, Finding},
};
use std::collections::BTreeSet;
use support::{
    Fixture, exchanges, fixtures, judge,
    said::{difference, said},
};

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
        let name = fixture.path.display().to_string();
        wrong.extend(difference(&name, &said(fixture.exchanges()), &said(change(&fixture))));
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
    for seed in 1..=3_u64 {
        unchanged(|fixture| {
            let mut exchanges = fixture.exchanges();
            exchanges.sort_by_cached_key(|x| {
                (u64::from(x.at.entry) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * seed + 1)) >> 7
            });
            exchanges
        });
    }
}

#[test]
fn a_capture_in_three_files_is_one_capture() {
    unchanged(|fixture| {
        let mut exchanges = fixture.exchanges();
        // Which of two hops is nearer to the client shows in one file only, by its one clock.
        if fixture.text.contains("http://inner.test") {
            return exchanges;
        }
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

/// Another letter of the same kind: a hexadecimal digit stays one.
fn other(c: char) -> char {
    match c {
        'a'..='e' | 'g'..='y' => char::from_u32(u32::from(c) + 1).unwrap_or(c),
        'f' => 'a',
        'z' => 'g',
        c => c,
    }
}

#[test]
fn the_letters_of_ids_do_not_matter_as_long_as_their_shape_stays() {
    unchanged(|fixture| {
        let rename = |line: &str| -> String {
            let Some((name, value)) = line.split_once(": ") else { return line.to_owned() };
            let header = name.trim_start_matches(['<', '>', ' ']);
            // Ids that are encoded texts would become other texts.
            let renamed = matches!(header, "id" | "mcp-session-id" | "last-event-id") && !value.contains(':');
            if renamed { format!("{name}: {}", value.chars().map(other).collect::<String>()) } else { line.to_owned() }
        };
        let encoded = fixture.text.lines().any(|l| l.starts_with("id: ") && l[4..].contains(':'));
        let escaped = fixture.text.contains("\\u{") || fixture.text.contains("\\e ");
        if encoded || escaped || fixture.text.contains("sessionId=") {
            return fixture.exchanges();
        }
        let text: String = fixture.text.lines().map(|line| rename(line) + "\n").collect();
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

/// When the last of an exchange was seen.
fn over(raw: &RawExchange<'_>) -> Option<Time> {
    raw.ended.or(raw.head).or(raw.sent).max(raw.marks.last().map(|(_, time)| *time))
}

/// What the capture would hold had it ended at a moment; none where that cannot be told, since a body without times was
/// arriving.
fn until(raws: &[RawExchange<'static>], moment: Time) -> Option<Vec<RawExchange<'static>>> {
    let mut left = Vec::new();
    for raw in raws.iter().filter(|raw| raw.sent.is_none_or(|sent| sent <= moment)) {
        let mut raw = raw.clone();
        if over(&raw).is_some_and(|over| over > moment) {
            let begun = raw.head.is_some_and(|head| head <= moment);
            let length = raw.response_body.bytes().len();
            if begun && length > 0 && raw.marks.last().is_none_or(|(upto, _)| *upto < length as u64) {
                return None;
            }
            raw.ended = None;
            raw.end = End::Open;
            raw.marks.retain(|(_, time)| *time <= moment);
            let kept = raw.marks.last().map_or(0, |(upto, _)| usize::try_from(*upto).unwrap_or(length).min(length));
            raw.acknowledged = raw.acknowledged.map(|upto| upto.min(kept as u64));
            raw.response_body = RawBody::Cut(raw.response_body.bytes()[..kept].to_vec().into(), Missing::CaptureEnd);
            if !begun {
                (raw.head, raw.status) = (None, None);
                raw.response_headers.clear();
                raw.response_body = RawBody::NotCaptured(Missing::CaptureEnd);
            }
        }
        left.push(raw);
    }
    Some(left)
}

/// A client that uses a session which was refused breaks the protocol; that the server takes the session again, which
/// excuses the client, comes later.
const EXCUSED_LATER: [&str; 2] = [
    "ambiguous-404-on-resume/silent-instance-affinity.transcript",
    "cursor-dropped-on-reconnect/silent-refused-404.transcript",
];

#[test]
fn a_capture_that_ends_earlier_accuses_nobody_else() {
    let mut wrong = Vec::new();
    for fixture in timed() {
        let file = transcript::parse(fixture.text.as_bytes()).unwrap();
        let before = judge(fixture.exchanges()).1;
        let mut moments: Vec<Time> =
            file.exchanges.iter().flat_map(|raw| [raw.sent, raw.head, raw.ended]).flatten().collect();
        moments.extend(file.exchanges.iter().flat_map(|raw| raw.marks.iter().map(|(_, time)| *time)));
        moments.sort_unstable();
        moments.dedup();
        for moment in moments {
            let Some(left) = until(&file.exchanges, moment) else { continue };
            let mut after = judge(support::digested(file.vantage, &left)).1;
            if EXCUSED_LATER.iter().any(|name| fixture.path.ends_with(name)) {
                after.retain(|f| f.rule != "dead-session-used");
            }
            let name = format!("{} until {moment}", fixture.path.display());
            only_weaker(&name, &before, &after, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{} new accusations:\n{}", wrong.len(), wrong.join("\n"));
}
