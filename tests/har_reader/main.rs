//! The HAR reader on entries of every dialect, in every state of damage.

mod bodies;
mod damage;
mod dialects;
mod entries;
mod recordings;
mod times;
