//! Random conversations of which it is known by construction what must be found in them, and what must not.
//!
//! A conversation is a session with calls; each call has a fate. Fates say which rules must fire for their request and
//! which may; everything else above a note is a false accusation. Failures shrink to few calls and print a transcript.

mod support;

use lastevent::{
    capture::{Context, Limits, RawBody, RawExchange, digest, digest::Names, transcript},
    model::{End, Missing, Side, Time, Vantage},
    redact::Key,
    rules::Severity,
};
use proptest::prelude::*;
use std::{borrow::Cow, collections::BTreeSet, sync::atomic::AtomicU64};
use support::judge;

/// What becomes of a call.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// Progress, then the answer, on its own stream.
    Clean { progress: u8 },
    /// The answer as JSON.
    Json,
    /// Cut by the network, resumed, answered.
    DropAndResume { before: u8, after: u8 },
    /// Cut twice, resumed twice, answered.
    DropTwice,
    /// The server closes and is polled, twice.
    Polling,
    /// Answered, then resumed with the cursor before the answer so many times, at last with nothing.
    ResumeAfterTerminal { replays: u8 },
    /// Cut, resumed, empty replay; never asked for again.
    EmptyReplay,
    /// Cut with a cursor and left.
    Abandoned,
    /// Cut, then the same call under a new id.
    Reissued,
    /// Cut, its cursor refused, then the same call under a new id.
    Refused,
    /// Cancelled; the answer never comes.
    Cancelled,
    /// Polled too early.
    RetryIgnored,
    /// Two answers on its own stream.
    AnsweredTwice,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        4 => (0..4_u8).prop_map(|progress| Fate::Clean { progress }),
        2 => Just(Fate::Json),
        3 => (0..3_u8, 0..3_u8).prop_map(|(before, after)| Fate::DropAndResume { before, after }),
        1 => Just(Fate::DropTwice),
        2 => Just(Fate::Polling),
        1 => (0..4_u8).prop_map(|replays| Fate::ResumeAfterTerminal { replays }),
        1 => Just(Fate::EmptyReplay),
        1 => Just(Fate::Abandoned),
        1 => Just(Fate::Reissued),
        1 => Just(Fate::Refused),
        1 => Just(Fate::Cancelled),
        1 => Just(Fate::RetryIgnored),
        1 => Just(Fate::AnsweredTwice),
    ]
}

