//! Finished exchanges, digested on all threads while the reading of packets goes on.

use super::{exchange::Finished, run::Sink};
use crate::{
    capture::{Context, digest},
    model::{Exchange, Vantage},
};
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

/// Bytes and exchanges of one task.
const BYTES_A_TASK: usize = 1 << 20;
const EXCHANGES_A_TASK: usize = 256;

/// Tasks for each thread that may be under way; beyond that, whoever reads digests.
const TASKS_A_THREAD: usize = 2;

/// What all tasks share.
struct Work<'c> {
    context: &'c Context<'c>,
    done: Mutex<Vec<Exchange>>,
    under_way: AtomicUsize,
}

impl Work<'_> {
    fn digest(&self, task: &[Finished]) {
        let all = task.iter().filter_map(|f| digest::exchange(self.context, &f.raw(), Vantage::Unknown));
        let all: Vec<Exchange> = all.collect();
        self.done.lock().unwrap_or_else(PoisonError::into_inner).extend(all);
    }
}

/// Runs `read`, which hands over exchanges; gives what it returns, and what may be MCP of the exchanges, by number.
pub fn digested<R>(context: &Context<'_>, read: impl FnOnce(&mut Sink<'_>) -> R) -> (R, Vec<Exchange>) {
    let work = Work { context, done: Mutex::default(), under_way: AtomicUsize::new(0) };
    let most = TASKS_A_THREAD * rayon::current_num_threads();
    let returned = rayon::in_place_scope(|scope| {
        let (mut task, mut size) = (Vec::new(), 0_usize);
        let returned = read(&mut |finished: Finished| {
            size += finished.size();
            task.push(finished);
            if size < BYTES_A_TASK && task.len() < EXCHANGES_A_TASK {
                return;
            }
            let full = std::mem::take(&mut task);
            size = 0;
            if work.under_way.load(Ordering::Relaxed) >= most {
                work.digest(&full);
                return;
            }
            work.under_way.fetch_add(1, Ordering::Relaxed);
            let work = &work;
            scope.spawn(move |_| {
                work.digest(&full);
                work.under_way.fetch_sub(1, Ordering::Relaxed);
            });
        });
        work.digest(&task);
        returned
    });
    let mut exchanges = work.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    exchanges.sort_by_key(|exchange| exchange.at.entry);
    (returned, exchanges)
}
