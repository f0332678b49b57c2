//! Findings of one cause become one incident, with its course and its blast radius.

use assert_cmd::Command;
use serde_json::Value;

fn check(path: &str) -> Value {
    let mut command = Command::cargo_bin("lastevent").unwrap();
    command.args(["check", "--format", "json", "--exit-zero", path]).current_dir(env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
}

#[test]
fn the_seed_incident_is_one_incident_whose_headline_is_the_loop() {
    let report = check("testdata/captures/03_seed_terminal_replay_loop_py/mitmproxy.har");
    let incidents = report["incidents"].as_array().unwrap();
    assert_eq!(incidents.len(), 1);
    let incident = &incidents[0];
    assert_eq!(incident["rule"], "terminal-replay-loop");
    assert_eq!(incident["severity"], "error");
    assert_eq!(incident["findings"].as_array().unwrap().len(), report["findings"].as_array().unwrap().len());
    assert_eq!(
        incident["blast_radius"]["repeated"],
        serde_json::json!([{"request": "2", "method": "tools/call", "name": "slow"}])
    );
    assert_eq!(incident["blast_radius"]["lost"], serde_json::json!([]));
    let course = incident["course"].as_array().unwrap();
    assert_eq!(course[0]["entry"], 2, "it begins with the answer that came before the first resume");
    assert!(course.windows(2).all(|w| w[0]["time"].as_str() <= w[1]["time"].as_str()));
}

#[test]
fn a_healthy_capture_has_no_incident_and_what_is_known_of_a_server_is_said_with_its_report() {
    assert_eq!(check("testdata/scenarios/01-clean-baseline.transcript")["incidents"], serde_json::json!([]));
    let report = check("testdata/scenarios/42-rs-inclusive.transcript");
    let known = &report["findings"].as_array().unwrap().iter().find(|f| f["rule"] == "replay-includes-cursor").unwrap()
        ["known"];
    assert_eq!(known["speaker"], "server");
    assert_eq!(known["note"], "rmcp's in-memory sessions replay from the cursor's own event on");
}
