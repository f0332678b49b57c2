use super::*;
use crate::{
    capture::{RawBody, header, specimen},
    model::{End, Missing, Side, Time},
    wire::sse::Blocks,
};
use proptest::prelude::*;
use serde_json::Value as Json;

/// The exchanges of a flow file, one by one.
fn exchanges(
    context: &Context<'_>,
    input: &mut Bytes<'_>,
    facts: &mut FileFacts,
    sink: &mut dyn FnMut(&mut FileFacts, &RawExchange<'_>),
) -> Result<(), ReadError> {
    let mut all = Vec::new();
    flows(context, input, facts, &mut |flow| all.push(flow))?;
    all.iter().filter_map(|flow| flow.exchange(context)).for_each(|raw| sink(facts, &raw));
    Ok(())
}

fn read(bytes: &[u8]) -> specimen::Outcome {
    specimen::read(&exchanges, bytes)
}

/// The exchanges in the order in which they were sent, each beside what the server's own log says of it.
fn beside_truth(name: &str) -> Vec<(RawExchange<'static>, Json)> {
    let outcome = read(&specimen::testdata(&format!("flows/{name}.flow")));
    assert!(outcome.result.is_ok() && outcome.facts.caveats.is_empty());
    let mut found = outcome.exchanges;
    found.sort_by_key(|e| e.sent);
    let truth: Json = serde_json::from_slice(&specimen::testdata(&format!("flows/{name}.truth.json"))).expect("JSON");
    let said = truth["exchanges"].as_array().expect("exchanges").clone();
    assert_eq!(found.len(), said.len());
    found.into_iter().zip(said).collect()
}

fn event_ids(body: &RawBody<'_>) -> Vec<String> {
    Blocks::new(body.bytes()).filter_map(|b| Some(String::from_utf8_lossy(b.id?).into_owned())).collect()
}

fn sent_ids(truth: &Json) -> Vec<String> {
    truth["sent"].as_array().expect("sent").iter().map(|s| s["id"].as_str().expect("an id").to_owned()).collect()
}

#[test]
fn flows_say_what_the_server_logged() {
    for name in ["drop-and-resume-timed", "drop-and-resume"] {
        for (raw, truth) in beside_truth(name) {
            assert_eq!(raw.method, truth["http"].as_str().expect("a method"));
            assert_eq!(raw.status.map(u64::from), truth["status"].as_u64());
            assert_eq!(header(&raw.request_headers, "mcp-session-id"), truth["session"].as_str());
            assert_eq!(header(&raw.request_headers, "last-event-id"), truth["last_event_id"].as_str());
            assert!(raw.url.ends_with("/mcp"));
            let rpc = truth["rpc"].as_array().expect("rpc");
            let posted: Option<Json> = serde_json::from_slice(raw.request_body.bytes()).ok();
            assert_eq!(posted.as_ref().map(|p| &p["method"]), rpc.first().map(|r| &r["method"]));
            assert!(matches!(raw.request_body, RawBody::Whole(_)));
        }
    }
}

#[test]
fn bodies_of_the_timed_recorder_are_there_to_the_last_chunk_even_when_aborted() {
    for (raw, truth) in beside_truth("drop-and-resume-timed") {
        assert_eq!(event_ids(&raw.response_body), sent_ids(&truth));
        let cut = matches!(raw.response_body, RawBody::Cut(_, Missing::CutOff));
        assert_eq!(cut, truth["ended"] == "client_gone", "exchange {}", truth["n"]);
    }
}

#[test]
fn each_event_of_the_timed_recorder_arrived_right_after_it_was_sent() {
    let mut compared = 0;
    for (raw, truth) in beside_truth("drop-and-resume-timed") {
        let blocks: Vec<_> = Blocks::new(raw.response_body.bytes()).map(|b| b.end as u64).collect();
        for (end, sent) in blocks.iter().zip(truth["sent"].as_array().expect("sent")) {
            let arrived = raw.marks.iter().find(|(at, _)| at >= end).expect("a mark").1;
            #[expect(clippy::cast_possible_truncation)]
            let sent = Time((sent["t"].as_f64().expect("a time") * 1e6) as i64);
            assert!((-1_000..50_000).contains(&arrived.since(sent)), "{arrived} {sent}");
            compared += 1;
        }
    }
    assert_eq!(compared, 17);
}

#[test]
fn a_stream_aborted_without_the_addon_is_not_captured_and_says_who_aborted_it() {
    let flows = beside_truth("drop-and-resume");
    let (cut, truth) = &flows[3];
    assert_eq!(truth["ended"], "client_gone");
    assert_eq!(cut.response_body, RawBody::NotCaptured(Missing::NotRecorded));
    assert_eq!(cut.end, End::Abrupt(Side::Server));
    assert_eq!(flows[4].0.end, End::Abrupt(Side::Client));
    assert_eq!(flows[5].0.end, End::Clean);
    assert_eq!(event_ids(&flows[5].0.response_body), sent_ids(&flows[5].1));
}

#[test]
fn null_content_is_not_captured_and_empty_content_is_empty() {
    let outcome = read(&specimen::testdata("flows/streamed-body-missing.mitm"));
    let bodies: Vec<_> = outcome.exchanges.iter().map(|e| &e.response_body).collect();
    assert_eq!(bodies[0], &RawBody::NotCaptured(Missing::Streamed));
    assert_eq!(event_ids(bodies[1]), ["e3"]);
    assert_eq!(bodies[2], &RawBody::EMPTY);
    assert_eq!(outcome.exchanges[2].request_body, RawBody::EMPTY);
    assert_eq!(outcome.exchanges[0].url, "https://mcp.example.test/mcp");
    assert_eq!(outcome.exchanges[0].sent, Some(Time(1_772_442_001_000_000)));
}

#[test]
fn a_newer_format_is_named_and_its_known_keys_are_read() {
    let outcome = read(&specimen::testdata("flows/newer-format.mitm"));
    assert_eq!(outcome.exchanges.len(), 3);
    assert!(outcome.facts.caveats["newer-format"].message.contains("99"));
}

#[test]
fn an_old_format_is_refused_with_the_way_to_convert_it() {
    for (flow, name) in
        [(&b"41:7:version;13:1:0#2:18#1:2#]4:type;4:http;}"[..], "0.18.2"), (b"14:7:version;1:3#}", "3")]
    {
        let Err(ReadError::NotRead(advice)) = read(flow).result else { panic!("read") };
        assert!(advice.contains(name) && advice.contains("mitmdump -nr"), "{advice}");
    }
}

#[test]
fn a_cut_file_gives_every_whole_flow_and_says_where_it_stops() {
    let bytes = specimen::testdata("flows/streamed-body-missing.mitm");
    let outcome = read(&bytes[..4000]);
    assert_eq!(outcome.exchanges.len(), 2);
    assert_eq!(outcome.caveats(), [("input-truncated", 1)]);
    assert!(outcome.facts.caveats["input-truncated"].message.contains("byte 3724, after 2 exchanges"));
}

#[test]
fn a_flow_beyond_the_bounds_is_passed_over() {
    let mut bytes = format!("{}:", (64 << 20) + 8).into_bytes();
    bytes.resize(bytes.len() + (64 << 20) + 9, b'x');
    bytes.extend(specimen::testdata("flows/newer-format.mitm"));
    let limits = crate::capture::Limits { body: 2, ..Default::default() };
    let outcome = specimen::read_within(&exchanges, &bytes, limits);
    assert_eq!(outcome.exchanges.len(), 3);
    assert_eq!(outcome.facts.caveats["limit-reached"].count, 1);
}

#[test]
fn flow_files_of_others_are_read_or_refused_by_their_format() {
    for (name, bytes) in specimen::corpus("mitm") {
        let outcome = read(&bytes);
        if name.contains("dumpfile-011") || name.contains("dumpfile-018") {
            assert!(matches!(outcome.result, Err(ReadError::NotRead(_))), "{name}");
            continue;
        }
        assert!(outcome.result.is_ok() && !outcome.exchanges.is_empty(), "{name}");
        assert!(!outcome.facts.caveats.contains_key("input-truncated"), "{name}");
        assert!(outcome.exchanges.iter().all(|e| e.url.contains("://") && !e.method.is_empty()), "{name}");
    }
}

proptest! {
    #[test]
    fn damaged_flow_files_never_panic(cut in any::<usize>(), flips in prop::collection::vec(any::<(usize, u8)>(), 0..8)) {
        specimen::survives(&exchanges, &specimen::testdata("flows/drop-and-resume-timed.flow"), cut, &flips);
    }
}
