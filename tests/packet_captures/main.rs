//! Packet captures: packets made by hand, files of every flavour, recorded conversations, and other people's files.

mod files;
mod http;
mod robust;
mod tcp;
mod truth;
mod wire;
