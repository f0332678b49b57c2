//! What is taken for granted is said, and a capture that was not made at the client proves less, never more.

mod support;

use lastevent::{
    model::{Exchange, Vantage},
    rules::{Certainty, Finding, Severity},
};
use support::{fixtures, judge, seen_from};

/// A fixture's exchanges with its findings from each vantage.
fn everywhere(mut look: impl FnMut(&str, Vantage, &[Finding])) {
    for fixture in fixtures("") {
        let name = fixture.path.display().to_string();
        for vantage in [Vantage::Client, Vantage::Proxy, Vantage::Server, Vantage::Unknown] {
            let exchanges: Vec<Exchange> = seen_from(fixture.exchanges(), vantage);
            look(&name, vantage, &judge(exchanges).1);
        }
    }
}

#[test]
fn every_finding_that_is_not_certain_names_what_it_assumes() {
    let mut wrong = Vec::new();
    everywhere(|name, vantage, findings| {
        for f in findings {
            let said = f.assumptions.iter().all(|a| !a.trim().is_empty());
            if (f.certainty == Certainty::Certain) != f.assumptions.is_empty() || !said {
                wrong.push(format!("{name} {vantage}: {} {:?} {:?}", f.rule, f.certainty, f.assumptions));
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_merely_possible_is_never_an_error() {
    everywhere(|name, vantage, findings| {
        for f in findings.iter().filter(|f| f.certainty == Certainty::Possible) {
            assert!(f.severity < Severity::Error, "{name} {vantage}: {}", f.rule);
        }
    });
}

/// A repeated POST is worse where it is seen to have arrived: the client alone cannot know that.
const PROVEN_AT_THE_SERVER: &str = "request-reposted";

#[test]
fn away_from_the_client_nothing_new_is_found_for_certain() {
    let mut wrong = Vec::new();
    for fixture in fixtures("") {
        let from = |vantage| judge(seen_from(fixture.exchanges(), vantage)).1;
        let near = from(Vantage::Client);
        for vantage in [Vantage::Proxy, Vantage::Server, Vantage::Unknown] {
            for f in from(vantage) {
                let same = |n: &&Finding| n.rule == f.rule && n.kind == f.kind;
                let known = near.iter().filter(same).map(|n| (n.severity, n.certainty)).max();
                // What a cause had suppressed comes to light where the cause is less sure.
                let hidden = near.iter().any(|n| n.suppressed.contains(&f.rule));
                let loud = f.severity > Severity::Note && f.certainty > Certainty::Possible;
                if loud
                    && !hidden
                    && f.rule != PROVEN_AT_THE_SERVER
                    && known.is_none_or(|(s, c)| f.severity > s && f.certainty >= c)
                {
                    wrong.push(format!(
                        "{} {vantage}: {} {:?} {:?}, at the client {known:?}: {}",
                        fixture.path.display(),
                        f.rule,
                        f.severity,
                        f.certainty,
                        f.message
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
