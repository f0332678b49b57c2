//! Exit codes and streams, as scripts rely on them.

use assert_cmd::Command;
use std::{fs, path::Path};

const BAD: &str = "testdata/transcripts/terminal-replay.transcript";
const GOOD: &str = "testdata/transcripts/healthy.transcript";

fn lastevent(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("lastevent").unwrap();
    command.args(arguments).env_remove("NO_COLOR").current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

/// Runs; what stdout and stderr held, if the exit code is the one meant.
fn run(arguments: &[&str], code: i32) -> (String, String) {
    let output = lastevent(arguments).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{out}\n{err}");
    (out, err)
}

#[test]
fn nothing_decisive_is_0() {
    let (out, err) = run(&["check", GOOD], 0);
    assert!(out.ends_with("ok: nothing found in 4 exchanges\n"), "{out}");
    assert_eq!(err, "");
}

#[test]
fn a_decisive_finding_is_1_in_every_format() {
    for format in ["text", "table", "json", "ndjson"] {
        let (out, err) = run(&["check", "--format", format, BAD], 1);
        assert!(out.contains("resume-after-terminal"), "{format}");
        assert_eq!(err, "");
    }
}

#[test]
fn with_v_stderr_says_from_where_each_file_was_recorded_what_shows_that_and_how_much_was_read() {
    let told = |arguments: &[&str], code, line: &str| {
        let (_, err) = run(arguments, code);
        let [vantage, speed] = err.lines().collect::<Vec<_>>()[..] else { panic!("{err}") };
        assert_eq!(vantage, format!("vantage of {line}"), "{arguments:?}");
        let bytes = fs::metadata(arguments.last().unwrap()).unwrap().len();
        assert!(speed.starts_with(&format!("{bytes} bytes with ")) && speed.ends_with(" MB/s"), "{speed}");
    };
    let pcap = "testdata/pcap/drop_and_resume.pcap";
    let har = "testdata/captures/03_seed_terminal_replay_loop_py/mitmproxy.har";
    told(&["check", "-v", GOOD], 0, &format!("{GOOD}: client (the transcript says so)"));
    told(&["show", "-v", har], 0, &format!("{har}: proxy (mitmproxy 12.3.1 records there)"));
    told(
        &["show", "-v", pcap],
        0,
        &format!("{pcap}: unknown (client and server are on one host, which sees both ends)"),
    );
    told(&["extract", "-v", "--vantage", "server", pcap], 0, &format!("{pcap}: server (--vantage says so)"));
    let (out, _) = run(&["check", "--format", "json", "--vantage", "server", har], 1);
    assert!(out.contains("\"vantage\": \"server\""), "{out}");
}

#[test]
fn what_fails_a_run_is_the_users_choice() {
    run(&["check", "--fail-on", "never", BAD], 0);
    run(&["check", "--exit-zero", BAD], 0);
    run(&["check", "--fail-on", "error", "--fail-certainty", "certain", BAD], 1);
    run(&["check", "--ignore", "resume,terminal,reconnect,replay", BAD], 0);
    run(&["check", "--select", "http", BAD], 0);
}

#[test]
fn usage_errors_are_2_and_say_what_was_meant() {
    for (arguments, told) in [
        (&["check", "--fail-on", "fatal", BAD][..], "[possible values: note, warning, error, never]"),
        (&["check", "--format", "pdf", BAD], "[possible values: text, table, json, ndjson"),
        (&["check", "--select", "resume-after-termnial", BAD], "did you mean 'resume-after-terminal'?"),
        (&["check", "--limit", "boby=1", BAD], "did you mean 'body'?"),
        (&["check", "--input", "har2", BAD], "did you mean 'har'?"),
        (&["check", "--set", "resume-after-terminal.x=1", BAD], "has no threshold 'x'"),
        (&["check", "--since", "yesterday", BAD], "'yesterday' is no time"),
        (&["check", "--baseline", "Cargo.toml", BAD], "--baseline Cargo.toml: no report/1 document"),
        (&["check", "--also", "json", BAD], "write FORMAT=FILE"),
        (&["check", "--baseline-exact", BAD], "--baseline <REPORT>"),
        (&["check", "--nonsense", BAD], "unexpected argument '--nonsense'"),
        (&["explain", "resume-after-termnial"], "did you mean 'resume-after-terminal'?"),
        (&["chekc"], "unrecognized subcommand 'chekc'"),
    ] {
        let (out, err) = run(arguments, 2);
        assert_eq!(out, "", "{arguments:?}");
        assert!(err.contains(told), "{arguments:?}: {err}");
    }
}

#[test]
fn a_named_input_that_is_missing_or_no_capture_is_2_and_the_rest_is_reported() {
    let (out, err) = run(&["check", BAD, "testdata/none.har"], 2);
    assert!(out.contains("resume-after-terminal") && out.contains("NOT READ: no such file"), "{out}");
    assert_eq!(err, "error: testdata/none.har: no such file\n");
    let (_, err) = run(&["check", GOOD, "Cargo.toml"], 2);
    assert!(err.starts_with("error: Cargo.toml: not a capture"), "{err}");
}

#[test]
fn a_file_met_in_a_directory_that_is_no_capture_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(GOOD, folder.path().join("a.transcript")).unwrap();
    fs::write(folder.path().join("notes.txt"), "nothing of interest").unwrap();
    let (out, _) = run(&["check", folder.path().to_str().unwrap()], 0);
    assert!(out.contains("not-a-capture (1x)"), "{out}");
}

