//! Writes a HAR of exchanges, as a recorder would that loses as little as the format allows.

use lastevent::{
    capture::{RawBody, RawExchange, header, transcript::File},
    model::{End, Missing, Side, Time, Vantage},
};
use serde_json::{Value, json};

/// Recorders that need no reading of their own, by where they stand.
fn recorder(vantage: Vantage) -> Result<&'static str, &'static str> {
    match vantage {
        Vantage::Client => Ok("Insomnia"),
        Vantage::Proxy => Ok("Charles Proxy"),
        Vantage::Unknown => Ok("a recorder of no name"),
        Vantage::Server => Err("no recorder writes HAR at the server"),
    }
}

/// The HAR, and what the exchanges are when it is believed; or why a HAR cannot hold them.
///
/// What is lost, and so taken out of the exchanges that are given back: that a response ended cleanly, that it was the
/// server that broke one off, what the client acknowledged, and why a body was not recorded.
pub fn render(file: &File) -> Result<(String, Vec<RawExchange<'static>>), &'static str> {
    let creator = recorder(file.vantage)?;
    let mut entries = Vec::new();
    let mut told = Vec::new();
    for (number, raw) in file.exchanges.iter().enumerate() {
        let (value, mut raw) = entry(raw)?;
        entries.push(value);
        raw.vantage = file.vantage;
        raw.at.entry = number as u32;
        told.push(raw);
    }
    let log = json!({"version": "1.2", "creator": {"name": creator, "version": "1"}, "entries": entries});
    Ok((json!({ "log": log }).to_string(), told))
}

fn entry(raw: &RawExchange<'static>) -> Result<(Value, RawExchange<'static>), &'static str> {
    let mut told = raw.clone();
    let Some(sent) = raw.sent else { return Err("a HAR has no entry without a time") };
    if raw.no_headers || raw.coarse_times {
        return Err("a HAR has headers and exact times");
    }
    if raw.end == End::Open && raw.status.is_some() {
        return Err("an entry is written when its response is over");
    }
    told.acknowledged = None;
    told.end = match raw.end {
        End::Clean | End::Open | End::Unknown => End::Unknown,
        End::Abrupt(Side::Client) => raw.end,
        End::Abrupt(_) => End::Abrupt(Side::Unknown),
    };
    let mut request = json!({
        "method": raw.method, "url": raw.url, "httpVersion": "HTTP/1.1",
        "headers": headers(&raw.request_headers), "queryString": [], "cookies": [], "headersSize": -1,
    });
    match &raw.request_body {
        RawBody::Whole(bytes) if bytes.is_empty() => request["bodySize"] = json!(0),
        RawBody::Whole(bytes) => {
            request["bodySize"] = json!(bytes.len());
            request["postData"] = json!({"mimeType": mime(&raw.request_headers), "text": text(bytes)?});
        }
        RawBody::NotCaptured(_) | RawBody::Cut(..) => return Err("a request body is there or is none"),
    }
    let started = sent.to_string();
    // Starts in whole seconds would be those of a coarse clock.
    let started = if started.contains('.') { started } else { started.replace('Z', ".000Z") };
    let mut value = json!({"startedDateTime": started, "request": request, "cache": {}});
    let Some(status) = raw.status else {
        told.response_body = RawBody::NotCaptured(Missing::NotRecorded);
        (told.head, told.ended, told.end) = (None, None, End::Unknown);
        return Ok((value, told));
    };
    let (head, ended) = (raw.head, raw.ended);
    if head.is_some_and(|head| head < sent) || ended.is_some_and(|end| end <= head.unwrap_or(sent)) {
        return Err("an entry's parts take time");
    }
    if ended.is_some() && head.is_none() {
        return Err("an entry that has a length has that of its head");
    }
    let span = |from: Time, to: Time| json!(to.since(from) as f64 / 1000.0);
    let mut timings = json!({"send": 0});
    timings["wait"] = head.map_or(json!(-1), |head| span(sent, head));
    timings["receive"] = head.zip(ended).map_or(json!(-1), |(head, ended)| span(head, ended));
    value["time"] = ended.map_or(json!(0), |ended| span(sent, ended));
    value["timings"] = timings;
    value["response"] = response(raw, status, &mut told)?;
    if !raw.marks.is_empty() {
        value["comment"] = json!(chunks(raw)?);
    }
    Ok((value, told))
}

fn response(raw: &RawExchange<'_>, status: u16, told: &mut RawExchange<'static>) -> Result<Value, &'static str> {
    let mut response = json!({
        "status": status, "statusText": "", "httpVersion": "HTTP/1.1", "headers": headers(&raw.response_headers),
        "cookies": [], "redirectURL": "", "headersSize": -1, "bodySize": raw.response_body.bytes().len(),
    });
    let mime = mime(&raw.response_headers);
    response["content"] = json!({"size": raw.response_body.bytes().len(), "mimeType": mime});
    match &raw.response_body {
        RawBody::NotCaptured(_) => {
            told.response_body = RawBody::NotCaptured(Missing::NotRecorded);
            response["content"]["size"] = json!(-1);
            response["bodySize"] = json!(-1);
        }
        RawBody::Cut(_, why) if *why != Missing::CutOff => return Err("a HAR does not say that a body is a part"),
        RawBody::Cut(..) if !matches!(raw.end, End::Abrupt(_)) => return Err("a body that is cut off has an error"),
        RawBody::Whole(bytes) | RawBody::Cut(bytes, _) => response["content"]["text"] = json!(text(bytes)?),
    }
    match raw.end {
        End::Abrupt(Side::Client) if !mime.contains("event-stream") && !mime.contains("json") => {
            return Err("an aborted answer without a body is one that nobody read");
        }
        End::Abrupt(Side::Client) => response["_error"] = json!("net::ERR_ABORTED"),
        End::Abrupt(_) => response["_error"] = json!("net::ERR_CONNECTION_RESET"),
        End::Clean | End::Open | End::Unknown => {}
    }
    Ok(response)
}

fn headers(headers: &lastevent::capture::Headers<'_>) -> Value {
    headers.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
}

fn mime(headers: &lastevent::capture::Headers<'_>) -> String {
    header(headers, "content-type").unwrap_or_default().to_owned()
}

fn text(bytes: &[u8]) -> Result<&str, &'static str> {
    std::str::from_utf8(bytes).map_err(|_| "a body that is no text has another form")
}

/// The times of chunks, as the timed recorder of this project writes them.
fn chunks(raw: &RawExchange<'_>) -> Result<String, &'static str> {
    let mut from = 0;
    let mut chunks = Vec::new();
    for (upto, time) in &raw.marks {
        chunks.push(json!([time.0 as f64 / 1e6, upto - from]));
        from = *upto;
    }
    if from != raw.response_body.bytes().len() as u64 {
        return Err("chunks make up the whole body");
    }
    Ok(json!({ "sse_chunks": chunks }).to_string())
}
