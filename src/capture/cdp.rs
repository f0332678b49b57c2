//! Events of the Chrome DevTools protocol, one a line: heads, posted bodies and endings, never a response's body.

use super::{Bytes, Context, FileFacts, Headers, RawBody, RawExchange, ReadError};
use crate::model::{End, Missing, Side, Time, Vantage};
use serde::Deserialize;
use std::{borrow::Cow, collections::HashMap, io::BufRead as _};

/// One line; only what is needed of it.
#[derive(Deserialize)]
struct Line<'l> {
    #[serde(borrow)]
    method: Cow<'l, str>,
    #[serde(borrow)]
    params: Params<'l>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Params<'l> {
    #[serde(borrow)]
    request_id: Cow<'l, str>,
    #[serde(borrow)]
    request: Option<Request<'l>>,
    #[serde(borrow)]
    response: Option<Response<'l>>,
    #[serde(borrow)]
    error_text: Option<Cow<'l, str>>,
    canceled: bool,
    /// Seconds of a clock of its own.
    timestamp: Option<f64>,
    /// Seconds since the epoch at that moment.
    wall_time: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'l> {
    #[serde(borrow)]
    url: Cow<'l, str>,
    #[serde(borrow)]
    method: Cow<'l, str>,
    #[serde(borrow, default)]
    headers: HashMap<Cow<'l, str>, Cow<'l, str>>,
    #[serde(borrow, default)]
    post_data: Option<Cow<'l, str>>,
    #[serde(default)]
    has_post_data: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response<'l> {
    status: u16,
    #[serde(borrow, default)]
    headers: HashMap<Cow<'l, str>, Cow<'l, str>>,
    #[serde(default)]
    from_service_worker: bool,
    #[serde(default)]
    from_disk_cache: bool,
}

fn lines(headers: &HashMap<Cow<'_, str>, Cow<'_, str>>) -> Headers<'static> {
    let own = |text: &Cow<'_, str>| Cow::Owned(text.clone().into_owned());
    let mut lines: Headers<'static> = headers.iter().map(|(name, value)| (own(name), own(value))).collect();
    lines.sort();
    lines
}

/// The exchanges that are under way, and the clock.
#[derive(Default)]
struct Log {
    open: HashMap<String, RawExchange<'static>>,
    /// What the wall clock shows more than the protocol's own, in seconds.
    shift: Option<f64>,
    entries: u32,
    done: Vec<RawExchange<'static>>,
}

/// Reads the log of a browser.
///
/// # Errors
/// Where no line is such an event, or the file cannot be read.
pub fn read(input: &mut Bytes<'_>, context: &Context<'_>) -> Result<FileFacts, ReadError> {
    let mut facts = FileFacts {
        vantage: Vantage::Client,
        recorder: Some("Chrome DevTools protocol".into()),
        ..FileFacts::default()
    };
    let mut log = Log::default();
    let (mut text, mut offset, mut foreign) = (Vec::new(), 0_u64, 0_u64);
    loop {
        text.clear();
        let read = std::io::Read::take(&mut *input, context.limits.body).read_until(b'\n', &mut text)?;
        if read == 0 {
            break;
        }
        match serde_json::from_slice::<Line<'_>>(&text) {
            Ok(line) => log.event(&line, offset),
            Err(_) => foreign += u64::from(!text.trim_ascii().is_empty()),
        }
        offset += read as u64;
    }
    if log.entries == 0 {
        return Err(ReadError::NotACapture("no line is a DevTools network event with a request".into()));
    }
    if foreign > 0 {
        facts.caveats("input-truncated", foreign, "lines that are no DevTools event were passed over");
    }
    // What never ended was still open when the log was.
    log.done.extend(log.open.into_values());
    log.done.sort_by_key(|raw| raw.at.entry);
    for raw in &log.done {
        facts.push(context, raw);
    }
    Ok(facts)
}

impl Log {
    fn time(&self, params: &Params<'_>) -> Option<Time> {
        let seconds = params.wall_time.or(Some(params.timestamp? + self.shift?))?;
        Some(Time((seconds * 1e6).round() as i64))
    }

