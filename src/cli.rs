//! x
/// x
pub fn main(_: impl Iterator<Item = std::ffi::OsString>) -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
