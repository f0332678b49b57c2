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

/// Does the work, and shows meanwhile how much of the inputs is consumed.
pub fn during<T: Send>(wanted: bool, inputs: &[Input], consumed: &AtomicU64, work: impl FnOnce() -> T + Send) -> T {
    if !wanted || !io::stderr().is_terminal() {
        return work();
    }
    let total = inputs.iter().try_fold(0_u64, |sum, input| sum.checked_add(input.size));
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("reading {wide_bar} {bytes} of {total_bytes}") {
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
