//! Packet captures: packets made by hand, files of every flavour, recorded conversations, and other people's files.

mod files;
mod http;
mod http2;
mod robust;
mod tcp;
mod truth;
mod vantage;
mod wire;
