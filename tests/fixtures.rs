//! Every rule over every fixture of every rule: what is expected is found, with its severity, and nothing else.

mod support;

use lastevent::{
    model::Exchange,
    rules::{self, Severity},
};
use std::{collections::BTreeSet, path::Path};
use support::{complaints, fixtures, found, judge};

#[test]
fn every_fixture_of_a_rule_gives_exactly_the_findings_that_it_names() {
    check("rules");
}

#[test]
fn every_ground_truth_scenario_gives_exactly_its_findings() {
    check("scenarios");
}

fn check(folder: &str) {
    let mut wrong = Vec::new();
    for fixture in fixtures(folder) {
        let (_, findings) = judge(fixture.exchanges());
        let complaints = complaints(&fixture, &findings);
        if !complaints.is_empty() {
            let said: Vec<_> = findings
                .iter()
                .map(|f| {
                    let (severity, certainty, party) = (f.severity.as_str(), f.certainty.as_str(), f.party.as_str());
                    let kind = f.kind.unwrap_or_default();
                    format!("    {} {severity} {certainty} {party} {kind} x{}: {}", f.rule, f.count, f.message)
                })
                .collect();
            wrong.push(format!("{}\n  {}\n{}", fixture.path.display(), complaints.join("\n  "), said.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{} fixture(s) disagree:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_rule_has_a_fixture_on_which_it_fires_and_one_on_which_it_is_silent() {
    let mut missing = Vec::new();
    for rule in rules::ALL {
        let own = fixtures(&format!("rules/{}", rule.id));
        let fires = |f: &&support::Fixture| f.expected.iter().any(|(id, _)| id == rule.id);
        if own.iter().filter(fires).count() == 0 {
            missing.push(format!("{}: nothing fires", rule.id));
        }
        if own.iter().all(|f| fires(&f)) {
            missing.push(format!("{}: nothing stays silent", rule.id));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn the_name_of_a_fixture_says_whether_its_rule_fires() {
    let mut wrong = Vec::new();
    for rule in rules::ALL {
        for fixture in fixtures(&format!("rules/{}", rule.id)) {
            let name = fixture.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let loud = |s: &Severity| *s > Severity::Note;
            let own: Vec<Severity> = fixture.expected.iter().filter(|(id, _)| id == rule.id).map(|(_, s)| *s).collect();
            let holds = match name.split('-').next() {
                Some("silent") => own.is_empty(),
                Some("notes") => own == [Severity::Note],
                Some("fires") => own.iter().any(loud) || !own.is_empty() && rule.severity == Severity::Note,
                _ => false,
            };
            if !holds {
                wrong.push(format!("{}/{name}: {own:?}", rule.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn fixture_folders_are_named_after_rules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/rules");
    let known: BTreeSet<&str> = rules::ALL.iter().map(|r| r.id).collect();
    for folder in std::fs::read_dir(root).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(name.as_str()), "testdata/rules/{name} is no rule");
    }
}

#[test]
fn exchanges_written_as_rows_and_read_back_give_the_same_findings() {
    for fixture in fixtures("").into_iter() {
        let exchanges = fixture.exchanges();
        let rows: Vec<String> = exchanges.iter().map(|x| serde_json::to_string(x).unwrap()).collect();
        let back: Vec<Exchange> = rows.iter().map(|row| serde_json::from_str(row).unwrap()).collect();
        assert_eq!(exchanges, back, "{}", fixture.path.display());
        assert_eq!(found(&judge(exchanges).1), found(&judge(back).1), "{}", fixture.path.display());
    }
}
