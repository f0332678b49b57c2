//! README does what it says: every command of its `console` blocks is run, its transcript is read, its commands are CI's.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const README: &str = include_str!("../README.md");

/// The lines of every fenced block of a language.
fn blocks(language: &str) -> Vec<Vec<&'static str>> {
    let mut lines = README.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(named) = line.strip_prefix("```") {
            let block = lines.by_ref().take_while(|l| *l != "```").collect();
            if named == language {
                found.push(block);
            }
        }
    }
    found
}

fn binary() -> PathBuf {
    assert_cmd::cargo::cargo_bin("lastevent")
}

/// A folder that holds what README's commands speak of.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let seed = root.join("testdata/captures/03_seed_terminal_replay_loop_py/mitmproxy.har");
    for name in ["run.har", "captures/a.har", "testdata/captures/03_seed_terminal_replay_loop_py/mitmproxy.har"] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(&seed, path).unwrap();
    }
    let transcripts = folder.path().join("testdata/transcripts");
    fs::create_dir_all(&transcripts).unwrap();
    for name in ["terminal-replay.transcript", "healthy.transcript"] {
        fs::copy(root.join("testdata/transcripts").join(name), transcripts.join(name)).unwrap();
    }
    folder
}

#[cfg(unix)]
#[test]
fn every_command_does_what_is_printed_below_it() {
    let folder = folder();
    let mut count = 0;
    for block in blocks("console") {
        for (at, line) in block.iter().enumerate() {
            let Some(command) = line.strip_prefix("$ ") else { continue };
            let (command, code) = command.split_once(" # exit ").unwrap_or((command, "0"));
            let run = command.replace("cargo run --release --", "lastevent");
            let path = format!("{}:/usr/bin:/bin", binary().parent().unwrap().display());
            let output =
                Command::new("sh").args(["-c", &run]).env("PATH", path).current_dir(folder.path()).output().unwrap();
            let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert_eq!(output.status.code(), Some(code.parse().unwrap()), "{command}\n{out}\n{err}");
            assert_eq!(err, "", "{command}");
            let printed = block[at + 1..].iter().take_while(|l| !l.starts_with("$ "));
            for line in printed.filter(|l| **l != "...") {
                assert!(out.lines().any(|l| l == *line), "{command} does not print '{line}':\n{out}");
            }
            count += 1;
        }
    }
    assert!(count > 15, "{count} commands");
}

#[test]
fn the_transcript_is_one() {
    let transcripts = blocks("text");
    let [transcript] = &transcripts[..] else { panic!("{} blocks", transcripts.len()) };
    let file = lastevent::capture::transcript::parse(transcript.join("\n").as_bytes()).unwrap();
    assert_eq!(file.exchanges.len(), 2);
    assert_eq!(file.exchanges[1].url, "http://localhost/mcp");
}

#[test]
fn the_configuration_is_accepted() {
    let folder = folder();
    fs::write(folder.path().join("lastevent.toml"), blocks("toml")[0].join("\n")).unwrap();
    let output = Command::new(binary()).args(["check", "run.har"]).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_commands_of_development_are_those_of_ci() {
    let development = blocks("sh").pop().unwrap();
    let ci = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/run")).unwrap();
    let commands: Vec<&str> = ci.lines().filter(|l| l.starts_with("cargo ")).collect();
    assert_eq!(development, commands);
}