/// A conversation as it is written, with what must and may be found.
#[derive(Default)]
struct Script {
    raws: Vec<RawExchange<'static>>,
    now: i64,
    next_id: u32,
    stream: u32,
    session: String,
    must: BTreeSet<(String, &'static str)>,
    may: BTreeSet<(String, &'static str)>,
}

const URL: &str = "http://server.example.test/mcp";

impl Script {
    fn new(session: &str, now: i64) -> Self {
        Self { now, next_id: 1, session: session.to_owned(), ..Self::default() }
    }

    fn raw(&mut self, method: &'static str, headers: &[(&'static str, String)]) -> RawExchange<'static> {
        self.now += 50_000;
        let mut raw = RawExchange::new(method, URL);
        raw.vantage = Vantage::Client;
        raw.sent = Some(Time(self.now));
        raw.head = Some(Time(self.now + 2_000));
        raw.request_body = RawBody::EMPTY;
        raw.request_headers = vec![
            (Cow::Borrowed("accept"), Cow::Borrowed("application/json, text/event-stream")),
            (Cow::Borrowed("mcp-protocol-version"), Cow::Borrowed("2025-11-25")),
        ];
        if !self.session.is_empty() {
            raw.request_headers.push(("mcp-session-id".into(), self.session.clone().into()));
        }
        raw.request_headers.extend(headers.iter().map(|(n, v)| (Cow::Borrowed(*n), Cow::Owned(v.clone()))));
        raw
    }

    fn end(&mut self, raw: &mut RawExchange<'static>, millis: i64, end: End) {
        self.now += millis * 1000;
        raw.ended = Some(Time(self.now.max(raw.sent.map_or(0, |t| t.0) + 3_000)));
        self.now = raw.ended.map_or(self.now, |t| t.0);
        raw.end = end;
    }

    fn json(&mut self, body: String, status: u16, answer: &str) -> RawExchange<'static> {
        let mut raw = self.raw("POST", &[]);
        raw.request_body = RawBody::Whole(body.into_bytes().into());
        raw.status = Some(status);
        raw.response_headers = vec![("content-type".into(), "application/json".into())];
        raw.response_body = RawBody::Whole(answer.as_bytes().to_vec().into());
        self.end(&mut raw, 3, End::Clean);
        raw
    }

    fn events(&mut self, mut raw: RawExchange<'static>, events: &[String], end: End) {
        raw.status = Some(200);
        raw.response_headers = vec![("content-type".into(), "text/event-stream".into())];
        let body = events.concat().into_bytes();
        raw.response_body =
            if end == End::Clean { RawBody::Whole(body.into()) } else { RawBody::Cut(body.into(), Missing::CutOff) };
        self.end(&mut raw, 20, end);
        self.raws.push(raw);
    }

    fn initialize(&mut self) {
        let session = std::mem::take(&mut self.session);
        let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
        let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
        let mut raw = self.json(body.to_owned(), 200, answer);
        raw.response_headers.push(("mcp-session-id".into(), session.clone().into()));
        self.raws.push(raw);
        self.session = session;
        let note = self.json(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(), 202, "");
        self.raws.push(note);
    }

    fn id(&self, k: u32) -> String {
        format!("s{}_{k}", self.stream)
    }

    fn prime(&self, k: u32, retry: bool) -> String {
        format!("id: {}\n{}data: \n\n", self.id(k), if retry { "retry: 500\n" } else { "" })
    }

    fn progress(&self, k: u32, call: u32) -> String {
        let id = self.id(k);
        format!(
            "id: {id}\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{call},\"progress\":{k}}}}}\n\n"
        )
    }

    fn result(&self, k: u32, call: u32) -> String {
        let id = self.id(k);
        format!(
            "id: {id}\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{call},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"r{call}\"}}]}}}}\n\n"
        )
    }

    fn post(&mut self, call: u32, arguments: u32) -> RawExchange<'static> {
        let body = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{call},\"method\":\"tools/call\",\"params\":{{\"name\":\"work\",\"arguments\":{{\"n\":{arguments}}},\"_meta\":{{\"progressToken\":{call}}}}}}}"
        );
        let mut raw = self.raw("POST", &[]);
        raw.request_body = RawBody::Whole(body.into_bytes().into());
        raw
    }

    fn resume(&mut self, k: u32) -> RawExchange<'static> {
        self.now += 600_000;
        let cursor = self.id(k);
        self.raw("GET", &[("last-event-id", cursor)])
    }

    fn must(&mut self, call: u32, rules: &[&'static str]) {
        self.must.extend(rules.iter().map(|r| (call.to_string(), *r)));
    }

    fn may(&mut self, call: u32, rules: &[&'static str]) {
        self.may.extend(rules.iter().map(|r| (call.to_string(), *r)));
    }

    fn call(&mut self, fate: Fate) {
        let call = self.next_id;
        self.next_id += 1;
        self.stream += 1;
        let cut = End::Abrupt(Side::Server);
        let post = self.post(call, call);
        let head = |s: &Self, n: u32| -> Vec<String> {
            std::iter::once(s.prime(0, false)).chain((1..=n).map(|k| s.progress(k, call))).collect()
        };
        match fate {
            Fate::Clean { progress } => {
                let n = u32::from(progress);
                let mut events = head(self, n);
                events.push(self.result(n + 1, call));
                self.events(post, &events, End::Clean);
            }
            Fate::Json => {
                let mut raw = post;
                raw.status = Some(200);
                raw.response_headers = vec![("content-type".into(), "application/json".into())];
                let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{call},\"result\":{{\"content\":[]}}}}");
                raw.response_body = RawBody::Whole(answer.into_bytes().into());
                self.end(&mut raw, 5, End::Clean);
                self.raws.push(raw);
            }
            Fate::DropAndResume { before, after } => {
                let (n, m) = (u32::from(before), u32::from(after));
                let events = head(self, n);
                self.events(post, &events, cut);
                let resume = self.resume(n);
                let mut rest: Vec<String> = (n + 1..=n + m).map(|k| self.progress(k, call)).collect();
                rest.push(self.result(n + m + 1, call));
                self.events(resume, &rest, End::Clean);
            }
            Fate::DropTwice => {
                let events = head(self, 1);
                self.events(post, &events, cut);
                let resume = self.resume(1);
                let rest = [self.progress(2, call)];
                self.events(resume, &rest, cut);
                let resume = self.resume(2);
                let rest = [self.result(3, call)];
                self.events(resume, &rest, End::Clean);
            }
            Fate::Polling => {
                let events = [self.prime(0, true)];
                self.events(post, &events, End::Clean);
                let resume = self.resume(0);
                let rest = [self.prime(1, true)];
                self.events(resume, &rest, End::Clean);
                let resume = self.resume(1);
                let rest = [self.result(2, call)];
                self.events(resume, &rest, End::Clean);
            }
            Fate::ResumeAfterTerminal { replays } => {
                let mut events = head(self, 1);
                events.push(self.result(2, call));
                self.events(post, &events, End::Clean);
                for _ in 0..replays {
                    let resume = self.resume(1);
                    let rest = [self.result(2, call)];
                    self.events(resume, &rest, End::Clean);
                }
                let resume = self.resume(1);
                self.events(resume, &[], End::Clean);
                self.must(call, &["resume-after-terminal"]);
                self.may(call, &["empty-replay-after-terminal"]);
                if replays > 0 {
                    self.must(call, &["duplicate-terminal", "terminal-replay-loop"]);
                }
            }
            Fate::EmptyReplay => {
                let events = head(self, 1);
                self.events(post, &events, cut);
                let resume = self.resume(1);
                self.events(resume, &[], End::Clean);
                self.must(call, &["ambiguous-empty-replay", "empty-replay-taken-as-success"]);
            }
            Fate::Abandoned => {
                let events = head(self, 1);
                self.events(post, &events, cut);
                self.must(call, &["stream-abandoned"]);
            }
            Fate::Reissued | Fate::Refused => {
                let events = head(self, 1);
                self.events(post, &events, cut);
                if matches!(fate, Fate::Refused) {
                    let mut resume = self.resume(1);
                    resume.status = Some(400);
                    resume.response_headers = vec![("content-type".into(), "text/plain".into())];
                    resume.response_body = RawBody::Whole(b"failed to replay events".as_slice().into());
                    self.end(&mut resume, 3, End::Clean);
                    self.raws.push(resume);
                    self.must(call, &["resume-rejected"]);
                }
                self.must(call, &["side-effecting-call-reissued"]);
                let again = self.next_id;
                self.next_id += 1;
                self.stream += 1;
                let post = self.post(again, call);
                let events = [self.prime(0, false), self.result(1, again)];
                self.events(post, &events, End::Clean);
            }
            Fate::Cancelled => {
                let events = head(self, 1);
                let mut raw = post;
                raw.status = Some(200);
                raw.response_headers = vec![("content-type".into(), "text/event-stream".into())];
                raw.response_body = RawBody::Whole(events.concat().into_bytes().into());
                let body = format!(
                    "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{call}}}}}"
                );
                self.now += 10_000;
                let note = self.json(body, 202, "");
                self.end(&mut raw, 10, End::Clean);
                self.raws.push(raw);
                self.raws.push(note);
            }
            Fate::RetryIgnored => {
                let events = [self.prime(0, true)];
                self.events(post, &events, End::Clean);
                self.now -= 600_000;
                let resume = self.resume(0);
                let rest = [self.result(1, call)];
                self.events(resume, &rest, End::Clean);
                self.must(call, &["retry-ignored"]);
            }
            Fate::AnsweredTwice => {
                let mut events = head(self, 1);
                events.push(self.result(2, call));
                events.push(self.result(3, call));
                self.events(post, &events, End::Clean);
                self.must(call, &["duplicate-terminal"]);
                self.may(call, &["message-after-terminal"]);
            }
        }
        // Between calls the client rests long enough for every wait to be over.
        self.now += 5_000_000;
    }

    /// The client goes on for two minutes, then ends the session.
    fn finish(&mut self) {
        for _ in 0..4 {
            self.now += 35_000_000;
            let (id, stream) = (self.next_id, self.stream);
            self.next_id += 1;
            let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
            let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}");
            let ping = self.json(body, 200, &answer);
            self.raws.push(ping);
            self.stream = stream;
        }
        let mut raw = self.raw("DELETE", &[]);
        raw.status = Some(200);
        raw.response_body = RawBody::EMPTY;
        self.end(&mut raw, 3, End::Clean);
        self.raws.push(raw);
    }
}

