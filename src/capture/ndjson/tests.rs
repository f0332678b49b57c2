use super::*;
use crate::{
    capture::{Limits, RawBody, header, specimen},
    model::{End, Missing, Time},
};
use proptest::prelude::*;

fn read(format: Format, text: impl AsRef<[u8]>) -> specimen::Outcome {
    specimen::read(&move |c, i, f, s| exchanges(c, format, None, i, f, s), text.as_ref())
}

fn mapped(map: &'static str, text: &str) -> specimen::Outcome {
    let map = FieldMap::parse([map]).expect("a map");
    specimen::read(&move |c, i, f, s| exchanges(c, Format::AccessLog, Some(&map), i, f, s), text.as_bytes())
}

fn at(text: &str) -> Option<Time> {
    Some(Time(text.parse::<jiff::Timestamp>().expect("a time").as_microsecond()))
}

/// `>` for what the client sent, `<` for what the server sent, each with the text.
fn talk(outcome: &specimen::Outcome) -> Vec<String> {
    let side = |e: &RawExchange<'_>| match (&e.request_body, &e.response_body) {
        (RawBody::Whole(text), RawBody::NotCaptured(Missing::NotRecorded)) => {
            format!(">{}", String::from_utf8_lossy(text))
        }
        (RawBody::NotCaptured(Missing::NotRecorded), RawBody::Whole(text)) => {
            format!("<{}", String::from_utf8_lossy(text))
        }
        other => panic!("{other:?}"),
    };
    outcome.exchanges.iter().map(side).collect()
}

