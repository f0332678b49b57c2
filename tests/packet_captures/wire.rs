//! Packets made by hand, and what the reader makes of them.

use lastevent::{
    capture::{Context, FileFacts, Limits, RawBody, RawExchange, ReadError, digest::Names, pcap},
    model::{Address, End},
    redact::Key,
};
use std::sync::atomic::AtomicU64;

pub const CLIENT: [u8; 4] = [192, 0, 2, 1];
pub const SERVER: [u8; 4] = [198, 51, 100, 2];

pub const SYN: u8 = 2;
pub const FIN: u8 = 1;
pub const RST: u8 = 4;
pub const ACK: u8 = 16;

/// Time of the first packet; each later one comes a millisecond after the one before, unless told otherwise.
pub const START: i64 = 1_700_000_000_000_000;

/// A capture that is being made, link type RAW.
#[derive(Clone)]
pub struct Wire {
    pub packets: Vec<(i64, Vec<u8>)>,
    pub now: i64,
}

/// A connection whose packets are being made.
#[derive(Clone)]
pub struct Tcp {
    pub port: u16,
    /// Next sequence numbers of client and server.
    pub next: [u32; 2],
}

pub const C: usize = 0;
pub const S: usize = 1;

impl Wire {
    pub fn new() -> Self {
        Self { packets: Vec::new(), now: START }
    }

    /// Adds an IP packet.
    pub fn packet(&mut self, bytes: Vec<u8>) {
        self.packets.push((self.now, bytes));
        self.now += 1000;
    }

    /// Adds a TCP segment from one side, with its own sequence number.
    pub fn segment(&mut self, tcp: &Tcp, side: usize, seq: u32, flags: u8, payload: &[u8]) {
        self.packet(segment(tcp, side, seq, flags, payload));
    }

    /// A connection from this client port, opened by a handshake.
    pub fn open(&mut self, port: u16) -> Tcp {
        self.open_at(port, [1000, 5000])
    }

    /// The same with sequence numbers of its own.
    pub fn open_at(&mut self, port: u16, next: [u32; 2]) -> Tcp {
        let mut tcp = Tcp { port, next };
        self.segment(&tcp, C, next[C].wrapping_sub(1), SYN, b"");
        tcp.next[C] = next[C];
        self.segment(&tcp, S, next[S].wrapping_sub(1), SYN | ACK, b"");
        self.segment(&tcp, C, next[C], ACK, b"");
        tcp
    }

    /// One side sends bytes in order, acknowledging all that the other one sent.
    pub fn send(&mut self, tcp: &mut Tcp, side: usize, payload: impl AsRef<[u8]>) {
        let payload = payload.as_ref();
        self.segment(tcp, side, tcp.next[side], ACK, payload);
        tcp.next[side] = tcp.next[side].wrapping_add(payload.len() as u32);
    }

    /// One side acknowledges all that the other one sent.
    pub fn ack(&mut self, tcp: &Tcp, side: usize) {
        self.segment(tcp, side, tcp.next[side], ACK, b"");
    }

    /// One side closes its direction.
    pub fn fin(&mut self, tcp: &mut Tcp, side: usize) {
        self.segment(tcp, side, tcp.next[side], FIN | ACK, b"");
        tcp.next[side] = tcp.next[side].wrapping_add(1);
    }

    /// One side drops the connection.
    pub fn reset(&mut self, tcp: &Tcp, side: usize) {
        self.segment(tcp, side, tcp.next[side], RST | ACK, b"");
    }

    /// The capture as a pcap file of this link type, with a link header before each packet.
    pub fn file(&self, link: u32, header: &[u8]) -> Vec<u8> {
        let mut file = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 262_144, link].map(u32::to_le_bytes).concat();
        for (micros, packet) in &self.packets {
            let length = (header.len() + packet.len()) as u32;
            let (seconds, fraction) = ((micros / 1_000_000) as u32, (micros % 1_000_000) as u32);
            file.extend([seconds, fraction, length, length].map(u32::to_le_bytes).concat());
            file.extend_from_slice(header);
            file.extend_from_slice(packet);
        }
        file
    }

    /// What the reader makes of it.
    pub fn read(&self) -> Reading {
        read(&self.file(101, &[]), Limits::default()).expect("a readable capture")
    }

    /// The same, where it holds one exchange.
    pub fn read_one(&self) -> Seen {
        let mut reading = self.read();
        assert_eq!(reading.exchanges.len(), 1, "{:?}", reading.exchanges);
        reading.exchanges.remove(0)
    }
}

