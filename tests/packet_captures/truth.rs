//! Recorded conversations against what the programs themselves logged.

use super::wire::*;
use lastevent::{
    capture::Limits,
    model::{End, Side},
};

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
                (m.to_string(), Some(*s), ids.iter().map(|i| i.to_string()).collect::<Vec<_>>(), *end)
            })
            .collect();
        assert_eq!(seen, logged, "{name}");
        assert_eq!(reading.caveats(), [], "{name}");
    }
}
