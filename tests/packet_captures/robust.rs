//! Damage, and other people's files: no panic, no hang, bounded memory.

use super::wire::*;
use lastevent::capture::Limits;
use proptest::prelude::*;
use std::{collections::BTreeMap, io::Read, path::Path};

const SAMPLES: [&str; 4] =
    ["drop_and_resume.pcap", "drop_and_resume.pcapng", "snaplen96.pcap", "out_of_order_fin_early.pcap"];

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/pcap").join(name)).expect("a file of testdata")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn captures_that_were_damaged_anywhere_are_read_or_refused(
        which in 0..=SAMPLES.len(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        cut in any::<prop::sample::Index>(),
        keeps_all in any::<bool>(),
    ) {
        let mut bytes = SAMPLES.get(which).map_or_else(super::http2::sample, |name| sample(name));
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if !keeps_all {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(reading) = read(&bytes, Limits::default()) {
            let size: usize = reading.exchanges.iter().map(|e| e.request.bytes().len() + e.response.bytes().len()).sum();
            prop_assert!(size <= bytes.len());
        }
    }

    #[test]
    fn packets_in_any_order_lost_or_repeated_give_no_byte_that_was_not_sent(
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
    ) {
        let mut wire = Wire::new();
        let mut tcp = wire.open(40_000);
        let mut body = String::new();
        for n in 0..12 {
            let part: String = (0..7).map(|i| char::from(b'a' + (n * 7 + i) % 26)).collect();
            body.push_str(&part);
        }
        wire.send(&mut tcp, C, "POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: 84\r\n\r\n");
        for part in body.as_bytes().chunks(7) {
            wire.send(&mut tcp, C, part);
        }
        wire.send(&mut tcp, S, "HTTP/1.1 200 OK\r\nContent-Length: 84\r\n\r\n");
        for part in body.as_bytes().chunks(7) {
            wire.send(&mut tcp, S, part);
        }
        wire.fin(&mut tcp, S);
        let all = wire.packets.clone();
        wire.packets = order.iter().map(|at| all[at.index(all.len())].clone()).collect();
        for seen in wire.read().exchanges {
            prop_assert!(body.as_bytes().starts_with(seen.request.bytes()));
            prop_assert!(body.as_bytes().starts_with(seen.response.bytes()));
        }
    }
}

#[test]
fn a_scan_of_many_ports_ends_no_stream_that_is_read() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(1);
    wire.send(&mut tcp, C, "GET /mcp HTTP/1.1\r\nHost: h\r\n\r\n");
    wire.send(&mut tcp, S, "HTTP/1.1 200 OK\r\n\r\ndata: 1\n\n");
    for n in 0..100_000_u32 {
        let scan = Tcp { port: (n % 60_000 + 2) as u16, next: [n * 7, 0] };
        let mut packet = segment(&scan, C, n * 7, SYN, b"");
        packet[12..16].copy_from_slice(&(0x0a00_0000 + n / 60_000).to_be_bytes());
        wire.packet(packet);
    }
    wire.send(&mut tcp, S, "data: 2\n\n");
    let reading = wire.read();
    assert_eq!(reading.exchanges[0].text(), "data: 1\n\ndata: 2\n\n(CaptureEnd)");
    assert_eq!(reading.caveats().iter().map(|c| c.0).collect::<Vec<_>>(), ["limit-reached"]);
}

#[test]
fn requests_without_end_are_given_up_one_by_one() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    for _ in 0..50 {
        wire.send(&mut tcp, C, "GET / HTTP/1.0\r\n\r\n".repeat(100));
    }
    let reading = wire.read();
    assert_eq!(reading.exchanges.len(), 5000);
    assert_eq!(reading.caveats(), [("limit-reached", 5000 - 4096)]);
}

#[test]
fn a_lost_first_request_does_not_hold_up_long_streams_for_ever() {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    tcp.next[C] += 100;
    let body = "x".repeat(2 << 20);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    wire.send(&mut tcp, S, &head);
    wire.send(&mut tcp, C, "GET /next HTTP/1.1\r\nHost: h\r\n\r\n");
    for piece in body.as_bytes().chunks(60_000) {
        wire.send(&mut tcp, S, piece);
    }
    wire.send(&mut tcp, S, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext");
    wire.ack(&tcp, C);
    let reading = wire.read();
    let mut seen: Vec<_> = reading.exchanges.iter().map(|e| (e.url.as_str(), e.response.bytes().len())).collect();
    seen.sort_unstable();
    assert_eq!(seen, [("http://198.51.100.2:80/", 2 << 20), ("http://h/next", 4)]);
}

/// How many requests Wireshark 4.0.17 finds in these files, where that is the number to be found here, too.
const KNOWN: [(&str, usize); 6] = [
    ("zeek__zeek__testing__btest__Traces__http__206_example_a.pcap", 2),
    ("zeek__zeek__testing__btest__Traces__http__bro.org.pcap", 31),
    ("zeek__zeek__testing__btest__Traces__http__http-post-large.pcap", 2),
    ("zeek__zeek__testing__btest__Traces__http__m57-long-49583-80.pcap", 3),
    ("OISF__suricata-verify__tests__http-range-multiflows__input.pcap", 41),
    ("OISF__suricata-verify__tests__filestore-filecontainer-smb1-data-offset__input.pcap", 0),
];

#[test]
fn other_peoples_captures_are_read_or_refused() {
    let Some(corpus) = std::env::var_os("LASTEVENT_CORPUS") else {
        eprintln!("skipped: LASTEVENT_CORPUS names no folder");
        return;
    };
    let mut requests = BTreeMap::new();
    for entry in std::fs::read_dir(Path::new(&corpus).join("pcap")).expect("a folder of captures") {
        let path = entry.expect("a folder entry").path();
        let mut bytes = std::fs::read(&path).expect("a file");
        if bytes.starts_with(&[0x1f, 0x8b]) {
            let mut inner = Vec::new();
            // A file that was cut within its compression is as good as any other.
            let _ = flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut inner);
            bytes = inner;
        }
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if let Ok(reading) = read(&bytes, Limits::default()) {
            requests.insert(name, reading.exchanges.iter().filter(|e| !e.method.is_empty()).count());
        }
    }
    assert!(requests.len() > 300, "only {} files could be read", requests.len());
    for (name, count) in KNOWN {
        assert_eq!(requests.get(name), Some(&count), "{name}");
    }
}
