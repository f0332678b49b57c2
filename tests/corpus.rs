//! Every file of other people's that the folder named by `LASTEVENT_CORPUS` holds: whatever it is, it is read or refused
//! by name, and nothing panics.

use assert_cmd::Command;
use std::{path::Path, time::Duration};

#[test]
fn every_file_of_the_corpus_is_read_or_refused_by_name() {
    let Some(corpus) = std::env::var_os("LASTEVENT_CORPUS") else {
        eprintln!("skipped: LASTEVENT_CORPUS is not set");
        return;
    };
    let files = walkdir::WalkDir::new(Path::new(&corpus)).sort_by_file_name().into_iter().map(Result::unwrap);
    let mut wrong = Vec::new();
    let mut count = 0;
    for file in files.filter(|f| f.file_type().is_file()) {
        count += 1;
        let mut command = Command::cargo_bin("lastevent").unwrap();
        command
            .args(["check", "--format", "json", "--exit-zero", "--allow-empty"])
            .arg(file.path())
            .timeout(Duration::from_secs(60));
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        let name = file.file_name().to_string_lossy();
        let fault = match output.status.code() {
            None => Some("killed, or too slow".to_owned()),
            Some(0) => {
                let report = serde_json::from_slice::<serde_json::Value>(&output.stdout);
                report.err().map(|e| format!("no report: {e}"))
            }
            Some(2..) if errors.contains(name.as_ref()) && !errors.contains("panicked") => None,
            Some(code) => Some(format!("exit code {code}: {errors}")),
        };
        wrong.extend(fault.map(|fault| format!("{}: {fault}", file.path().display())));
    }
    assert!(count > 0, "the corpus is empty");
    assert!(wrong.is_empty(), "{} of {count} files:\n{}", wrong.len(), wrong.join("\n"));
}