#[test]
fn a_run_without_any_exchange_is_2_unless_that_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let (_, err) = run(&["check", folder], 2);
    assert!(err.contains("no MCP exchange in the whole run"), "{err}");
    run(&["check", "--allow-empty", folder], 0);
    run(&["show", folder], 2);
    run(&["show", "--allow-empty", folder], 0);
}

#[test]
fn stdin_is_read_by_name_and_where_it_is_a_pipe() {
    for arguments in [&["check", "-"][..], &["check"], &["show", "--input", "transcript"], &["extract"]] {
        let code = i32::from(arguments[0] == "check");
        let output = lastevent(arguments).write_stdin(fs::read(BAD).unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(!output.stdout.is_empty());
    }
}

#[test]
fn paths_are_read_from_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    fs::write(&list, format!("{GOOD}\n{BAD}\n")).unwrap();
    let (out, _) = run(&["check", "--format", "json", "--files-from", list.to_str().unwrap()], 1);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["inputs"][1]["file"], BAD);
    fs::write(&list, format!("{GOOD}\0{BAD}\0")).unwrap();
    run(&["check", "-0", "--files-from", list.to_str().unwrap()], 1);
    let (_, err) = run(&["check", "--files-from", "testdata/none"], 2);
    assert!(err.contains("testdata/none: no such file"), "{err}");
}

#[test]
fn an_output_file_is_replaced_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("report.json"), "old").unwrap();
    let also = format!("ndjson={}", path("report.ndjson"));
    let (out, _) = run(&["check", "--format", "json", "-o", &path("report.json"), "--also", &also, BAD], 1);
    assert_eq!(out, "");
    let report: serde_json::Value = serde_json::from_slice(&fs::read(path("report.json")).unwrap()).unwrap();
    assert_eq!(report["schema"], "report/1");
    assert!(fs::read_to_string(path("report.ndjson")).unwrap().starts_with("{\"type\":\"head\""));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left beside them");
    let (_, err) = run(&["check", "-o", "/nowhere/report.json", BAD], 2);
    assert!(err.contains("cannot write /nowhere/report.json"), "{err}");
}

#[test]
fn a_baseline_leaves_only_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("base.json");
    let path = path.to_str().unwrap();
    run(&["check", "--format", "json", "-o", path, BAD], 1);
    let (out, _) = run(&["check", "--baseline", path, BAD], 0);
    assert!(out.contains("known from the baseline"), "{out}");
    run(&["check", "--baseline", path, "--baseline-exact", BAD], 0);
}

