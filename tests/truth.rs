//! Captures of real clients and servers against what these logged themselves, and cases from public bug reports against
//! what a person expects of them.

use assert_cmd::Command;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

const LEVELS: [&str; 3] = ["note", "warning", "error"];

fn lastevent(arguments: &[&str], file: &Path) -> Value {
    let mut command = Command::cargo_bin("lastevent").unwrap();
    command.args(arguments).arg(file).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn texts(value: &Value, name: &str) -> BTreeSet<String> {
    list(value, name).iter().filter_map(|v| v.as_str().map(str::to_owned)).collect()
}

/// What is wrong with the findings of a file, as lines.
fn compare_findings(report: &Value, expect: &Value, wrong: &mut Vec<String>) {
    let level = |severity: &str| LEVELS.iter().position(|l| *l == severity).unwrap();
    let mut worst: BTreeMap<String, usize> = BTreeMap::new();
    for finding in list(report, "findings") {
        let found = worst.entry(finding["rule"].as_str().unwrap().to_owned()).or_default();
        *found = (*found).max(level(finding["severity"].as_str().unwrap()));
    }
    let mut allowed: BTreeSet<String> = texts(expect, "may");
    allowed.extend(texts(expect, "must_not"));
    for must in list(expect, "must") {
        let rule = must["rule"].as_str().unwrap();
        allowed.insert(rule.to_owned());
        let Some(found) = worst.get(rule) else {
            wrong.push(format!("missing {rule}"));
            continue;
        };
        let mut right = texts(must, "severity_ok");
        right.extend(must["severity"].as_str().map(str::to_owned));
        if !right.is_empty() && !right.contains(LEVELS[*found]) {
            wrong.push(format!("{rule} is {}", LEVELS[*found]));
        }
        let mut parties = texts(must, "party_ok");
        parties.extend(must["party"].as_str().map(str::to_owned));
        let of_rule = list(report, "findings").iter().filter(|f| f["rule"] == *rule);
        let accused: Vec<&str> = of_rule.filter_map(|f| f["party"].as_str()).collect();
        let names_one = must["party"].as_str().is_some_and(|p| p != "unknown");
        if names_one && !accused.iter().any(|p| parties.contains(*p)) {
            wrong.push(format!("{rule} accuses {accused:?}"));
        }
    }
    for group in list(expect, "one_of") {
        let group: BTreeSet<String> =
            group.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect();
        if !group.iter().any(|rule| worst.contains_key(rule)) {
            wrong.push(format!("missing one of {group:?}"));
        }
        allowed.extend(group);
    }
    let notes = texts(expect, "notes").into_iter().filter(|rule| !worst.contains_key(rule));
    wrong.extend(notes.map(|rule| format!("missing note {rule}")));
    let forbidden = texts(expect, "must_not");
    for (rule, found) in worst.iter().filter(|(_, found)| **found > 0) {
        if forbidden.contains(rule) {
            wrong.push(format!("must not report {rule}"));
        } else if !allowed.contains(rule) {
            wrong.push(format!("unexpected {} {rule}", LEVELS[*found]));
        }
    }
}

#[test]
fn every_case_from_a_bug_report_gives_the_findings_that_a_person_expects() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/cases");
    let (mut checked, mut all) = (0, Vec::new());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "har") {
            continue;
        }
        let mut wrong = Vec::new();
        let report = lastevent(&["check", "--format", "json", "--exit-zero"], &path);
        compare_findings(&report, &read(&path.with_extension("expect.json")), &mut wrong);
        all.extend(wrong.into_iter().map(|w| format!("{}: {w}", path.display())));
        checked += 1;
    }
    assert_eq!(checked, 25);
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// Sessions, requests with their deliveries, and resumptions, against the logs of clients and servers.
fn compare_truth(shown: &Value, truth: &Value, lossy: &BTreeSet<String>, wrong: &mut Vec<String>) {
    let known: BTreeSet<&str> = list(truth, "sessions").iter().filter_map(|s| s["id"].as_str()).collect();
    let label = |session: &Value| session.as_str().filter(|s| known.contains(s)).unwrap_or_default().to_owned();
    let rejected = |r: &Value| {
        let key = format!("{}|{}", r["session"].as_str().unwrap_or("None"), r["id"]);
        truth["requests_rejected_by_status"].get(&key).is_some()
    };
    // A request that was posted twice stands twice here and once there: their deliveries are added up.
    let mut here: BTreeMap<(String, String, String), usize> = BTreeMap::new();
    for session in list(shown, "sessions") {
        let streamable = session["transport"] == "streamable";
        let name = if streamable { label(&session["session_id"]) } else { String::new() };
        for request in list(session, "requests").iter().filter(|r| r["direction"] == "client") {
            let key = (
                name.clone(),
                request["id"].as_str().unwrap().to_owned(),
                request["method"].as_str().unwrap().to_owned(),
            );
            *here.entry(key).or_default() += list(request, "terminals").len();
        }
    }
    let mut there: BTreeMap<(String, String, String), usize> = BTreeMap::new();
    let mut refused = BTreeSet::new();
    for request in list(truth, "requests") {
        let id = request["id"].to_string();
        let key = (label(&request["session"]), id.clone(), request["method"].as_str().unwrap().to_owned());
        let hop = truth["terminals_on_hop"].get(format!("{}|{id}", request["session"].as_str().unwrap_or("None")));
        let sent = hop.unwrap_or(&request["terminal_responses_sent"]).as_u64().unwrap();
        *there.entry(key.clone()).or_default() += sent as usize;
        if rejected(request) {
            refused.insert(key);
        }
    }
    if !lossy.contains("requests") && !here.keys().eq(there.keys()) {
        wrong.push(format!("requests {:?} but {:?}", here.keys(), there.keys()));
    }
    if !lossy.contains("terminals") {
        for (key, sent) in there.iter().filter(|(key, _)| !refused.contains(*key)) {
            let delivered = here.get(key).copied().unwrap_or_default();
            if delivered != *sent {
                wrong.push(format!("{key:?} has {delivered} terminals, truth {sent}"));
            }
        }
    }
    let cursors = |all: Vec<&Value>| {
        let mut all: Vec<String> = all.iter().map(|r| format!("{} {}", r["cursor"], r["status"])).collect();
        all.sort();
        all
    };
    let ours = cursors(list(shown, "sessions").iter().flat_map(|s| list(s, "resumptions")).collect());
    let theirs = cursors(list(truth, "resumptions").iter().collect());
    if !lossy.contains("resumptions") && ours != theirs {
        wrong.push(format!("resumptions {ours:?} but {theirs:?}"));
    }
}

