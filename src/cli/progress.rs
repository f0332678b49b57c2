//! The progress bar: on stderr, and only where that is a terminal.

use crate::capture::walk::Input;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    io::{self, IsTerminal as _},
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::Duration,
};

const EVERY: Duration = Duration::from_millis(100);

/// What the bar shows, by whether the bytes of all inputs are known.
const OF_A_TOTAL: &str = "reading {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
const OF_NO_TOTAL: &str = "reading {spinner} {bytes}, {bytes_per_sec}, for {elapsed}";

/// Does the work, and shows meanwhile how much of the inputs is consumed.
pub fn during<T: Send>(wanted: bool, inputs: &[Input], consumed: &AtomicU64, work: impl FnOnce() -> T + Send) -> T {
    if !wanted || !io::stderr().is_terminal() {
        return work();
    }
    let total = total(inputs);
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template(if total.is_some() { OF_A_TOTAL } else { OF_NO_TOTAL }) {
        bar.set_style(style);
    }
    let (done, ends) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // The channel closes when the work is done, or has panicked.
            while ends.recv_timeout(EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
                bar.set_position(consumed.load(Ordering::Relaxed));
            }
            bar.finish_and_clear();
        });
        let _closes = done;
        work()
    })
}

/// The bytes of all inputs; none where a pipe is among them.
fn total(inputs: &[Input]) -> Option<u64> {
    inputs.iter().map(|input| Some(input.size).filter(|size| *size < u64::MAX)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(size: u64) -> Input {
        Input { name: "f".into(), path: None, named: true, size }
    }

    #[test]
    fn a_pipe_has_no_total() {
        assert_eq!(total(&[input(2), input(3)]), Some(5));
        assert_eq!(total(&[input(u64::MAX)]), None);
        assert_eq!(total(&[input(2), input(u64::MAX), input(3)]), None);
    }
}