#[test]
fn the_configuration_file_holds_options_which_the_command_line_overrides() {
    let folder = tempfile::tempdir().unwrap();
    let bad = Path::new(env!("CARGO_MANIFEST_DIR")).join(BAD);
    let check = |arguments: &[&str]| {
        let output = lastevent(&["check"]).args(arguments).arg(&bad).current_dir(folder.path()).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let config = folder.path().join("lastevent.toml");
    fs::write(&config, "fail-on = 'never'\nselect = ['resume', 'terminal']\nallow-empty = true\n").unwrap();
    assert_eq!(check(&[]).0, 0);
    assert_eq!(check(&["--fail-on", "warning"]).0, 1);
    assert_eq!(
        check(&["--fail-on=warning", "--select", "http"]).0,
        0,
        "an option of the command line replaces the list"
    );
    for (text, told) in [
        ("fial-on = 'never'", "lastevent.toml: no option is called 'fial-on'; did you mean 'fail-on'?"),
        ("fail-on = 'nevr'", "lastevent.toml: invalid value 'nevr' for '--fail-on"),
        ("exit-zero = 'yes'", "lastevent.toml: 'exit-zero' is true or false"),
        ("fail-on = ", "lastevent.toml: "),
    ] {
        fs::write(&config, text).unwrap();
        let (code, err) = check(&[]);
        assert_eq!(code, 2, "{text}");
        assert!(err.contains(told), "{text}: {err}");
    }
    fs::remove_file(&config).unwrap();
    let (code, err) = check(&["--config", "other.toml"]);
    assert_eq!(code, 2);
    assert!(err.contains("--config other.toml"), "{err}");
}

#[cfg(unix)]
#[test]
fn a_reader_that_went_away_is_no_error() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("lastevent"))
        .args(["check", "--format", "json", BAD])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn output_is_the_same_at_any_number_of_threads() {
    let one = run(&["check", "--format", "json", "-j", "1", "testdata"], 1).0;
    let many = run(&["check", "--format", "json", "-j", "7", "testdata"], 1).0;
    assert!(one == many && one.contains("report/1"));
}

#[test]
fn colours_come_only_when_they_are_asked_for() {
    assert!(!run(&["check", BAD], 1).0.contains('\u{1b}'));
    assert!(run(&["check", "--color", "always", BAD], 1).0.contains("\u{1b}["));
}

#[test]
fn every_command_prints_help_with_an_example() {
    for command in ["check", "show", "extract", "explain", "rules", "formats", "completions", "man"] {
        let (out, _) = run(&[command, "--help"], 0);
        assert!(out.contains("Example") && out.contains(&format!("lastevent {command}")), "{command}: {out}");
        let (man, _) = run(&["man", command], 0);
        assert!(man.contains(".TH"), "{command}");
    }
    assert!(run(&["completions", "bash"], 0).0.contains("lastevent"));
    assert!(run(&["--version"], 0).0.starts_with("lastevent "));
    run(&[], 2);
}

#[test]
fn rules_explain_themselves() {
    let (list, _) = run(&["rules", "--format", "json"], 0);
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let rules = list["rules"].as_array().unwrap();
    assert_eq!(rules.len(), lastevent::rules::ALL.len());
    for rule in rules {
        let (page, _) = run(&["explain", rule["id"].as_str().unwrap()], 0);
        assert!(page.contains(rule["summary"].as_str().unwrap()), "{page}");
    }
    assert!(run(&["rules"], 0).0.contains("resume-after-terminal"));
}

#[test]
fn a_run_that_was_repeated_later_is_no_second_recording_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string("testdata/captures/03_seed_terminal_replay_loop_py/mitmproxy.har").unwrap();
    let (first, second) = (folder.path().join("monday.har"), folder.path().join("tuesday.har"));
    fs::write(&first, &text).unwrap();
    fs::write(&second, text.replace("2026-11-30T", "2026-12-01T")).unwrap();
    let arguments = ["check", "--format", "json", first.to_str().unwrap(), second.to_str().unwrap()];
    let (out, _) = run(&arguments, 1);
    assert!(!out.contains("duplicate-viewpoint"), "{out}");
    assert!(out.contains("\"exchanges\": 80"), "{out}");
}

#[test]
fn a_session_that_is_not_there_is_said() {
    let (out, err) = run(&["check", "--session", "zzz", BAD], 0);
    assert!(out.contains("ok: nothing found"), "{out}");
    assert_eq!(err, "warning: no session matches --session 'zzz'\n");
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_in_a_folder_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(GOOD), folder.path().join("good.transcript")).unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    let (_, err) = run(&["check", folder.path().to_str().unwrap()], 0);
    assert_eq!(err, "");
    let (_, err) = run(&["check", link.to_str().unwrap()], 2);
    assert!(err.contains("link"), "{err}");
}
