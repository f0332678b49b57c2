//! Every coding gives each event with the piece that completes it. The vectors come from zlib, Google's brotli and
//! libzstd: three events, flushed one by one, then the end.

use super::*;

const EVENTS: [&str; 3] =
    ["id: 1\ndata: {\"a\":1}\n\n", "id: 2\ndata: {\"a\":1,\"b\":2}\n\n", "id: 3\ndata: {\"a\":1,\"b\":3}\n\n"];

const GZIP: [&str; 4] = [
    "1f8b0800000000000003ca4cb15230e44a492c49b452a8564a54b232ace5e202000000ffff",
    "ca040a1aa108ea282529591901a500000000ffff",
    "024919634a1903a500000000ffff",
    "0300b8cf706b4b000000",
];

const ZLIB: [&str; 4] = [
    "789cca4cb15230e44a492c49b452a8564a54b232ace5e202000000ffff",
    "ca040a1aa108ea282529591901a500000000ffff",
    "024919634a1903a500000000ffff",
    "0300e78412d7",
];

const RAW: [&str; 4] = [
    "ca4cb15230e44a492c49b452a8564a54b232ace5e202000000ffff",
    "ca040a1aa108ea282529591901a500000000ffff",
    "024919634a1903a500000000ffff",
    "0300",
];

const BROTLI: [&str; 4] = [
    "0b0a8069643a20310a646174613a207b2261223a317d0a0a",
    "d00000406003ce139ca771c3c5cf2404d125aa606e4dcdc100",
    "d00000405261a62f97104494a832ba3100",
    "03",
];

const ZSTD: [&str; 4] = [
    "28b52ffd0458a8000069643a20310a646174613a207b2261223a317d0a0a",
    "a400007069643a20322c2262223a327d0a0a0100784c2d",
    "7c00004869643a2033337d0a0a0100ee4d2d",
    "0100002be22c38",
];

const NO_BOUNDS: Bounds = Bounds { size: 1 << 30, ratio: 1 << 30 };

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("a hex vector")).collect()
}

fn decoder(coding: &str, bounds: Bounds) -> Decoder {
    Decoder::new(coding.split(", "), bounds).expect("known codings").expect("something to undo")
}

#[test]
fn each_piece_completes_the_event_that_was_flushed_with_it() {
    let vectors =
        [("gzip", GZIP), ("x-gzip", GZIP), ("deflate", ZLIB), ("deflate", RAW), ("br", BROTLI), ("zstd", ZSTD)];
    for (coding, pieces) in vectors {
        let (mut decoder, mut out, mut upto) = (decoder(coding, NO_BOUNDS), Vec::new(), 0);
        for (piece, event) in pieces.iter().zip(EVENTS) {
            decoder.feed(&unhex(piece), &mut out).expect("a whole piece");
            upto += event.len() as u64;
            assert_eq!(decoder.produced(out.len() as u64), upto, "{coding}");
        }
        decoder.feed(&unhex(pieces[3]), &mut out).expect("the end");
        decoder.finish(&mut out).expect("nothing held back");
        assert_eq!(String::from_utf8_lossy(&out), EVENTS.concat(), "{coding}");
    }
}

#[test]
fn a_stream_that_is_cut_anywhere_gives_a_prefix_and_single_bytes_give_all() {
    for (coding, pieces) in [("gzip", GZIP), ("deflate", ZLIB), ("deflate", RAW), ("br", BROTLI), ("zstd", ZSTD)] {
        let wire = unhex(&pieces.concat());
        for cut in 0..=wire.len() {
            let (mut decoder, mut out) = (decoder(coding, NO_BOUNDS), Vec::new());
            for byte in &wire[..cut] {
                decoder.feed(std::slice::from_ref(byte), &mut out).expect("one byte");
            }
            decoder.finish(&mut out).expect("the end");
            assert!(EVENTS.concat().as_bytes().starts_with(&out), "{coding} cut at {cut}");
            let flushed = unhex(pieces[0]).len() + unhex(pieces[1]).len();
            assert!(cut < flushed || out.len() >= EVENTS[0].len() + EVENTS[1].len(), "{coding} cut at {cut}");
        }
    }
}

