use super::*;
use crate::{
    capture::{
        container::{self, Content},
        header, specimen,
    },
    redact::Key,
};
use proptest::prelude::*;
use std::{io::Write, sync::atomic::AtomicU64};

const META: &str = concat!(
    "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?><Session SID=\"2\" BitFlags=\"59\"><SessionTimers ",
    "ClientConnected=\"2026-01-01T01:00:00.1000000+01:00\" ClientBeginRequest=\"2026-01-01T01:00:00.1234567+01:00\" ",
    "GotResponseHeaders=\"0001-01-01T00:00:00\" ServerBeginResponse=\"2026-01-01T01:00:01.0000000+01:00\" ",
    "ServerDoneResponse=\"2026-01-01T01:00:02.0000000+01:00\" /><SessionFlags>",
    "<SessionFlag N=\"x-clientip\" V=\"127.0.0.1\" /><SessionFlag N=\"x-responsebodytransferlength\" V=\"1,024\" />",
    "</SessionFlags></Session>"
);

fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let comment = "Fiddler (v5.0.20202.18177) Session Archive. See https://fiddler2.com";
    writer.set_comment(comment).expect("a comment");
    for (name, bytes) in members {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).expect("started");
        writer.write_all(bytes).expect("written");
    }
    writer.finish().expect("finished").into_inner()
}

fn read(bytes: &[u8]) -> specimen::Outcome {
    let (key, names, consumed) = (Key::new(None, false), crate::capture::digest::Names::default(), AtomicU64::new(0));
    let limits = crate::capture::Limits::default();
    let context = Context { key: &key, limits, names: &names, consumed: &consumed, vantage: None };
    let (mut facts, mut found, mut result) = (FileFacts::default(), Vec::new(), Ok(()));
    let opened = container::open("f", bytes, None, &limits, &mut |member| {
        if let Content::Saz(zip) = member.content {
            result = exchanges(&context, zip, &mut facts, &mut |_, raw| found.push(specimen::owned(raw)));
        }
    });
    assert!(opened.is_ok());
    specimen::Outcome { exchanges: found, facts, result }
}

const REQUEST: &[u8] = b"POST http://h:1/mcp HTTP/1.1\r\nMcp-Session-Id: s\r\nContent-Length: 2\r\n\r\n{}";

#[test]
fn sessions_are_read_in_the_order_of_their_numbers() {
    let chunked = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n0\r\n\r\n";
    let outcome = read(&archive(&[
        ("[Content_Types].xml", b"<x/>"),
        ("raw/10_c.txt", b"GET http://h:1/ten HTTP/1.1\r\n\r\n"),
        ("raw/10_s.txt", b""),
        ("raw/2_c.txt", REQUEST),
        ("raw/2_s.txt", chunked),
        ("raw/2_m.xml", META.as_bytes()),
        ("raw/1_c.txt", b"CONNECT h:443 HTTP/1.1\r\n\r\nThis is a CONNECT tunnel"),
    ]));
    assert_eq!(outcome.facts.recorder.as_deref(), Some("Fiddler (v5.0.20202.18177)"));
    let [two, ten] = outcome.exchanges.as_slice() else { panic!("two exchanges") };
    assert_eq!((two.method.as_ref(), two.url.as_ref(), two.status), ("POST", "http://h:1/mcp", Some(200)));
    assert_eq!(header(&two.request_headers, "mcp-session-id"), Some("s"));
    assert_eq!(two.request_body, RawBody::Whole(b"{}".into()));
    assert_eq!((&two.response_body, two.end), (&RawBody::Whole(b"data: 1\n\n".into()), End::Clean));
    assert_eq!(two.sent, Some(Time(1_767_225_600_123_456)));
    assert_eq!((two.head, two.ended), (Some(Time(1_767_225_601_000_000)), Some(Time(1_767_225_602_000_000))));
    assert_eq!((ten.url.as_ref(), ten.status, ten.at.entry), ("http://h:1/ten", None, 1));
    assert_eq!(ten.response_body, RawBody::NotCaptured(Missing::NotRecorded));
}

#[test]
fn cut_and_dropped_bodies_are_not_taken_for_whole_or_empty_ones() {
    let with = |response: &[u8], meta: &str| {
        let bytes = archive(&[("raw/1_c.txt", REQUEST), ("raw/1_s.txt", response), ("raw/1_m.xml", meta.as_bytes())]);
        read(&bytes).exchanges.remove(0)
    };
    let cut = with(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata", "");
    assert_eq!(cut.response_body, RawBody::Cut(b"data".into(), Missing::CutOff));
    assert_eq!(cut.end, End::Abrupt(Side::Unknown));
    let dropped = with(b"HTTP/1.1 200 OK\r\n\r\n", META);
    assert_eq!(dropped.response_body, RawBody::NotCaptured(Missing::NotRecorded));
    let empty = with(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", "");
    assert_eq!((empty.response_body, empty.end), (RawBody::EMPTY, End::Clean));
    let by_hand = with(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ndata: 1\n\n", "");
    assert_eq!(by_hand.response_body, RawBody::Whole(b"data: 1\n\n".into()));
}

proptest! {
    #[test]
    fn damaged_sessions_never_panic(cut in any::<usize>(), flips in prop::collection::vec(any::<(usize, u8)>(), 0..8)) {
        let mut bytes = archive(&[("raw/1_c.txt", REQUEST), ("raw/1_s.txt", b"HTTP/1.1 200 OK\r\n\r\nx"), ("raw/1_m.xml", META.as_bytes())]);
        bytes.truncate(cut % (bytes.len() + 1));
        for (at, with) in flips {
            let length = bytes.len().max(1);
            if let Some(byte) = bytes.get_mut(at % length) {
                *byte ^= with;
            }
        }
        prop_assert!(read(&bytes).exchanges.len() <= 1);
    }
}