    fn event(&mut self, line: &Line<'_>, offset: u64) {
        let params = &line.params;
        if let (Some(wall), Some(own)) = (params.wall_time, params.timestamp) {
            self.shift.get_or_insert(wall - own);
        }
        let time = self.time(params);
        match (&*line.method, &params.request, &params.response) {
            ("Network.requestWillBeSent", Some(request), _) => self.sent(params, request, time, offset),
            ("Network.responseReceived", _, Some(response)) => {
                if let Some(raw) = self.open.get_mut(&*params.request_id) {
                    raw.status = Some(response.status);
                    raw.head = time;
                    raw.response_headers = lines(&response.headers);
                    raw.from_cache = response.from_disk_cache || response.from_service_worker;
                    let empty = super::header(&raw.response_headers, "content-length").is_some_and(|l| l.trim() == "0");
                    raw.response_body = if empty || matches!(response.status, 202 | 204) {
                        RawBody::EMPTY
                    } else {
                        RawBody::NotCaptured(Missing::NotRecorded)
                    };
                }
            }
            ("Network.loadingFinished", ..) => self.ended(params, time, End::Clean),
            ("Network.loadingFailed", ..) => {
                let by_page =
                    params.canceled || params.error_text.as_deref().is_some_and(|e| e.contains("ERR_ABORTED"));
                self.ended(params, time, End::Abrupt(if by_page { Side::Client } else { Side::Unknown }));
            }
            _ => {}
        }
    }

    fn sent(&mut self, params: &Params<'_>, request: &Request<'_>, time: Option<Time>, offset: u64) {
        let mut raw = RawExchange::new(request.method.clone().into_owned(), request.url.clone().into_owned());
        (raw.at.entry, raw.at.offset) = (self.entries, Some(offset));
        self.entries = self.entries.saturating_add(1);
        raw.sent = time;
        raw.end = End::Open;
        raw.request_headers = lines(&request.headers);
        raw.request_body = match &request.post_data {
            Some(data) => RawBody::Whole(data.clone().into_owned().into_bytes().into()),
            None if request.has_post_data => RawBody::NotCaptured(Missing::NotRecorded),
            None => RawBody::EMPTY,
        };
        // A redirect sends the same request id again: its first half is complete.
        if let Some(mut before) = self.open.insert(params.request_id.clone().into_owned(), raw) {
            before.end = End::Unknown;
            self.done.push(before);
        }
    }

    fn ended(&mut self, params: &Params<'_>, time: Option<Time>, end: End) {
        if let Some(mut raw) = self.open.remove(&*params.request_id) {
            raw.ended = time;
            raw.end = end;
            self.done.push(raw);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_its_head_and_its_end_become_one_exchange_with_wall_clock_times() {
        let mut log = Log::default();
        for text in [
            r#"{"method":"Network.requestWillBeSent","params":{"requestId":"1","request":{"url":"http://h/mcp","method":"POST","headers":{"Mcp-Session-Id":"s"},"postData":"{}"},"timestamp":10.0,"wallTime":1000.5}}"#,
            r#"{"method":"Network.responseReceived","params":{"requestId":"1","timestamp":10.25,"response":{"status":200,"headers":{"content-type":"text/event-stream"}}}}"#,
            r#"{"method":"Network.loadingFailed","params":{"requestId":"1","timestamp":11.0,"errorText":"net::ERR_ABORTED","canceled":true}}"#,
        ] {
            log.event(&serde_json::from_str(text).unwrap(), 0);
        }
        let raw = &log.done[0];
        assert_eq!(
            (raw.sent, raw.head, raw.ended),
            (Some(Time(1_000_500_000)), Some(Time(1_000_750_000)), Some(Time(1_001_500_000)))
        );
        assert_eq!((raw.status, raw.end), (Some(200), End::Abrupt(Side::Client)));
        assert_eq!(raw.request_body.bytes(), b"{}");
        assert_eq!(raw.response_body, RawBody::NotCaptured(Missing::NotRecorded));
    }
}
