//! Packet captures: pcap and pcapng files to the HTTP exchanges on their TCP connections.
//!
//! A file is read packet by packet, and an exchange is handed over once it is complete and the client has acknowledged
//! it. So memory follows what is under way at one moment, and not the size of the file.

mod body;
mod classic;
mod connection;
mod conversation;
mod early;
mod exchange;
mod frames;
mod half;
mod head;
mod http2;
mod interface;
mod opaque;
mod pcapng;
mod peers;
mod protocol;
mod record;
mod run;
mod standpoint;
mod table;
mod traces;
mod window;

use super::{Bytes, Context, FileFacts, RawExchange, ReadError, digest, digestion};
use crate::{
    model::Vantage,
    wire::{ip::Packet, link::Link, tcp::Stamp},
};
use exchange::Finished;
use record::{Next, Record, Records, Stop};
use run::{Run, Sink};
use standpoint::Found;
use std::collections::{BTreeMap, HashMap};
use table::Table;

/// Reads a pcap or pcapng file.
///
/// # Errors
///
/// The input is neither, or is damaged in its header, or holds only link types that are not read. A file that is
/// damaged further in is read up to there, with the caveat `input-truncated`.
pub fn read(input: &mut Bytes<'_>, context: &Context<'_>) -> Result<FileFacts, ReadError> {
    let mut entries = 0;
    let one = |finished: &Finished| digest::exchange(context, &finished.raw(), Vantage::Unknown);
    let (read, mut exchanges) = digestion::digested(one, Finished::size, |sink| {
        all(input, context, &mut |finished| {
            entries += 1;
            sink(finished);
        })
    });
    let (account, found) = read?;
    if context.vantage.is_none() {
        let hash = |server: &str| context.key.hash(b'a', server.as_bytes());
        let servers: HashMap<u64, Vantage> = found.servers.iter().map(|(s, vantage)| (hash(s), *vantage)).collect();
        for exchange in &mut exchanges {
            exchange.vantage = exchange.at.server.and_then(|s| servers.get(&s).copied()).unwrap_or_default();
        }
    }
    Ok(FileFacts { exchanges, entries, ..account })
}

/// Reads a pcap or pcapng file and hands each HTTP exchange to `sink`: in the order in which they become complete,
/// numbered in the order in which they began. The account that is returned has no exchanges.
///
/// # Errors
///
/// As [`read`].
pub fn exchanges(
    input: &mut Bytes<'_>,
    context: &Context<'_>,
    sink: &mut dyn FnMut(&RawExchange<'_>),
) -> Result<FileFacts, ReadError> {
    all(input, context, &mut |finished| sink(&finished.raw())).map(|(account, _)| account)
}

/// The account of a file, and where its packets were captured, which is only known at its end.
fn all(input: &mut Bytes<'_>, context: &Context<'_>, sink: &mut Sink<'_>) -> Result<(FileFacts, Found), ReadError> {
    let mut run = Run::new(context, sink);
    let mut records = Records::open(input)?;
    let mut table = Table::new(context.limits.reassembly);
    let mut unread = BTreeMap::<u32, u64>::new();
    let mut packets = 0_u64;
    let stop = loop {
        match records.next()? {
            Next::End => break None,
            Next::Stop(stop) => break Some(stop),
            Next::Packet(record) => {
                packets += 1;
                match Link::of(record.link) {
                    Some(link) => frame(&record, link, &mut table, &mut run),
                    None => *unread.entry(record.link).or_default() += 1,
                }
            }
        }
    };
    table.finish(&mut run);
    run.account.recorder = records.recorder().map(str::to_owned);
    if let Some(Stop { offset, frame, why }) = stop {
        let message = format!("{why} at offset {offset}; read up to packet {frame}");
        run.account.caveat("input-truncated", message);
    }
    if let (count, Some(Stop { offset, frame, why })) = records.contradictions() {
        let message = format!("{why} at offset {offset} (packet {frame}); it is left out");
        run.account.caveats("undecodable-entry", count, message);
    }
    say_unread(&unread, packets, &mut run)?;
    let found = run.standpoint.find();
    run.account.vantage = found.vantage;
    run.account.vantage_shown_by.clone_from(&found.shown_by);
    Ok((run.account, found))
}

/// Longest packet that can be one of a network, the largest segments of offloading hosts included.
const LONGEST_PACKET: usize = 1 << 20;

fn frame(record: &Record<'_>, link: Link, table: &mut Table, run: &mut Run<'_>) {
    if record.bytes.len() > LONGEST_PACKET {
        return;
    }
    let Some(bytes) = link.packet(record.bytes) else { return };
    let Some(packet) = Packet::read(bytes, record.uncaptured) else { return };
    let stamp = Stamp { frame: record.frame, micros: record.micros, ack: None };
    table.packet(&packet, stamp, run);
}

/// Says which link types were not read; an error where there was nothing else.
fn say_unread(unread: &BTreeMap<u32, u64>, packets: u64, run: &mut Run<'_>) -> Result<(), ReadError> {
    let Some((link, _)) = unread.first_key_value() else { return Ok(()) };
    let count: u64 = unread.values().sum();
    if count == packets {
        return Err(ReadError::NotRead(format!("a packet capture of link type {link}, which is not read")));
    }
    let message = format!("{count} packets of a link type that is not read, the first of type {link}");
    run.account.caveats("undecodable-entry", count, message);
    Ok(())
}
