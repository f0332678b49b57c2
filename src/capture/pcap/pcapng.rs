//! The pcapng format: sections, interfaces, and the three kinds of packet blocks.

use super::{
    interface::Interface,
    record::{LARGEST, Next, Record, Stop},
    window::Window,
};
use crate::capture::ReadError;
use pcap_parser::{Block, parse_block_be, parse_block_le};
use std::ops::Range;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Blocks without packets that Wireshark numbers as frames all the same: journal entries and system calls.
const OTHER_FRAMES: [u32; 6] = [9, 0x204, 0x208, 0x216, 0x221, 0x222];

/// Where the packet stands in an enhanced or obsolete packet block, and in a simple one.
const DATA: usize = 28;
const SIMPLE_DATA: usize = 12;

/// Most interfaces of one section.
const MOST_INTERFACES: usize = 1 << 16;

/// A pcapng file, read block by block.
pub struct Pcapng<'i, 'b> {
    window: Window<'i, 'b>,
    is_big: bool,
    interfaces: Vec<Interface>,
    frame: u32,
    consumed: usize,
    /// The program that wrote the first section that names one.
    pub recorder: Option<String>,
    /// Packets that contradict themselves, and the first of them.
    pub broken: (u64, Option<Stop>),
}

/// A packet that was found: all of a [`Record`] but its bytes.
struct Found {
    micros: Option<i64>,
    link: u32,
    bytes: Range<usize>,
    uncaptured: usize,
}

enum Step {
    Packet(Found),
    End,
    Stop(&'static str),
}

enum Noted {
    Section(Option<String>),
    Interface(Interface),
}

impl<'i, 'b> Pcapng<'i, 'b> {
    /// A file whose first section begins at the window's place.
    pub fn new(window: Window<'i, 'b>) -> Self {
        let (interfaces, recorder, broken) = (Vec::new(), None, (0, None));
        Self { window, is_big: false, interfaces, frame: 0, consumed: 0, recorder, broken }
    }

    /// The next packet.
    pub fn next(&mut self) -> Result<Next<'_>, ReadError> {
        Ok(match self.advance()? {
            Step::End => Next::End,
            Step::Stop(why) => Next::Stop(self.stop(why)),
            Step::Packet(Found { micros, link, bytes, uncaptured }) => {
                let bytes = self.window.bytes().get(bytes).unwrap_or_default();
                Next::Packet(Record { frame: self.frame, micros, link, bytes, uncaptured })
            }
        })
    }

    fn advance(&mut self) -> Result<Step, ReadError> {
        loop {
            self.window.consume(std::mem::take(&mut self.consumed));
            if !self.window.fill(12)? {
                let is_end = self.window.bytes().is_empty();
                return Ok(if is_end { Step::End } else { Step::Stop("a block header is cut") });
            }
            if self.number(0) == SECTION {
                self.is_big = match self.window.bytes().get(8..12) {
                    Some([0x1a, 0x2b, 0x3c, 0x4d]) => true,
                    Some([0x4d, 0x3c, 0x2b, 0x1a]) => false,
                    _ => return Ok(Step::Stop("a section tells no byte order")),
                };
            }
            let (kind, length) = (self.number(0), self.number(4) as usize);
            if length < 12 {
                return Ok(Step::Stop("a block claims an impossible length"));
            }
            let padded = length.next_multiple_of(4);
            let is_packet = matches!(kind, ENHANCED_PACKET | SIMPLE_PACKET | OBSOLETE_PACKET);
            if !is_packet && !matches!(kind, SECTION | INTERFACE) {
                self.frame = self.frame.saturating_add(OTHER_FRAMES.contains(&kind).into());
                if !self.window.skip(padded as u64)? {
                    return Ok(Step::Stop("the last block is cut"));
                }
                continue;
            }
            if length > LARGEST {
                return Ok(Step::Stop("a block claims an impossible length"));
            }
            // The padding of a file's very last block may be missing.
            if !self.window.fill(padded)? && self.window.bytes().len() < length {
                return Ok(Step::Stop("the last block is cut"));
            }
            self.consumed = padded;
            if !is_packet {
                self.note(length);
                continue;
            }
            self.frame = self.frame.saturating_add(1);
            if let Some(found) = self.find(kind, length) {
                return Ok(Step::Packet(found));
            }
            self.broken.0 += 1;
            if self.broken.1.is_none() {
                self.broken.1 = Some(self.stop("a packet block contradicts itself"));
            }
        }
    }

