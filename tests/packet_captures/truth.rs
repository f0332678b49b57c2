//! Recorded conversations against what the programs themselves logged.

use super::wire::*;
use lastevent::{
    capture::{Context, Limits, digest::Names, pcap},
    model::{Content, End, Side},
    redact::Key,
};
use std::sync::atomic::AtomicU64;

fn recorded(name: &str) -> Reading {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/pcap").join(name);
    let bytes = std::fs::read(&path).expect("a file of testdata");
    read(&bytes, Limits::default()).expect("a readable capture")
}

/// Method, status, ids of the events in the answer, end: as the server logged them.
const DROP_AND_RESUME: [(&str, u16, &[&str], End); 8] = [
    ("POST", 200, &["1", "2"], End::Clean),
    ("POST", 202, &[], End::Clean),
    ("GET", 200, &[], End::Clean),
    ("POST", 200, &["3", "4", "5", "6"], End::Abrupt(Side::Server)),
    ("GET", 200, &["7", "8", "9", "10", "11", "12", "13"], End::Abrupt(Side::Client)),
    ("POST", 200, &["14", "15"], End::Clean),
    ("POST", 200, &["16", "17"], End::Clean),
    ("DELETE", 200, &[], End::Clean),
];

#[test]
fn a_conversation_is_read_as_the_server_logged_it_from_both_file_formats() {
    for name in ["drop_and_resume.pcap", "drop_and_resume.pcapng"] {
        let reading = recorded(name);
        let seen: Vec<_> = reading
            .exchanges
            .iter()
            .map(|e| {
                let body = e.text();
                let ids: Vec<String> = body.lines().filter_map(|l| Some(l.strip_prefix("id: ")?.to_owned())).collect();
                (e.method.clone(), e.status, ids, e.end)
            })
            .collect();
        let logged: Vec<_> = DROP_AND_RESUME
            .iter()
            .map(|(m, s, ids, end)| {
                (m.to_string(), Some(*s), ids.iter().map(ToString::to_string).collect::<Vec<_>>(), *end)
            })
            .collect();
        assert_eq!(seen, logged, "{name}");
        assert_eq!(reading.caveats(), [], "{name}");
    }
}

/// When the server logged that it sent events 3 to 6 and 7 to 13, in microseconds since the Unix epoch.
const SENT: [&[i64]; 2] = [
    &[1_796_067_863_316_264, 1_796_067_863_617_191, 1_796_067_863_918_442, 1_796_067_864_219_949],
    &[
        1_796_067_865_266_174,
        1_796_067_865_266_331,
        1_796_067_865_266_525,
        1_796_067_865_266_625,
        1_796_067_865_424_151,
        1_796_067_865_724_962,
        1_796_067_865_725_424,
    ],
];

#[test]
fn events_have_the_times_at_which_the_server_sent_them() {
    let reading = recorded("drop_and_resume.pcap");
    for (entry, sent) in [3, 4].into_iter().zip(SENT) {
        let seen = &reading.exchanges[entry];
        let body = seen.text();
        let ends: Vec<u64> = body.match_indices("\r\n\r\n").map(|(at, end)| (at + end.len()) as u64).collect();
        let read: Vec<i64> = ends
            .iter()
            .map(|end| seen.marks.iter().find(|(upto, _)| upto >= end).expect("a time for each event").1 + START)
            .collect();
        assert_eq!(read.len(), sent.len());
        for (read, sent) in read.iter().zip(sent) {
            assert!((0..2000).contains(&(read - sent)), "read {read}, sent {sent}");
        }
        assert_eq!(seen.acknowledged, Some(seen.response.bytes().len() as u64));
    }
}

#[test]
fn a_capture_with_a_short_snap_length_shows_the_exchanges_and_claims_no_bodies() {
    let reading = recorded("snaplen96.pcap");
    let methods: Vec<_> = reading.exchanges.iter().map(|e| (e.method.as_str(), e.status.unwrap_or(0))).collect();
    let post = ("POST", 200);
    let get = ("GET", 200);
    let logged = [
        post,
        ("POST", 202),
        post,
        post,
        post,
        get,
        get,
        get,
        get,
        get,
        post,
        ("POST", 202),
        post,
        post,
        ("DELETE", 200),
        ("DELETE", 200),
    ];
    assert_eq!(methods, logged);
    for seen in &reading.exchanges {
        assert_eq!((text(&seen.request).as_str(), seen.text().as_str()), ("(Hole)", "(Hole)"));
        assert_eq!((seen.end, seen.acknowledged, seen.no_headers), (End::Unknown, None, true));
    }
    assert_eq!(reading.caveats().iter().map(|c| c.0).collect::<Vec<_>>(), ["body-truncated"]);
}

#[test]
fn swapped_segments_a_retransmission_and_an_early_fin_change_nothing() {
    let reading = recorded("out_of_order_fin_early.pcap");
    let [seen] = &reading.exchanges[..] else { panic!("{reading:?}") };
    let body = seen.text();
    let ids: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
    assert_eq!(ids, ["e1", "e2", "e3"]);
    assert_eq!(seen.end, End::Clean);
    let first = seen.sent.expect("a time");
    let last = seen.marks.last().expect("a time").1;
    assert_eq!(last - first, 1_997_999, "the last event has the time of its own segment");
    assert_eq!(reading.caveats(), []);
}

#[test]
fn the_facts_of_a_recorded_conversation_are_those_that_the_server_logged() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/pcap/drop_and_resume.pcapng");
    let bytes = std::fs::read(path).expect("a file of testdata");
    let (key, names, consumed) = (Key::new(None, false), Names::default(), AtomicU64::new(0));
    let context = Context { key: &key, limits: Limits::default(), names: &names, consumed: &consumed, vantage: None };
    let facts = pcap::read(&mut &bytes[..], &context).expect("a readable capture");
    assert_eq!((facts.entries, facts.exchanges.len()), (8, 8));
    assert!(facts.exchanges.iter().map(|e| e.at.entry).eq(0..8));
    assert!(facts.recorder.is_some_and(|name| name.starts_with("Dumpcap (Wireshark) 4.0.17")));
    let events = |entry: usize| match facts.exchanges[entry].response.content() {
        Some(Content::Events(log)) => log.events.len(),
        _ => 0,
    };
    assert_eq!((0..8).map(events).collect::<Vec<_>>(), [2, 0, 0, 4, 7, 2, 2, 0]);
    assert!(facts.exchanges[4].cursor.is_some());
    let Some(Content::Events(log)) = facts.exchanges[3].response.content() else { panic!("an event stream") };
    assert_eq!(log.acknowledged, Some(4));
    let spread = log.time_of(3).expect("a time").since(log.time_of(0).expect("a time"));
    assert!((903_000..905_000).contains(&spread), "the server sent them 903.7 ms apart: {spread}");
}
