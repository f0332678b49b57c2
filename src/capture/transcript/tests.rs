//! Write-then-read is the identity; and what people may type means what README says.

use super::{parse, write};
use crate::{
    capture::{RawBody, RawExchange},
    model::{End, Missing, Side, Time, Vantage},
};
use proptest::prelude::*;

fn missing() -> impl Strategy<Value = Missing> {
    proptest::sample::select(super::REASONS.map(|(_, reason)| reason).to_vec())
}

fn any_end() -> impl Strategy<Value = End> {
    proptest::sample::select(super::ENDS.map(|(_, end)| end).to_vec())
}

/// Bytes that look like parts of the format more often than chance would have it.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"@ +1ms\n".to_vec()),
        Just(b"> POST /mcp\n".to_vec()),
        Just(b"<\n".to_vec()),
        Just(b"= clean\n".to_vec()),
        Just(b"# vantage: client\n".to_vec()),
        Just(b"\\e x\\n\n".to_vec()),
        Just(b"\\".to_vec()),
        Just(b"data: {}\n\n".to_vec()),
        Just("é漢\u{202e}\u{feff}".as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn body() -> impl Strategy<Value = RawBody<'static>> {
    prop_oneof![
        missing().prop_map(RawBody::NotCaptured),
        bytes().prop_map(|b| RawBody::Whole(b.into())),
        (bytes(), missing()).prop_map(|(b, why)| RawBody::Cut(b.into(), why)),
    ]
}

fn time() -> impl Strategy<Value = Option<Time>> {
    let near = 1_767_225_600_000_000..1_767_225_601_000_000_i64;
    proptest::option::of(prop_oneof![near.prop_map(Time), any::<i64>().prop_map(Time)])
}

type Head = Vec<(String, String)>;

fn head() -> impl Strategy<Value = Head> {
    let any = ("[^\u{0}]{1,8}|:path|=x|a:b", ".{0,12}| x |\\PC{3}");
    let kind = Just(("Content-Type".to_owned(), "text/event-stream; charset=utf-8".to_owned()));
    proptest::collection::vec(prop_oneof![3 => any, 1 => kind], 0..3)
}

prop_compose! {
    fn exchange()(
        method in "[A-Z]{1,6}|x y|\\PC",
        url in "https?://h/p|/mcp|\\PC{1,9}| a b ",
        heads in (head(), head()),
        bodies in (body(), body()),
        status in proptest::option::of(any::<u16>()),
        times in (time(), time(), time()),
        end in any_end(),
        received in proptest::option::of(0_u64..20),
        cuts in proptest::collection::btree_map(1_u64..30, time(), 0..4),
    ) -> RawExchange<'static> {
        let mut raw = RawExchange::new(method, url);
        let own = |head: Head| head.into_iter().map(|(n, v)| (n.into(), v.into())).collect();
        (raw.request_headers, raw.response_headers) = (own(heads.0), own(heads.1));
        (raw.request_body, raw.response_body) = bodies;
        (raw.sent, raw.head, raw.ended) = times;
        (raw.status, raw.end, raw.acknowledged) = (status, end, received);
        let length = raw.response_body.bytes().len() as u64;
        raw.marks = cuts.into_iter().filter(|(at, _)| *at <= length).filter_map(|(at, t)| Some((at, t?))).collect();
        raw
    }
}

fn shown(raw: &RawExchange<'_>) -> String {
    let mut raw = raw.clone();
    raw.at = crate::model::Address::default();
    format!("{raw:?}")
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_as_the_same(raws in proptest::collection::vec(exchange(), 0..4)) {
        let text = write(Vantage::Proxy, Some("hand"), &raws);
        let file = parse(text.as_bytes()).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        prop_assert_eq!(file.vantage, Vantage::Proxy);
        prop_assert!(!file.truncated);
        let (got, want): (Vec<_>, Vec<_>) = (file.exchanges.iter().map(shown).collect(), raws.iter().map(shown).collect());
        prop_assert_eq!(got, want, "{}", text);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in bytes(), more in bytes()) {
        let _ = parse(&[&b"> GET\n< 200\n<\n"[..], &bytes].concat());
        let _ = parse(&[bytes, b"\n> GET\n".to_vec(), more].concat());
    }
}

