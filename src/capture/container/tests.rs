use super::*;
use proptest::prelude::*;
use std::io::Write;

/// A member's name, and its text or the reason why it has none.
type Seen = (String, Result<String, String>);

/// All members, and all caveats.
fn opened(name: &str, bytes: &[u8], limits: &Limits) -> (Vec<Seen>, Vec<String>) {
    let (mut members, mut caveats) = (Vec::new(), Vec::new());
    let mut take = |trouble: &Trouble| {
        let mut facts = crate::capture::FileFacts::default();
        trouble.account(&mut facts);
        caveats.extend(facts.caveats.into_iter().map(|(caveat, c)| format!("{caveat}: {}", c.message)));
    };
    let rest = open(name, bytes, None, limits, &mut |member| {
        let content = match member.content {
            Content::Bytes(bytes, _) => {
                let mut text = Vec::new();
                bytes.read_to_end(&mut text).expect("readable");
                Ok(String::from_utf8_lossy(&text).into_owned())
            }
            Content::Saz(zip) => Ok(format!("saz of {}", zip.names().len())),
            Content::Closed(error) => Err(error.to_string()),
        };
        members.push((member.name.to_owned(), content));
        take(member.trouble);
    });
    take(&rest.expect("opened"));
    (members, caveats)
}

fn contents(bytes: &[u8]) -> Vec<Seen> {
    let (members, caveats) = opened("f", bytes, &Limits::default());
    assert!(caveats.is_empty(), "{caveats:?}");
    members
}

fn one(name: &str, text: &str) -> Seen {
    (name.to_owned(), Ok(text.to_owned()))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("written");
    encoder.finish().expect("finished")
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).expect("started");
        writer.write_all(bytes).expect("written");
    }
    writer.finish().expect("finished").into_inner()
}

fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        // As a hostile archive has it; the library would refuse to write `..`.
        header.as_gnu_mut().expect("gnu").name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        builder.append(&header, *bytes).expect("appended");
    }
    builder.into_inner().expect("finished")
}

/// What `xz` made of `data: a` and `data: b`, each with a blank line.
const XZ: [&str; 2] = [
    "fd377a585a000004e6d6b4460200210116000000742fe5a3010008646174613a20610a0a000000006b11e823a1306024000121096c18c5d51fb6f37d010000000004595a",
    "fd377a585a000004e6d6b4460200210116000000742fe5a3010008646174613a20620a0a0000000036a756907e137c65000121096c18c5d51fb6f37d010000000004595a",
];

/// The same as Zstandard frames of one raw block, written by hand after RFC 8878, with a skippable frame in between.
const ZSTD: [&str; 3] =
    ["28b52ffd2009490000646174613a20610a0a", "5a2a4d180300000078797a", "28b52ffd2009490000646174613a20620a0a"];

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex")).collect()
}

#[test]
fn every_compression_is_undone_also_of_several_streams() {
    let twice = [gzip(b"data: a\n\n"), gzip(b"data: b\n\n")].concat();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    zlib.write_all(b"data: a\n\ndata: b\n\n").expect("written");
    let bzip2 = |bytes: &[u8]| {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
        encoder.write_all(bytes).expect("written");
        encoder.finish().expect("finished")
    };
    let xz = XZ.map(unhex).concat();
    let zstd = ZSTD.map(unhex).concat();
    let packed =
        [twice, zlib.finish().expect("finished"), [bzip2(b"data: a\n\n"), bzip2(b"data: b\n\n")].concat(), xz, zstd];
    for bytes in packed {
        assert_eq!(contents(&bytes), [one("f", "data: a\n\ndata: b\n\n")], "{:?}", Packing::of(&bytes));
    }
}

#[test]
fn text_in_utf16_becomes_utf8_and_is_no_layer() {
    for big in [false, true] {
        let units = "\u{feff}> GET /\u{e9}\u{1f600}\r\n".encode_utf16();
        let bytes: Vec<u8> = units.flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() }).collect();
        let limits = Limits { depth: 0, ..Limits::default() };
        assert_eq!(opened("f", &bytes, &limits).0, [one("f", "> GET /\u{e9}\u{1f600}\r\n")]);
    }
}

#[test]
fn members_are_named_behind_the_archive_and_names_are_only_names() {
    let members: [(&str, &[u8]); 2] = [("../../etc/a.har", b"A"), ("b/c.sse", b"B")];
    let expected = [one("f!../../etc/a.har", "A"), one("f!b/c.sse", "B")];
    assert_eq!(contents(&zip(&members)), expected);
    assert_eq!(contents(&tar(&members)), expected);
    assert_eq!(contents(&gzip(&tar(&members))), expected);
}

