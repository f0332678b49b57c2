//! The law of the floors, read from `src/`: code looks down, never up.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Each module of the crate's root with its floor.
const FLOORS: [(&str, u8); 11] = [
    ("evidence", 0),
    ("redact", 0),
    ("wire", 1),
    ("model", 2),
    ("capture", 3),
    ("reconstruct", 4),
    ("guard", 4),
    ("rules", 5),
    ("audit", 6),
    ("report", 7),
    ("cli", 8),
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Every source file but those of tests, with the module of the root that it belongs to.
fn sources() -> Vec<(String, String, String)> {
    let (root, mut found) = (source(), Vec::new());
    files(&root, &mut found);
    let one = |path: PathBuf| {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
        let module = name.split(['/', '.']).next().unwrap().to_owned();
        (name, module, fs::read_to_string(&path).unwrap())
    };
    let is_test = |path: &PathBuf| path.ends_with("tests.rs") || path.ends_with("specimen.rs");
    found.into_iter().filter(|path| !is_test(path)).map(one).collect()
}

fn floor(module: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == module).map(|(_, floor)| *floor)
}

/// The code of a file: without comments, and without its tests.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    code.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The modules of the root that a text names: `crate::x`, and the members of `use crate::{x, y::z}`.
fn named(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for rest in text.split("crate::").skip(1) {
        if let Some(list) = rest.strip_prefix('{') {
            // Only the first word behind the brace, and behind a comma that lies in no brace within, is a module.
            let (mut depth, mut begins, mut rest) = (1, true, list);
            while let Some(c) = rest.chars().next().filter(|_| depth > 0) {
                let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                rest = &rest[word.len().max(c.len_utf8())..];
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' => begins = depth == 1,
                    _ if begins && !word.is_empty() => {
                        found.push(word);
                        begins = false;
                    }
                    _ => {}
                }
            }
        } else {
            found.push(rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
        }
    }
    found
}

#[test]
fn names_are_found_in_every_kind_of_use() {
    let text = "use crate::{a::{b, c}, d, e::F};\nuse crate::g::h; let x = crate::i::J;";
    assert_eq!(named(text), ["a", "d", "e", "g", "i"]);
}

#[test]
fn code_looks_down_and_never_up() {
    let mut wrong = Vec::new();
    let mut looked = 0;
    for (name, module, text) in sources() {
        let Some(own) = floor(&module) else { continue };
        for other in named(&code(&text)) {
            looked += 1;
            if floor(&other).is_some_and(|f| f > own) {
                wrong.push(format!("{name} looks up to {other}"));
            }
        }
    }
    assert!(looked > 100, "{looked}");
    assert_eq!(wrong, [] as [String; 0]);
}

#[test]
fn every_module_of_the_root_has_a_floor() {
    let text = fs::read_to_string(source().join("lib.rs")).unwrap();
    let modules: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    assert_eq!(modules.len(), FLOORS.len());
    assert!(modules.iter().all(|m| floor(m).is_some()), "{modules:?}");
}

#[test]
fn parsers_do_no_io_and_know_no_word_of_mcp() {
    for (name, module, text) in sources() {
        let code = code(&text);
        if module == "wire" {
            for word in ["std::fs", "TcpStream", "UdpSocket", "std::env", "Last-Event-ID", "last-event-id", "mcp-"] {
                assert!(!code.contains(word), "{name} says {word}");
            }
        }
        if module == "rules" {
            for word in ["std::fs", "serde_json", "std::env"] {
                assert!(!code.contains(word), "{name} says {word}");
            }
        }
    }
}

#[test]
fn only_the_command_line_prints_and_reads_the_environment() {
    for (name, module, text) in sources() {
        if module == "cli" || module == "main" {
            continue;
        }
        let code = code(&text);
        for word in ["println!", "print!(", "eprint", "env::var", "env::args", "process::exit", "dbg!"] {
            assert!(!code.contains(word), "{name} says {word}");
        }
    }
}

#[test]
fn every_file_says_first_which_question_it_answers() {
    for (name, _, text) in sources() {
        assert!(text.starts_with("//! ") && text.lines().next().is_some_and(|l| l.len() > 12), "{name}");
        assert!(!name.ends_with("mod.rs"), "{name}");
    }
}

/// Rows hand caveats over by name; the reader of rows must know them all.
#[test]
fn rows_know_every_caveat_of_the_readers() {
    let known = fs::read_to_string(source().join("capture/rows.rs")).unwrap();
    for (name, module, text) in sources() {
        if module != "capture" {
            continue;
        }
        for call in code(&text).split("caveat").skip(1) {
            let argument = call.trim_start_matches('s').strip_prefix('(').unwrap_or_default().trim_start();
            let Some(caveat) = argument.strip_prefix('"').and_then(|a| a.split('"').next()) else { continue };
            assert!(known.contains(&format!("\"{caveat}\",")), "{name} counts {caveat}");
        }
    }
}