    fn stop(&self, why: &'static str) -> Stop {
        Stop { offset: self.window.position, frame: self.frame, why }
    }

    fn number(&self, at: usize) -> u32 {
        let bytes = self.window.bytes().get(at..).and_then(|b| b.first_chunk().copied()).unwrap_or_default();
        if self.is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    fn block(&self, length: usize) -> Option<Block<'_>> {
        let bytes = self.window.bytes().get(..length)?;
        let parse = if self.is_big { parse_block_be } else { parse_block_le };
        // The block is in memory as a whole: where the parser asks for more, the block contradicts itself.
        parse(bytes).ok().map(|(_, block)| block)
    }

    /// Takes note of a section or an interface.
    fn note(&mut self, length: usize) {
        let noted = match self.block(length) {
            Some(Block::SectionHeader(section)) => {
                let named = |name: Option<Result<&str, _>>| name.and_then(Result::ok).map(str::to_owned);
                Noted::Section(named(section.shb_userappl()).or_else(|| named(section.shb_hardware())))
            }
            Some(Block::InterfaceDescription(block)) => Noted::Interface(Interface::read(&block, self.is_big)),
            // What cannot be read still counts: a section ends the interfaces before it, an interface has its number.
            _ if self.number(0) == SECTION => Noted::Section(None),
            _ => Noted::Interface(Interface::UNKNOWN),
        };
        match noted {
            Noted::Section(recorder) => {
                self.interfaces.clear();
                self.recorder = self.recorder.take().or(recorder);
            }
            Noted::Interface(interface) if self.interfaces.len() < MOST_INTERFACES => self.interfaces.push(interface),
            Noted::Interface(_) => {}
        }
    }

    fn find(&self, kind: u32, length: usize) -> Option<Found> {
        if kind == OBSOLETE_PACKET {
            let interface = self.number(8);
            // The interface is a number of two bytes, and a count of drops follows it.
            let interface = if self.is_big { interface >> 16 } else { interface & 0xffff };
            let ticks = u64::from(self.number(12)) << 32 | u64::from(self.number(16));
            return self.found(interface, ticks, self.number(20), self.number(24), length);
        }
        match self.block(length)? {
            Block::EnhancedPacket(packet) => {
                let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                self.found(packet.if_id, ticks, packet.caplen, packet.origlen, length)
            }
            Block::SimplePacket(packet) => {
                let interface = self.interfaces.first()?;
                let original = packet.origlen as usize;
                let snaplen = if interface.snaplen == 0 { usize::MAX } else { interface.snaplen as usize };
                let captured = original.min(snaplen).min(length.checked_sub(SIMPLE_DATA + 4)?);
                let bytes = SIMPLE_DATA..SIMPLE_DATA + captured;
                Some(Found { micros: None, link: interface.link, bytes, uncaptured: original - captured })
            }
            _ => None,
        }
    }

    fn found(&self, interface: u32, ticks: u64, captured: u32, original: u32, length: usize) -> Option<Found> {
        let interface = self.interfaces.get(interface as usize)?;
        let (captured, original) = (captured as usize, original as usize);
        if captured > length.checked_sub(DATA + 4)? {
            return None;
        }
        Some(Found {
            micros: Some(interface.micros(ticks)),
            link: interface.link,
            bytes: DATA..DATA + captured,
            uncaptured: original.saturating_sub(captured),
        })
    }
}
