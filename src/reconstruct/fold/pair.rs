//! Two records of one exchange become one: what the client got counts, and what only one of the two holds is kept.

use crate::{
    model::{Body, Content, End, Exchange},
    reconstruct::hops::{self, Differences, Hops},
};
use std::sync::Arc;

/// The two say different things of the answer, and do not only hold more or less of it.
pub fn contradict(a: &Exchange, b: &Exchange) -> bool {
    match (a.status, b.status) {
        (Some(_), Some(_)) => true,
        (None, Some(_)) => broke_off(a),
        (Some(_), None) => broke_off(b),
        (None, None) => false,
    }
}

/// There was no answer, as against one that the capture lacks.
fn broke_off(exchange: &Exchange) -> bool {
    exchange.status.is_none() && matches!(exchange.end, End::Abrupt(_))
}

fn captured(exchange: &Exchange) -> bool {
    !matches!(exchange.response, Body::NotCaptured(_))
}

/// Puts into `one` what is known from both; says in what they differ, where it is known which is nearer to the client.
pub fn merge(one: &mut Exchange, two: &mut Exchange, first_is_near: Option<bool>, hops: &mut Hops) -> Differences {
    let (near, far) = if first_is_near == Some(false) { (&*two, &*one) } else { (&*one, &*two) };
    let known = first_is_near.is_some() && captured(near) && captured(far);
    let found = if known { Differences::of(near, far) } else { Differences::default() };
    let differ = found != Differences::default();
    // How much of the far side's answer came through a connection that broke is not known where that part is lost.
    let is_cut = |x: &Exchange| matches!(x.end, End::Abrupt(_));
    let unsure = is_cut(near) && !captured(near) && !is_cut(far) && far.status.is_some();
    let got_less = first_is_near.is_some() && (unsure || hops::got_less(near, far));
    if known && !differ {
        let kept = if first_is_near == Some(false) && got_less { near } else { &*one };
        hops.pass(kept, near, far);
    }
    let unanswered = one.status.is_none() && !broke_off(one) && two.status.is_some();
    if first_is_near == Some(false) && (differ || got_less) || unanswered {
        std::mem::swap(one, two);
        one.endpoint = Arc::clone(&two.endpoint);
    } else if !captured(one) && captured(two) && one.status == two.status && !(got_less && unsure) {
        one.response = two.response.clone();
        one.end = two.end;
        one.ended = two.ended;
    }
    if matches!(one.request, Body::NotCaptured(_)) {
        one.request = two.request.clone();
    }
    if differ {
        hops.keep(one, two);
    }
    found
}

/// Where each exchange of a run has gone, and how far its times were moved.
pub struct Places {
    /// By exchange: the one that it was folded into; itself while it was not.
    pub into: Vec<usize>,
    /// By exchange: what was taken from its times, in microseconds.
    pub moved: Vec<i64>,
}

impl Places {
    /// Every exchange of a run, where it is.
    pub fn new(count: usize) -> Self {
        Self { into: (0..count).collect(), moved: vec![0; count] }
    }

    /// It was folded into another one.
    pub fn is_gone(&self, index: usize) -> bool {
        self.into[index] != index
    }

    /// The exchange that stands for it.
    pub fn of(&self, mut index: usize) -> usize {
        while self.into[index] != index {
            index = self.into[index];
        }
        index
    }

    /// Takes so much from the times of an exchange in all, in microseconds.
    pub fn shift(&mut self, index: usize, exchange: &mut Exchange, by: i64) {
        let by = -(by - self.moved[index]);
        self.moved[index] -= by;
        for time in [&mut exchange.sent, &mut exchange.head, &mut exchange.ended] {
            *time = time.map(|t| t.plus(by));
        }
        if let Body::Partial(Content::Events(log), _) | Body::Complete(Content::Events(log)) = &mut exchange.response {
            log.times.iter_mut().for_each(|time| *time = time.plus(by));
        }
    }
}
