//! The examples of RFC 7541, appendix C, and what a missing beginning does to them.

use super::*;

fn unhex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hex")).collect()
}

fn text(block: &Block) -> Vec<String> {
    let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    block.fields.iter().map(|(name, value)| format!("{}: {}", show(name), show(value))).collect()
}

fn decode(decoder: &mut Decoder, block: &str) -> Vec<String> {
    text(&decoder.decode(&unhex(block)).expect("a regular block"))
}

/// C.3 and C.4: the same three requests, without and with Huffman code.
const PLAIN: [&str; 3] = [
    "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
    "8286 84be 5808 6e6f 2d63 6163 6865",
    "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65",
];
const HUFFMAN: [&str; 3] = [
    "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff",
    "8286 84be 5886 a8eb 1064 9cbf",
    "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
];

#[test]
fn the_requests_of_the_rfc_are_decoded_with_their_dynamic_table() {
    for blocks in [PLAIN, HUFFMAN] {
        let mut decoder = Decoder::new(false);
        let start = [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"];
        assert_eq!(decode(&mut decoder, blocks[0]), start);
        let second = [&start[..], &["cache-control: no-cache"]].concat();
        assert_eq!(decode(&mut decoder, blocks[1]), second);
        let third = [
            ":method: GET",
            ":scheme: https",
            ":path: /index.html",
            ":authority: www.example.com",
            "custom-key: custom-value",
        ];
        assert_eq!(decode(&mut decoder, blocks[2]), third);
        assert_eq!(decoder.size, 164);
    }
}

/// C.6: three responses with a table of 256 bytes, from which entries are evicted.
const RESPONSES: [&str; 3] = [
    "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b
     97c8 e9ae 82ae 43d3",
    "4883 640e ffc1 c0bf",
    "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf
     cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
];

#[test]
fn entries_leave_the_table_when_it_is_full() {
    let mut decoder = Decoder::new(false);
    decoder.decode(&unhex("3f e1 01")).expect("a size of 256");
    let first = [
        ":status: 302",
        "cache-control: private",
        "date: Mon, 21 Oct 2013 20:13:21 GMT",
        "location: https://www.example.com",
    ];
    assert_eq!(decode(&mut decoder, RESPONSES[0]), first);
    assert_eq!(decode(&mut decoder, RESPONSES[1])[0], ":status: 307");
    let third = [
        ":status: 200",
        "cache-control: private",
        "date: Mon, 21 Oct 2013 20:13:22 GMT",
        "location: https://www.example.com",
        "content-encoding: gzip",
        "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
    ];
    assert_eq!(decode(&mut decoder, RESPONSES[2]), third);
    assert_eq!((decoder.size, decoder.dynamic.len()), (215, 3));
}

#[test]
fn a_decoder_that_missed_the_beginning_gives_what_it_can() {
    let mut decoder = Decoder::new(true);
    let block = decoder.decode(&unhex(PLAIN[1])).expect("a regular block");
    assert_eq!(text(&block), [":method: GET", ":scheme: http", ":path: /", "cache-control: no-cache"]);
    assert_eq!(block.unknown, 1);
    // The authority is index 63 now: behind the one entry that was seen, so still unknown.
    let block = decoder.decode(&unhex(PLAIN[2])).expect("a regular block");
    assert_eq!((block.fields.len(), block.unknown), (4, 1));
    assert_eq!(Decoder::new(false).decode(&unhex(PLAIN[1])), Err(Damaged));
}

#[test]
fn damaged_blocks_are_refused() {
    for block in
        ["80", "41", "41 05 61", "7f ff ff ff ff ff 0f", "00 81 00 00", "3f ff ff ff 7f", "00 84 ff ff ff ff 00"]
    {
        assert_eq!(Decoder::new(true).decode(&unhex(block)), Err(Damaged), "{block}");
    }
}

#[test]
fn a_few_bytes_of_indices_do_not_become_many_of_fields() {
    let mut decoder = Decoder::new(false);
    let value = vec![b'v'; 4000];
    let mut block = vec![0x40, 1, b'n', 0x7f, 0xa1, 0x1e];
    block.extend(&value);
    assert_eq!(decoder.decode(&block).expect("one field").fields.len(), 1);
    assert_eq!(decoder.decode(&[0xbe; 10_000]), Err(Damaged));
}