#[test]
fn two_layers_are_opened_and_a_third_is_not() {
    let inner = zip(&[("x.gz", &gzip(b"X"))]);
    assert_eq!(contents(&inner), [one("f!x.gz", "X")]);
    assert_eq!(contents(&gzip(&tar(&[("y.gz", &gzip(b"Y"))]))), [one("f!y.gz", "Y")]);
    let (members, _) = opened("f", &tar(&[("a.zip", &inner)]), &Limits::default());
    let [(name, Err(error))] = members.as_slice() else { panic!("one error: {members:?}") };
    assert_eq!(name, "f!a.zip!x.gz");
    assert!(error.contains("depth"), "{error}");
}

#[test]
fn a_bomb_stops_at_the_ratio_and_at_the_size() {
    let bomb = gzip(&vec![b'a'; 8 << 20]);
    for (limits, name) in [
        (Limits { ratio: 100, ..Limits::default() }, "ratio"),
        (Limits { unpacked: 1 << 20, ratio: u64::MAX, ..Limits::default() }, "unpacked"),
    ] {
        for bytes in [bomb.clone(), zip(&[("x", &vec![b'a'; 8 << 20])])] {
            let (members, caveats) = opened("f", &bytes, &limits);
            let [(_, Ok(text))] = members.as_slice() else { panic!("one member") };
            assert!(text.len() <= 1 << 20, "{}", text.len());
            assert!(caveats[0].starts_with("limit-reached") && caveats[0].contains(name), "{caveats:?}");
        }
    }
}

#[test]
fn too_many_members_are_counted_out() {
    let limits = Limits { members: 1, ..Limits::default() };
    for bytes in [zip(&[("a", b"A"), ("b", b"B")]), tar(&[("a", b"A"), ("b", b"B")])] {
        let (members, caveats) = opened("f", &bytes, &limits);
        assert_eq!(members, [one("f!a", "A")]);
        assert!(caveats[0].contains("members"), "{caveats:?}");
    }
}

#[test]
fn what_a_cut_layer_still_gave_is_read() {
    let text: String = (0..20_000).map(|n| format!("data: {n}\n\n")).collect();
    let packed = gzip(text.as_bytes());
    let (members, caveats) = opened("f", &packed[..packed.len() / 2], &Limits::default());
    let [(_, Ok(read))] = members.as_slice() else { panic!("one member") };
    assert!(read.len() > 1000 && text.starts_with(read.as_str()));
    assert!(caveats[0].starts_with("input-truncated"), "{caveats:?}");

    let packed = tar(&[("a", b"A"), ("b", text.as_bytes())]);
    let (members, caveats) = opened("f", &packed[..packed.len() / 2], &Limits::default());
    assert_eq!(members[0], one("f!a", "A"));
    assert!(members[1].1.as_ref().is_ok_and(|read| text.starts_with(read.as_str())));
    assert!(caveats[0].starts_with("input-truncated"), "{caveats:?}");

    let packed = zip(&[("a", b"A"), ("b", text.as_bytes())]);
    let (members, _) = opened("f", &packed[..packed.len() / 2], &Limits::default());
    assert!(members[0].1.as_ref().is_err_and(|e| e.contains("zip archive")), "its directory is lost: {members:?}");
}

#[test]
fn members_of_a_zip_can_look_one_another_up() {
    let attached = format!("d/{}.dat", "a".repeat(40));
    let bytes = zip(&[("d/har.har", b"{}"), (&attached, b"body"), ("secret", b"no")]);
    let mut seen = Vec::new();
    open("f", bytes.as_slice(), None, &Limits::default(), &mut |member| {
        let Content::Bytes(_, Some(lookup)) = member.content else { panic!("bytes with a lookup") };
        let found = [&attached[2..], "../secret", "none"].map(lookup);
        seen.push((member.name.to_owned(), found));
    })
    .expect("opened");
    assert_eq!(seen[0], ("f!d/har.har".to_owned(), [Some(b"body".to_vec()), None, None]));
    assert_eq!(seen.len(), 2, "the attached body is no member of its own");
}

proptest! {
    #[test]
    fn damaged_containers_never_panic(
        which in 0..4_usize,
        cut in any::<usize>(),
        flips in prop::collection::vec(any::<(usize, u8)>(), 0..8),
    ) {
        let members: [(&str, &[u8]); 2] = [("a.gz", &gzip(b"data: a\n\n")), ("b", b"data: b\n\n")];
        let mut bytes = match which {
            0 => zip(&members),
            1 => tar(&members),
            2 => gzip(&tar(&members)),
            _ => ZSTD.map(unhex).concat(),
        };
        bytes.truncate(cut % (bytes.len() + 1));
        for (at, with) in flips {
            let length = bytes.len().max(1);
            if let Some(byte) = bytes.get_mut(at % length) {
                *byte ^= with;
            }
        }
        let (members, caveats) = opened("f", &bytes, &Limits::default());
        prop_assert!(members.len() + caveats.len() <= 8);
    }
}