#[test]
fn messages_without_direction_are_given_the_one_that_the_protocol_allows() {
    let lines = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, '>'),
        (r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#, '<'),
        (r#"{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage"}"#, '<'),
        (r#"{"jsonrpc":"2.0","id":7,"result":{"role":"assistant"}}"#, '>'),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, '<'),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, '<'),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}"#, '<'),
        (r#"[{"jsonrpc":"2.0","id":2,"method":"a"},{"jsonrpc":"2.0","id":3,"method":"b"}]"#, '>'),
    ];
    let text: String = lines.iter().map(|(line, _)| format!("{line}\r\n")).collect();
    let outcome = read(Format::JsonRpcLines, text);
    let expected: Vec<String> = lines.iter().map(|(line, side)| format!("{side}{line}")).collect();
    assert_eq!(talk(&outcome), expected);
    assert!(outcome.exchanges.iter().all(|e| e.method == "MESSAGE" && e.url == "jsonrpc:" && e.no_headers));
    assert_eq!(outcome.exchanges[4].at.entry, 4);
}

#[test]
fn an_array_of_a_whole_conversation_is_taken_apart() {
    let text = r#"[{"jsonrpc":"2.0","id":2,"method":"a"},{"jsonrpc":"2.0","id":2,"result":{}}]"#;
    let outcome = read(Format::JsonRpcLines, text);
    assert_eq!(
        talk(&outcome),
        [r#">{"jsonrpc":"2.0","id":2,"method":"a"}"#, r#"<{"jsonrpc":"2.0","id":2,"result":{}}"#]
    );
}

#[test]
fn messages_over_several_lines_are_read_and_a_cut_one_takes_no_other_with_it() {
    let text = "{\n  \"jsonrpc\": \"2.0\",\n  \"method\": \"a{\"\n}\n[\n {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"b\"}\n]\n\
                {\"jsonrpc\":\"2.0\",\"id\":1,\"resu\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
    let outcome = read(Format::JsonRpcLines, text);
    let methods: Vec<_> = outcome.exchanges.iter().map(|e| (e.at.offset, e.request_body.bytes().len())).collect();
    assert_eq!(methods, [(Some(0), 40), (Some(41), 42), (Some(114), 0)]);
    assert_eq!(outcome.caveats(), [("undecodable-entry", 1)]);
    assert!(outcome.facts.caveats["undecodable-entry"].message.contains("line 8"));
}

#[test]
fn foreign_and_cut_lines_are_counted_and_passed_over() {
    let text = "starting\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n{\"x\":1}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"resu";
    let outcome = read(Format::JsonRpcLines, text);
    assert_eq!(outcome.exchanges.len(), 1);
    assert_eq!(outcome.caveats(), [("input-truncated", 1), ("undecodable-entry", 2)]);
    assert!(outcome.facts.caveats["undecodable-entry"].message.contains("line 1"));
    assert!(outcome.facts.caveats["input-truncated"].message.contains("5"));
}

#[test]
fn envelopes_have_direction_time_and_connection() {
    let text = concat!(
        r#"{"session_id":"a b","seq":1,"ts":"2026-01-01T00:00:00.123456789Z","direction":"c2s","conn_id":7,"raw":{"jsonrpc":"2.0","id":1,"method":"x"}}"#,
        "\n",
        r#"{"session_id":"a b","seq":2,"ts":"2026-01-01T00:00:01Z","direction":"s2c","conn_id":7,"raw":{"jsonrpc":"2.0","id":1,"result":{}}}"#,
        "\n",
        r#"{"session_id":"a b","seq":3,"ts":"2026-01-01T00:00:02Z","direction":"stderr","text":"warning"}"#,
        "\n",
        r#"{"session_id":"c","seq":4,"ts":"","direction":"s2c","raw":"{\"jsonrpc\":\"2.0\",\"resu","truncated":true}"#,
        "\n",
    );
    let outcome = read(Format::Mcpsnoop, text);
    let [sent, got, cut] = outcome.exchanges.as_slice() else { panic!("three exchanges") };
    assert_eq!(sent.url, "jsonrpc:mcpsnoop/a%20b/7");
    assert_eq!(sent.request_body, RawBody::Whole(br#"{"jsonrpc":"2.0","id":1,"method":"x"}"#.into()));
    assert_eq!(sent.sent, at("2026-01-01T00:00:00.123456Z"));
    assert_eq!((got.ended, got.end), (at("2026-01-01T00:00:01Z"), End::Clean));
    assert_eq!(cut.response_body, RawBody::Cut(br#"{"jsonrpc":"2.0","resu"#.into(), Missing::SizeLimit));
    assert_eq!(cut.url, "jsonrpc:mcpsnoop/c/");
    assert!(outcome.facts.caveats.is_empty());
}

#[test]
fn an_access_log_gives_session_status_and_duration_and_no_bodies() {
    let outcome = read(Format::AccessLog, specimen::testdata("ndjson/access-log.jsonl"));
    let facts = |e: &RawExchange<'_>| {
        let session = header(&e.request_headers, "mcp-session-id").unwrap_or_default().to_owned();
        (e.method.to_string(), e.url.to_string(), e.status, session, e.ended.zip(e.sent).map(|(e, s)| e.since(s)))
    };
    let entry = |method: &str, status, session: &str, micros| {
        (method.to_owned(), "/mcp".to_owned(), Some(status), session.to_owned(), Some(micros))
    };
    assert_eq!(
        outcome.exchanges.iter().map(facts).collect::<Vec<_>>(),
        [
            entry("POST", 200, "sess-3f0a71c2", 240_029_000),
            entry("POST", 200, "sess-3f0a71c2", 1_900_000),
            entry("GET", 404, "sess-b84d09e5", 4_000),
            entry("GET", 404, "sess-b84d09e5", 4_000),
        ]
    );
    for raw in &outcome.exchanges {
        assert_eq!(raw.request_body, RawBody::NotCaptured(Missing::NotRecorded));
        assert_eq!(raw.response_body, RawBody::NotCaptured(Missing::NotRecorded));
        assert!(raw.no_headers && raw.end == End::Unknown);
    }
    assert_eq!(outcome.exchanges[0].sent, at("2026-03-02T09:00:10Z"));
    assert_eq!(outcome.caveats(), [("input-truncated", 1), ("no-or-coarse-time", 4), ("undecodable-entry", 1)]);
}

#[test]
fn logs_of_known_servers_are_written_at_the_end_of_an_exchange() {
    let nginx = r#"{"msec":1796068400.000,"method":"GET","uri":"/mcp","status":200,"request_time":2.5,"last_event_id":"e1","resp_mcp_session_id":"s","request_body":"","content_type":"text/event-stream"}"#;
    let caddy = r#"{"logger":"http.log.access","ts":1796068400.0,"request":{"host":"h:1","uri":"/mcp","method":"POST","headers":{"Mcp-Session-Id":["q"]}},"duration":2.5,"status":200,"resp_headers":{"Mcp-Session-Id":["r"]}}"#;
    let outcome = read(Format::AccessLog, format!("{nginx}\n{caddy}\n"));
    for raw in &outcome.exchanges {
        assert_eq!((raw.sent, raw.ended), (Some(Time(1_796_068_397_500_000)), Some(Time(1_796_068_400_000_000))));
    }
    let [n, c] = outcome.exchanges.as_slice() else { panic!("two exchanges") };
    assert_eq!(header(&n.request_headers, "last-event-id"), Some("e1"));
    assert_eq!(header(&n.response_headers, "mcp-session-id"), Some("s"));
    assert_eq!(header(&n.response_headers, "content-type"), Some("text/event-stream"));
    assert_eq!(n.request_body, RawBody::NotCaptured(Missing::NotRecorded), "nginx writes it only where it is short");
    assert_eq!(c.url, "http://h:1/mcp");
    assert_eq!(header(&c.request_headers, "mcp-session-id"), Some("q"));
    assert_eq!(header(&c.response_headers, "mcp-session-id"), Some("r"));
    assert!(outcome.facts.caveats.is_empty());
}

#[test]
fn a_map_reads_messages_of_any_shape() {
    let text = concat!(
        r#"{"t":"2026-01-01T00:00:00Z","e":{"dir":"recv","raw":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"},"s":"x/y"}"#,
        "\n",
        r#"{"t":"2026-01-01T00:00:01Z","e":{"dir":"?","raw":{"jsonrpc":"2.0","id":1,"result":{}}},"s":"x/y"}"#,
        "\n",
        r#"{"t":"2026-01-01T00:00:01Z"}"#,
        "\n",
    );
    let outcome = mapped("ts=.t,dir=.e.dir,msg=.e.raw,session=s", text);
    assert_eq!(
        talk(&outcome),
        [r#"<{"jsonrpc":"2.0","id":1,"method":"ping"}"#, r#"<{"id":1,"jsonrpc":"2.0","result":{}}"#]
    );
    assert_eq!(outcome.exchanges[0].url, "jsonrpc:x%2Fy");
    assert!(outcome.exchanges[0].coarse_times);
    assert_eq!(outcome.caveats(), [("undecodable-entry", 1)]);
}

#[test]
fn a_map_reads_exchanges_with_bodies() {
    let text = r#"{"u":"http://h/mcp","m":"post","q":{"jsonrpc":"2.0","id":1,"method":"x"},"a":"data: {}\n\n","c":"e7","st":"200","ms":5,"at":1796068400}"#;
    let outcome = mapped("url=u,method=m,request=q,response=a,cursor=c,status=st,duration=ms,time=at", text);
    let [raw] = outcome.exchanges.as_slice() else { panic!("one exchange") };
    assert_eq!((raw.method.as_ref(), raw.status), ("POST", Some(200)));
    assert_eq!(raw.request_body, RawBody::Whole(br#"{"id":1,"jsonrpc":"2.0","method":"x"}"#.into()));
    assert_eq!(raw.response_body, RawBody::Whole(b"data: {}\n\n".into()));
    assert_eq!(header(&raw.response_headers, "content-type"), Some("text/event-stream"));
    assert_eq!(header(&raw.request_headers, "last-event-id"), Some("e7"));
    assert_eq!(raw.ended, Some(Time(1_796_068_400_005_000)));
}

#[test]
fn a_line_beyond_the_bound_is_dropped_whole() {
    let limits = Limits { body: 60, ..Limits::default() };
    let text = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"{}\"}}\n{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}\n",
        "x".repeat(200)
    );
    let reader =
        |c: &Context<'_>, i: &mut Bytes<'_>, f: &mut FileFacts, s: &mut dyn FnMut(&mut FileFacts, &RawExchange<'_>)| {
            exchanges(c, Format::JsonRpcLines, None, i, f, s)
        };
    let outcome = specimen::read_within(&reader, text.as_bytes(), limits);
    assert_eq!(outcome.exchanges.len(), 1);
    assert_eq!(outcome.caveats(), [("limit-reached", 1)]);
}

#[test]
fn logs_of_others_are_read_to_the_last_line() {
    for (name, bytes) in specimen::corpus("gateway-log") {
        if name.ends_with("ndjson") {
            let outcome = read(Format::AccessLog, &bytes);
            assert_eq!(outcome.exchanges.len(), bytes.split(|b| *b == b'\n').filter(|l| !l.is_empty()).count());
            assert!(outcome.facts.caveats.is_empty());
            assert!(matches!(outcome.exchanges[0].request_body, RawBody::Whole(_)));
        }
    }
}

proptest! {
    #[test]
    fn damaged_lines_never_panic(
        cut in any::<usize>(),
        flips in prop::collection::vec(any::<(usize, u8)>(), 0..8),
        format in prop::sample::select(vec![Format::JsonRpcLines, Format::Mcpsnoop, Format::AccessLog]),
    ) {
        let text = concat!(
            r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#, "\n",
            r#"{"session_id":"a","ts":"2026-01-01T00:00:01Z","direction":"s2c","conn_id":7,"raw":{"jsonrpc":"2.0","id":1,"result":{}}}"#, "\n",
            r#"{"time":"2026-03-02T09:05:00.100Z","method":"GET","path":"/mcp","status":404,"duration":"4ms","mcp_session_id":"s"}"#, "\n",
        );
        specimen::survives(&move |c, i, f, s| exchanges(c, format, None, i, f, s), text.as_bytes(), cut, &flips);
    }
}