/// A TCP segment in an IPv4 packet.
pub fn segment(tcp: &Tcp, side: usize, seq: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let ack = if flags & ACK != 0 { tcp.next[1 - side] } else { 0 };
    ipv4(side, 6, 0, &tcp_bytes(tcp.port, side, seq, ack, flags, payload))
}

/// The TCP part alone.
pub fn tcp_bytes(port: u16, side: usize, seq: u32, ack: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let ports = if side == C { [port, 80] } else { [80, port] };
    let mut bytes = ports.map(u16::to_be_bytes).concat();
    bytes.extend(seq.to_be_bytes());
    bytes.extend(ack.to_be_bytes());
    bytes.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    bytes.extend_from_slice(payload);
    bytes
}

/// An IPv4 packet from one side; `fragment` is the raw flags-and-offset field.
pub fn ipv4(side: usize, protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let total = (20 + payload.len()) as u16;
    let mut bytes = vec![0x45, 0];
    bytes.extend(total.to_be_bytes());
    bytes.extend([0, 7]);
    bytes.extend(fragment.to_be_bytes());
    bytes.extend([64, protocol, 0, 0]);
    let ends = if side == C { [CLIENT, SERVER] } else { [SERVER, CLIENT] };
    bytes.extend(ends.concat());
    bytes.extend_from_slice(payload);
    bytes
}

/// All that is handed over of an exchange, owned.
#[derive(Clone, Debug)]
pub struct Seen {
    pub at: Address,
    pub method: String,
    pub url: String,
    pub request_headers: Vec<(String, String)>,
    pub request: RawBody<'static>,
    pub status: Option<u16>,
    pub response_headers: Vec<(String, String)>,
    pub response: RawBody<'static>,
    pub sent: Option<i64>,
    pub head: Option<i64>,
    pub ended: Option<i64>,
    pub end: End,
    pub marks: Vec<(u64, i64)>,
    pub acknowledged: Option<u64>,
    pub no_headers: bool,
}

impl Seen {
    fn of(raw: &RawExchange<'_>) -> Self {
        let owned = |body: &RawBody<'_>| match body {
            RawBody::NotCaptured(why) => RawBody::NotCaptured(*why),
            RawBody::Whole(bytes) => RawBody::Whole(bytes.to_vec().into()),
            RawBody::Cut(bytes, why) => RawBody::Cut(bytes.to_vec().into(), *why),
        };
        let lines = |headers: &lastevent::capture::Headers<'_>| {
            headers.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect()
        };
        let since = |time: Option<lastevent::model::Time>| time.map(|t| t.0 - START);
        Self {
            at: raw.at.clone(),
            method: raw.method.to_string(),
            url: raw.url.to_string(),
            request_headers: lines(&raw.request_headers),
            request: owned(&raw.request_body),
            status: raw.status,
            response_headers: lines(&raw.response_headers),
            response: owned(&raw.response_body),
            sent: since(raw.sent),
            head: since(raw.head),
            ended: since(raw.ended),
            end: raw.end,
            marks: raw.marks.iter().map(|(upto, time)| (*upto, time.0 - START)).collect(),
            acknowledged: raw.acknowledged,
            no_headers: raw.no_headers,
        }
    }

    /// The response's text and how it is incomplete.
    pub fn text(&self) -> String {
        text(&self.response)
    }
}

/// A body as text: `whole`, `cut (why)` or `(why)`.
pub fn text(body: &RawBody<'_>) -> String {
    let bytes = String::from_utf8_lossy(body.bytes());
    match body {
        RawBody::NotCaptured(why) => format!("({why:?})"),
        RawBody::Whole(_) => bytes.into_owned(),
        RawBody::Cut(_, why) => format!("{bytes}({why:?})"),
    }
}

/// The exchanges of a file in the order of their numbers, and its account.
#[derive(Debug)]
pub struct Reading {
    pub exchanges: Vec<Seen>,
    pub account: FileFacts,
}

impl Reading {
    /// The names of its caveats with their counts.
    pub fn caveats(&self) -> Vec<(&str, u64)> {
        self.account.caveats.iter().map(|(name, caveat)| (*name, caveat.count)).collect()
    }
}

/// Reads a capture file from memory.
pub fn read(file: &[u8], limits: Limits) -> Result<Reading, ReadError> {
    let (key, names, consumed) = (Key::new(None, false), Names::default(), AtomicU64::new(0));
    let context = Context { key: &key, limits, names: &names, consumed: &consumed, vantage: None };
    let mut exchanges = Vec::new();
    let mut input = file;
    let account = pcap::exchanges(&mut input, &context, &mut |raw| exchanges.push(Seen::of(raw)))?;
    exchanges.sort_by_key(|e| e.at.entry);
    Ok(Reading { exchanges, account })
}