const TYPED: &str = "\
# A case typed by hand.
# vantage: client
@ 2026-01-01T00:00:01.000Z
> POST
> mcp-session-id: s1
>
{\"id\":2}
< 200 +5ms
< content-type: text/event-stream
<
id: a0
data:

# the client sees nothing for a while
@ +120ms
id: a1
data: x

= abrupt client +10ms

@ +250ms
> GET /other
> last-event-id: a1
< 405

> DELETE https://host/mcp
= abrupt server
> GET

> GET
";

#[test]
fn a_typed_case_means_what_it_says() {
    let file = parse(TYPED.as_bytes()).unwrap();
    let start = 1_767_225_601_000_000;
    assert_eq!(file.vantage, Vantage::Client);
    let [post, get, delete, _, last] = &file.exchanges[..] else { panic!("{:?}", file.exchanges) };
    assert_eq!((&*post.method, &*post.url), ("POST", "http://localhost/mcp"));
    assert_eq!(post.request_body.bytes(), b"{\"id\":2}");
    assert_eq!(post.response_body, RawBody::Whole(b"id: a0\ndata:\n\nid: a1\ndata: x\n\n".into()));
    assert_eq!((post.sent, post.head), (Some(Time(start)), Some(Time(start + 5_000))));
    assert_eq!(post.marks, [(14, Time(start + 5_000)), (30, Time(start + 125_000))]);
    assert_eq!((post.end, post.ended), (End::Abrupt(Side::Client), Some(Time(start + 135_000))));
    assert_eq!((&*get.url, get.status, get.end), ("http://localhost/other", Some(405), End::Clean));
    assert_eq!((get.sent, get.ended), (Some(Time(start + 250_000)), Some(Time(start + 250_000))));
    assert_eq!((&get.request_body, &get.response_body), (&RawBody::EMPTY, &RawBody::EMPTY));
    assert_eq!((delete.status, delete.sent, delete.end), (None, None, End::Abrupt(Side::Server)));
    assert_eq!(delete.response_body, RawBody::NotCaptured(Missing::Failed));
    assert_eq!((&last.request_body, last.end), (&RawBody::EMPTY, End::Unknown));
    assert_eq!(last.response_body, RawBody::NotCaptured(Missing::NotRecorded));
}

#[test]
fn what_was_not_captured_is_said_so() {
    let text = "> POST /mcp\n> = not-captured streamed\n< 200\n= not-captured\n\
                > GET /mcp\n< 200\n< content-type: text/event-stream\n<\n\\e id: a\n= open partial size-limit\n";
    let file = parse(text.as_bytes()).unwrap();
    assert_eq!(file.exchanges[0].request_body, RawBody::NotCaptured(Missing::Streamed));
    assert_eq!(file.exchanges[0].response_body, RawBody::NotCaptured(Missing::NotRecorded));
    assert_eq!(file.exchanges[1].response_body, RawBody::Cut(b"id: a".into(), Missing::SizeLimit));
    assert_eq!(file.exchanges[1].end, End::Open);
}

#[test]
fn a_mistake_is_told_with_its_line() {
    for (text, told) in [
        ("# vantage: moon\n", "line 1: no vantage is called 'moon'"),
        ("# vantaeg: client\n", "line 1: no directive is called 'vantaeg'"),
        ("\n< 200\n", "line 2: a response without a request"),
        ("> GET\n< 200\n<\nx\n= claen\n", "line 5: '= claen' says nothing known"),
        ("> GET\n< 200\n<\nx\n> GET\n", "line 5: a request begins inside a body"),
        ("> GET\n< 20x\n", "line 2: '< 20x' is no status line"),
        ("> GET\nhello\n", "line 2: this stands in no body"),
        ("@ +1ms\n", "line 1: '+1ms' has no time before it"),
        ("> GET\n> colonless\n", "line 2: 'colonless' is no header line"),
        ("> GET\n< 200\n<\n\\e \\q\n= clean\n", "line 4: no escape is written \\q"),
        ("> GET\n< 200\n<\nx\n= not-captured\n", "line 5: a body stands above"),
    ] {
        let error = parse(text.as_bytes()).unwrap_err();
        assert!(error.starts_with(told), "{error}");
    }
}

#[test]
fn a_file_that_ends_inside_a_body_keeps_what_is_there() {
    let file = parse(b"> GET\n< 200\n< content-type: text/event-stream\n<\nid: a\n").unwrap();
    assert!(file.truncated);
    assert_eq!(file.exchanges[0].response_body, RawBody::Cut(b"id: a\n".into(), Missing::CaptureEnd));
    assert_eq!(file.exchanges[0].end, End::Unknown);
}