fn conversation(fates: &[Fate], restart: Option<usize>) -> Script {
    let mut script = Script::new("session-a", 1_700_000_000_000_000);
    script.initialize();
    for (i, fate) in fates.iter().enumerate() {
        if restart == Some(i) {
            script.finish();
            script.session = "session-b".to_owned();
            script.initialize();
        }
        script.call(*fate);
    }
    script.finish();
    script
}

/// What is wrong with the findings, as lines.
fn complaints(script: &Script) -> Vec<String> {
    let (key, names, consumed) = (Key::new(None, false), Names::default(), AtomicU64::new(0));
    let context = Context { key: &key, limits: Limits::default(), names: &names, consumed: &consumed, vantage: None };
    let exchanges = script.raws.iter().enumerate().filter_map(|(i, raw)| {
        let mut exchange = digest::exchange(&context, raw, Vantage::Client)?;
        exchange.at.entry = i as u32;
        Some(exchange)
    });
    let (capture, findings) = judge(exchanges.collect());
    let found: BTreeSet<(String, &str)> = findings
        .iter()
        .filter(|f| {
            f.severity > Severity::Note || script.may.iter().chain(&script.must).any(|(_, rule)| *rule == f.rule)
        })
        .map(|f| {
            let request =
                f.request.zip(f.session).map(|(r, s)| capture.sessions[s as usize].requests[r as usize].id.to_string());
            (request.unwrap_or_default(), f.rule)
        })
        .collect();
    let missed = script.must.difference(&found).map(|(call, rule)| format!("missed: {rule} for request {call}"));
    let known = |f: &&(String, &str)| script.must.contains(*f) || script.may.contains(*f);
    let surplus =
        found.iter().filter(|f| !known(f)).map(|(call, rule)| format!("accused falsely: {rule} for request {call}"));
    missed.chain(surplus).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, max_shrink_iters: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_planted_fault_is_found_and_nothing_else(fates in prop::collection::vec(fate(), 1..7), restart in prop::option::of(0..7_usize)) {
        let script = conversation(&fates, restart);
        let complaints = complaints(&script);
        prop_assert!(complaints.is_empty(), "{}\n{}", complaints.join("\n"), transcript::write(Vantage::Client, None, &script.raws));
    }
}
