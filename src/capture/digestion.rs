//! What a reader hands over one by one is digested on all threads while the reading goes on.

use crate::model::Exchange;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

/// Bytes and exchanges of one task.
const BYTES_A_TASK: usize = 1 << 20;
const EXCHANGES_A_TASK: usize = 256;

/// Tasks for each thread that may be under way; beyond that, whoever reads digests.
const TASKS_A_THREAD: usize = 2;

/// Bytes that may be under way, over all threads.
const BYTES_UNDER_WAY: usize = 64 << 20;

/// What all tasks share.
struct Work<F> {
    one: F,
    done: Mutex<Vec<Exchange>>,
    tasks: AtomicUsize,
    bytes: AtomicUsize,
}

impl<F> Work<F> {
    fn digest<T>(&self, task: &[T])
    where
        F: Fn(&T) -> Option<Exchange>,
    {
        let all: Vec<Exchange> = task.iter().filter_map(&self.one).collect();
        self.done.lock().unwrap_or_else(PoisonError::into_inner).extend(all);
    }
}

/// Runs `read`, which hands over things of so many bytes; gives what it returns, and what `one` makes of each of them, in
/// order of their entries.
pub fn digested<T: Send, R>(
    one: impl Fn(&T) -> Option<Exchange> + Sync,
    bytes: impl Fn(&T) -> usize,
    read: impl FnOnce(&mut dyn FnMut(T)) -> R,
) -> (R, Vec<Exchange>) {
    let work = Work { one, done: Mutex::default(), tasks: AtomicUsize::new(0), bytes: AtomicUsize::new(0) };
    let most = TASKS_A_THREAD * rayon::current_num_threads();
    let returned = rayon::in_place_scope(|scope| {
        let (mut task, mut size) = (Vec::new(), 0_usize);
        let returned = read(&mut |thing: T| {
            size += bytes(&thing);
            task.push(thing);
            if size < BYTES_A_TASK && task.len() < EXCHANGES_A_TASK {
                return;
            }
            let (full, size) = (std::mem::take(&mut task), std::mem::take(&mut size));
            let is_busy = work.tasks.load(Ordering::Relaxed) >= most;
            if is_busy || work.bytes.load(Ordering::Relaxed).saturating_add(size) > BYTES_UNDER_WAY {
                work.digest(&full);
                return;
            }
            work.tasks.fetch_add(1, Ordering::Relaxed);
            work.bytes.fetch_add(size, Ordering::Relaxed);
            let work = &work;
            scope.spawn(move |_| {
                work.digest(&full);
                drop(full);
                work.tasks.fetch_sub(1, Ordering::Relaxed);
                work.bytes.fetch_sub(size, Ordering::Relaxed);
            });
        });
        work.digest(&task);
        returned
    });
    let mut exchanges = work.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    exchanges.sort_by_key(|exchange| exchange.at.entry);
    (returned, exchanges)
}