#[test]
fn damage_is_told_and_what_came_before_it_stands() {
    for (coding, pieces) in [("gzip", GZIP), ("deflate", ZLIB), ("br", BROTLI), ("zstd", ZSTD)] {
        let (mut decoder, mut out) = (decoder(coding, NO_BOUNDS), Vec::new());
        decoder.feed(&unhex(pieces[0]), &mut out).expect("a whole piece");
        let mut end = Err(Failure::Damaged);
        for _ in 0..8 {
            end = decoder.feed(&[0xff; 64], &mut out);
            if end.is_err() {
                break;
            }
        }
        assert_eq!(end, Err(Failure::Damaged), "{coding}");
        let _ = decoder.finish(&mut out);
        assert!(out.starts_with(EVENTS[0].as_bytes()), "{coding}");
    }
    assert_eq!(decoder("gzip", NO_BOUNDS).feed(b"plain", &mut Vec::new()), Err(Failure::Damaged));
    assert_eq!(decoder("zstd", NO_BOUNDS).feed(b"plain", &mut Vec::new()), Err(Failure::Damaged));
}

#[test]
fn codings_over_one_another_are_undone_from_the_outside() {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;
    let mut outer = GzEncoder::new(Vec::new(), Compression::fast());
    outer.write_all(&unhex(&BROTLI.concat())).expect("memory");
    let wire = outer.finish().expect("memory");
    let (mut decoder, mut out) = (decoder("br, gzip", NO_BOUNDS), Vec::new());
    decoder.feed(&wire, &mut out).expect("both codings");
    assert_eq!(String::from_utf8_lossy(&out), EVENTS.concat());
}

#[test]
fn several_gzip_members_and_zstd_frames_follow_one_another() {
    for (coding, pieces) in [("gzip", GZIP), ("zstd", ZSTD)] {
        let wire = unhex(&pieces.concat()).repeat(2);
        let (mut decoder, mut out) = (decoder(coding, NO_BOUNDS), Vec::new());
        decoder.feed(&wire, &mut out).expect("two of them");
        assert_eq!(String::from_utf8_lossy(&out), EVENTS.concat().repeat(2), "{coding}");
    }
}

#[test]
fn output_beyond_the_bounds_is_refused() {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    bomb.write_all(&vec![0; 8 << 20]).expect("memory");
    let bomb = bomb.finish().expect("memory");
    let mut out = Vec::new();
    let by_size = Bounds { size: 5000, ratio: 1 << 30 };
    assert_eq!(decoder("gzip", by_size).feed(&bomb, &mut out), Err(Failure::TooLarge));
    assert_eq!(out.len(), 5000);
    let mut out = Vec::new();
    let by_ratio = Bounds { size: 1 << 30, ratio: 100 };
    assert_eq!(decoder("gzip", by_ratio).feed(&bomb, &mut out), Err(Failure::TooLarge));
    assert_eq!(out.len(), (bomb.len() * 100).max(1 << 20));
    // A zstd frame of one RLE block of 128 KiB, over and over.
    let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0, 0x38][..], &[2, 0, 0x10, 0].repeat(64)].concat();
    let mut out = Vec::new();
    assert_eq!(decoder("zstd", by_size).feed(&frame, &mut out), Err(Failure::TooLarge));
    assert!(out.len() <= 5000);
}

#[test]
fn unknown_codings_are_refused_and_none_is_none() {
    assert_eq!(Decoder::new(["compress"], NO_BOUNDS).err(), Some(Failure::Unknown));
    assert!(Decoder::new(["identity", "chunked"], NO_BOUNDS).expect("known").is_none());
    assert_eq!(Decoder::new(["gzip"; 5], NO_BOUNDS).err(), Some(Failure::Unknown));
}
