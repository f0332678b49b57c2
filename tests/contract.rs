//! The JSON documents against their schemas, over everything in `testdata`, and the rows against the run without them.

use assert_cmd::Command;
use serde_json::Value;

fn run(arguments: &[&str], stdin: &[u8]) -> String {
    let mut command = Command::cargo_bin("lastevent").unwrap();
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).write_stdin(stdin);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&run(arguments, b"")).unwrap()
}

fn conforms(schema: &str, document: &Value) {
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert_eq!(errors, [] as [String; 0]);
}

#[test]
fn reports_conform_to_their_schema() {
    let report = json(&["check", "--format", "json", "testdata"]);
    assert!(report["findings"].as_array().is_some_and(|f| !f.is_empty()));
    conforms(include_str!("schemas/report-1.json"), &report);
    let empty = json(&["check", "--format", "json", "Cargo.toml"]);
    conforms(include_str!("schemas/report-1.json"), &empty);
}

#[test]
fn sessions_conform_to_their_schema() {
    let sessions = json(&["show", "--format", "json", "testdata"]);
    assert!(sessions["sessions"].as_array().is_some_and(|s| s.len() > 1));
    conforms(include_str!("schemas/sessions-1.json"), &sessions);
}

/// The names of members at one depth of indentation, in order, until the object ends.
fn members(text: &str, behind: &str, indent: usize) -> Vec<String> {
    let from = text.find(behind).unwrap();
    let lead = format!("{:indent$}\"", "");
    let lines = text[from..].lines().skip(1).take_while(|l| !l.starts_with(&format!("{:1$}}}", "", indent - 2)));
    lines.filter_map(|l| Some(l.strip_prefix(&lead)?.split_once('"')?.0.to_owned())).collect()
}

#[test]
fn members_stand_in_the_order_of_the_contract() {
    let text = run(&["check", "--format", "json", "testdata/transcripts/terminal-replay.transcript"], b"");
    assert_eq!(
        members(&text, "{", 2),
        ["schema", "tool", "run", "inputs", "summary", "findings", "caveats", "incidents"]
    );
    let finding = "rule kind family severity certainty party message session session_id endpoint era request occurrence \
                   direction method name stream cursor count first last evidence assumptions suppresses remedy \
                   fingerprint signature known";
    assert_eq!(members(&text, "  \"findings\": [\n    {", 6).join(" "), format!("{finding}"));
    let evidence = "file entry part event line bytes offset frame tcp_stream time what facts";
    assert_eq!(members(&text, "      \"evidence\": [\n        {", 10).join(" "), evidence);
    let text = run(&["show", "--format", "json", "testdata/transcripts/terminal-replay.transcript"], b"");
    let session = "session session_id endpoint transport era client server started ended end complete_from_start \
                   requests streams resumptions";
    assert_eq!(members(&text, "  \"sessions\": [\n    {", 6).join(" "), session);
}

/// Everything but the names of the inputs' formats, which rows hand over, must be the same.
#[test]
fn rows_give_the_same_report_as_the_captures_themselves() {
    for path in ["testdata", "testdata/transcripts/terminal-replay.transcript", "testdata/curl", "testdata/pcap"] {
        let rows = run(&["extract", path], b"");
        let mut lines: Vec<&str> = rows.lines().collect();
        assert!(lines.iter().all(|l| l.starts_with("{\"k\":\"")), "{path}");
        lines.sort_unstable();
        let sorted = lines.join("\n");
        let from_rows: Value =
            serde_json::from_str(&run(&["check", "--format", "json", "--input", "rows", "-"], sorted.as_bytes()))
                .unwrap();
        let direct = json(&["check", "--format", "json", path]);
        assert_eq!(from_rows["findings"], direct["findings"], "{path}");
        for count in ["exchanges", "sessions", "streams", "requests", "resumptions", "verdicts", "findings"] {
            assert_eq!(from_rows["summary"][count], direct["summary"][count], "{path} {count}");
        }
    }
}

#[test]
fn real_ids_are_printed_only_on_request() {
    let path = "testdata/transcripts/terminal-replay.transcript";
    for arguments in [
        &["check", path][..],
        &["check", "--format", "json", path],
        &["check", "--format", "table", path],
        &["show", "-v", path],
        &["show", "--format", "timeline", path],
        &["show", "--format", "json", path],
        &["show", "--format", "transcript", path],
        &["extract", path],
    ] {
        let text = run(arguments, b"");
        assert!(!text.is_empty() && !text.contains("a-0") && !text.contains("\"done\""), "{arguments:?}: {text}");
    }
    let shown = json(&["show", "--format", "json", "--show-ids", path]);
    assert_eq!(shown["sessions"][0]["session_id"], "one");
    assert_eq!(shown["sessions"][0]["resumptions"][0]["cursor"], "a-0");
}

/// The facts that a transcript keeps are all that the rules ask for.
#[test]
fn a_transcript_gives_the_same_findings_as_the_capture_it_was_made_of() {
    let facts = |report: &Value| -> Vec<Value> {
        let parts = ["rule", "kind", "severity", "certainty", "party", "request", "count", "first", "last"];
        let of = |finding: &Value| parts.iter().map(|part| finding[part].clone()).collect::<Value>();
        let mut all: Vec<Value> = report["findings"].as_array().unwrap().iter().map(of).collect();
        all.sort_by_key(ToString::to_string);
        all
    };
    let captures = [
        "testdata/captures/03_seed_terminal_replay_loop_py/mitmproxy.har",
        "testdata/curl/verbose.txt",
        "testdata/flows/drop-and-resume.flow",
        "testdata/pcap/drop_and_resume.pcap",
        "testdata/transcripts/healthy.transcript",
    ];
    for path in captures {
        let text = run(&["show", "--format", "transcript", path], b"");
        let read = run(&["check", "--format", "json", "--input", "transcript", "-"], text.as_bytes());
        let (again, direct) = (serde_json::from_str(&read).unwrap(), json(&["check", "--format", "json", path]));
        assert_eq!(facts(&again), facts(&direct), "{path}");
        assert_eq!(again["summary"]["verdicts"], direct["summary"]["verdicts"], "{path}");
    }
}