#[test]
fn every_recorder_of_a_conversation_tells_what_its_parties_logged() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/captures");
    let (mut checked, mut all) = (0, Vec::new());
    let folders: BTreeSet<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    for folder in folders {
        let truth = read(&folder.join("truth.json"));
        for capture in list(&truth, "captures") {
            let file = folder.join(capture["file"].as_str().unwrap());
            if !file.exists() {
                continue;
            }
            let mut wrong = Vec::new();
            let shown = lastevent(&["show", "--format", "json", "--show-ids"], &file);
            compare_truth(&shown, &truth, &texts(capture, "lossy"), &mut wrong);
            let expect = [&capture["expect"], &truth["expect"]].into_iter().find(|e| e.is_object());
            if let Some(expect) = expect {
                let report = lastevent(&["check", "--format", "json", "--exit-zero"], &file);
                compare_findings(&report, expect, &mut wrong);
            }
            all.extend(wrong.into_iter().map(|w| format!("{}: {w}", file.display())));
            checked += 1;
        }
    }
    assert!(checked >= 50, "only {checked} recordings were compared");
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_folder_with_several_recordings_of_one_conversation_counts_it_once() {
    let folder = Path::new("testdata/captures/03_seed_terminal_replay_loop_py");
    let report = lastevent(&["check", "--format", "json", "--exit-zero"], folder);
    let mut rules: Vec<&str> = list(&report, "findings").iter().map(|f| f["rule"].as_str().unwrap()).collect();
    rules.sort_unstable();
    rules.dedup();
    assert_eq!(
        rules,
        ["duplicate-terminal", "empty-replay-after-terminal", "resume-after-terminal", "terminal-replay-loop"]
    );
    assert_eq!((report["summary"]["sessions"].as_u64(), report["summary"]["requests"].as_u64()), (Some(1), Some(14)));
    assert_eq!(report["summary"]["resumptions"], 24);
    assert!(list(&report, "caveats").iter().any(|c| c["caveat"] == "duplicate-viewpoint"));
}

/// The rules that accuse somebody, without their certainty.
fn accused(report: &Value) -> BTreeSet<String> {
    let loud = list(report, "findings").iter().filter(|f| f["severity"] != "note");
    loud.map(|f| f["rule"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn all_recordings_of_a_conversation_together_accuse_nobody_that_none_of_them_accuses() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/captures");
    for folder in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        let truth = read(&folder.join("truth.json"));
        let files = list(&truth, "captures").iter().map(|c| folder.join(c["file"].as_str().unwrap()));
        let check = |path: &Path| accused(&lastevent(&["check", "--format", "json", "--exit-zero"], path));
        let alone: BTreeSet<String> = files.filter(|f| f.exists()).flat_map(|f| check(&f)).collect();
        let together = check(&folder);
        assert!(together.is_subset(&alone), "{}: {:?}", folder.display(), together.difference(&alone));
    }
}
