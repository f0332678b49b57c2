//! The `lastevent` command: parse, run, and map the outcome to an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    lastevent::cli::main(std::env::args_os())
}
