//! Packet captures: packets made by hand, files of every flavour, recorded conversations, and other people's files.

mod http;
mod files;
mod robust;
mod tcp;
mod truth;
mod wire;
