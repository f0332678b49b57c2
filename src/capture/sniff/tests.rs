use super::*;
use proptest::prelude::*;

#[track_caller]
fn is(text: impl AsRef<[u8]>, format: Format) {
    assert_eq!(sniff(text.as_ref()), Ok(format));
}

#[test]
fn packet_captures_are_known_by_their_first_four_bytes() {
    is(b"\x0a\x0d\x0d\x0a\x1c\0\0\0", Format::Pcapng);
    for magic in
        [b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1", b"\x34\xcd\xb2\xa1"]
    {
        is(magic, Format::Pcap);
    }
}

#[test]
fn a_har_is_known_behind_a_mark_a_call_and_foreign_members() {
    is("\u{feff}\r\n {\"log\": {\"version\": \"1.2\"}}", Format::Har);
    is(r#"onInputData({"log":{"entries":[]}});"#, Format::Har);
    is(r#"{"_comment": "x", "log": {}}"#, Format::Har);
    is(format!(r#"{{"_meta":"{}","log":{{}}}}"#, "x".repeat(PREFIX)), Format::Har);
}

#[test]
fn a_flow_is_a_dictionary_of_the_announced_length() {
    is("11:4:type;1:x;}", Format::Flows);
    is("2515:9:websocket;0:~8:response;", Format::Flows);
    assert!(sniff(b"11:4:type;1:x;]").is_err());
    assert!(sniff(b"10:15 was the time\n").is_err());
    assert!(sniff(b"99999999999999:1:a;").is_err());
}

#[test]
fn the_first_object_tells_the_kinds_of_json_lines_apart() {
    is(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, Format::JsonRpcLines);
    is(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Format::JsonRpcLines);
    is(r#"{"session_id":"a","seq":1,"direction":"c2s","raw":{}}"#, Format::Mcpsnoop);
    is(r#"{"k":"00","at":{}}"#, Format::Rows);
    is(r#"{"index":{"_index":"packets-2026-01-01"}}"#, Format::TsharkEk);
    is(r#"[ { "_index": "packets-2026", "_source": {"layers": {}}}]"#, Format::TsharkJson);
    is(r#"{"startedDateTime":"x","request":{"method":"GET","url":"http://h/"}}"#, Format::HarLines);
    is(r#"{"time":"t","method":"POST","path":"/mcp","status":200}"#, Format::AccessLog);
    is(r#"{"http.status":200,"http.path":"/mcp","mcp.session.id":"x"}"#, Format::AccessLog);
    is("starting gateway\n{\"status\":200,\"uri\":\"/mcp\",\"method\":\"GET\"}\n", Format::AccessLog);
}

#[test]
fn the_curl_family_is_told_apart_by_its_marks() {
    is("HTTP/1.1 200 OK\r\n\r\n", Format::CurlInclude);
    is("*   Trying 127.0.0.1:1...\n", Format::CurlVerbose);
    is("  % Total\n\r  0     0 --:--     0*   Trying 127.0.0.1:1...\n", Format::CurlVerbose);
    is("$ curl -v http://h/\n> GET /mcp HTTP/1.1\r\n", Format::CurlVerbose);
    is("== Info:   Trying\n=> Send header, 3 bytes (0x3)\n0000: GET\n", Format::CurlTraceAscii);
    let hex = "0000: 50 4f 53 54 20 2f 6d 63 70 20 48 54 54 50 2f 31 POST /mcp HTTP/1\n";
    is(format!("19:43:39.846853 => Send header, 16 bytes (0x10)\n{hex}"), Format::CurlTrace);
    is(format!("19:43:39.846853 [0-0] => Send header, 16 bytes (0x10)\n{hex}"), Format::CurlTrace);
}

#[test]
fn a_transcript_names_its_request_by_url_and_curl_by_version() {
    is("# a case\n@ 2026-01-01T00:00:00Z\n> POST http://localhost/mcp\n", Format::Transcript);
    is("> POST http://localhost/mcp\n> accept: */*\n", Format::Transcript);
    is("> POST http://localhost/mcp HTTP/1.1\n", Format::CurlVerbose);
}

#[test]
fn an_event_stream_has_hardly_any_foreign_line() {
    is("data: x\n\n", Format::Sse);
    is("\u{feff}id: 1\rdata: a\r\r", Format::Sse);
    is(": ping\n\n: ping\n\n", Format::Sse);
    assert!(sniff(b"id: 5\nname: x\nkind: y\nvalue: z\n").is_err());
    assert!(sniff(b"just some words\n").is_err());
    assert!(sniff(b"").is_err());
}

#[test]
fn events_of_the_devtools_protocol_are_known_by_their_method() {
    is(r#"{"method":"Network.requestWillBeSent","params":{}}"#, Format::CdpLog);
}

#[test]
fn known_formats_that_are_not_read_say_how_to_get_one_that_is() {
    for (text, format) in [
        ("=====\nFollow: tcp,ascii\n", Format::TsharkFollow),
        ("interactions:\n- request:\n", Format::Vcr),
        (r#"{"http_buffered_trace":{}}"#, Format::EnvoyTap),
        (r#"{"constants":{}}"#, Format::Netlog),
        (r#"[{"status":"COMPLETE","method":"POST","protocolVersion":"HTTP/1.1"}]"#, Format::CharlesJson),
        (r#"<?xml version="1.0"?><items burpVersion="2024">"#, Format::Burp),
        ("1 f45590522cd1838b4a0d5c5aab80b77929dea3b3 1231 0\nGET / HTTP/1.1\n", Format::Goreplay),
        ("127.0.0.1 - - [30/Nov/2026:19:53:17 +0000] \"GET /mcp HTTP/1.1\" 200 20\n", Format::CombinedLog),
        ("[2026-11-30T20:04:52.488Z][1879] Starting mcp-remote with server\n", Format::McpRemoteLog),
    ] {
        is(text, format);
        let advice = format.advice().expect("advice");
        assert!(["HAR", ".har", "pcap", "packet capture", "JSON lines"].iter().any(|w| advice.contains(w)), "{advice}");
    }
}

#[test]
fn other_files_are_no_captures_and_are_named_where_known() {
    assert_eq!(sniff(b"\x89PNG\r\n\x1a\n"), Err("it is a PNG image"));
    assert_eq!(sniff(b"<!doctype html>"), Err("it is XML or HTML"));
    assert_eq!(sniff(b"{\"name\": \"x\"}"), Err("it is JSON, but no known kind of capture"));
}

#[test]
fn names_lead_back_to_their_formats() {
    for format in Format::all() {
        assert_eq!(Format::of_name(format.name()), Some(format));
    }
}

/// Every file of the corpus lies in a folder that says what it is.
#[test]
fn corpus_files_are_recognised_by_content_alone() {
    let Some(corpus) = std::env::var_os("LASTEVENT_CORPUS") else {
        eprintln!("skipped: LASTEVENT_CORPUS is not set");
        return;
    };
    let mut seen = 0;
    for (folder, formats) in [
        ("sse", &[Format::Sse][..]),
        ("mitm", &[Format::Flows]),
        ("vcr", &[Format::Vcr]),
        ("curl", &[Format::CurlInclude, Format::CurlVerbose, Format::CurlTrace, Format::CurlTraceAscii]),
        ("tshark", &[Format::TsharkJson, Format::TsharkEk, Format::TsharkXml, Format::TsharkFollow]),
        ("gateway-log", &[Format::AccessLog, Format::CombinedLog]),
        ("proxy-log", &[Format::McpRemoteLog, Format::JsonRpcLines]),
        ("pcap", &[Format::Pcap, Format::Pcapng]),
        ("har", &[Format::Har, Format::HarLines]),
    ] {
        let folder = std::path::Path::new(&corpus).join(folder);
        for file in std::fs::read_dir(&folder).expect("a folder of the corpus") {
            let path = file.expect("an entry").path();
            let bytes = std::fs::read(&path).expect("a readable file");
            let packed: [&[u8]; 4] = [b"\x1f\x8b", b"PK", b"\x78\xda", b"\x78\x9c"];
            if bytes.is_empty() || packed.iter().any(|m| bytes.starts_with(m)) {
                continue;
            }
            let found = sniff(&bytes);
            assert!(found.is_ok_and(|f| formats.contains(&f)), "{}: {found:?}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 400, "{seen}");
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(parts in prop::collection::vec(prop_oneof![
        prop::sample::select(vec![
            "{", "}", "[", "]", "\"log\":", "\"request\":", "\"method\":\"", "\n", "\r", ":", " ", "0000: ", "00:00:00.000000 ",
            "== Info:", "[0-0] ", "> GET ", " HTTP/1.1", "data", "12:", "f(", "@ ", "\u{feff}", "* ", "[30/Nov/2026:", "] \"",
        ]).prop_map(|p| p.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..4),
    ], 0..24)) {
        let _ = sniff(&parts.concat());
    }
}
