//! Access logs of gateways: session, status and duration of an exchange, hardly ever a body.

use super::{Line, field};
use crate::{
    capture::{FileFacts, Headers, RawBody, RawExchange},
    model::{End, Missing, Time},
};
use serde_json::{Map, Value};

/// How deep objects are searched for fields.
const DEPTH: usize = 4;
/// The most fields of one line that are looked at.
const MOST: usize = 1024;

/// What the log's times showed themselves to be.
#[derive(Default)]
pub struct Clock {
    guessed: u64,
}

impl Clock {
    /// Says what was assumed of the times.
    pub fn account(&self, facts: &mut FileFacts) {
        if self.guessed > 0 {
            facts.caveats(
                "no-or-coarse-time",
                self.guessed,
                "the log does not say whether its times are those of the start or the end; taken as the start",
            );
        }
    }
}

/// The fields of a log object with their names, reduced to letters and digits, outermost first.
struct Fields<'v>(Vec<(String, &'v str, &'v Value)>);

impl<'v> Fields<'v> {
    fn of(object: &'v Map<String, Value>) -> Self {
        let mut found = Vec::new();
        let mut level = vec![(String::new(), object)];
        for _ in 0..DEPTH {
            let mut next = Vec::new();
            for (path, object) in level {
                for (name, value) in object.iter().take(MOST) {
                    let plain = plain(name);
                    match value {
                        Value::Object(inner) => next.push((format!("{path}{plain}."), inner)),
                        _ => found.push((format!("{path}{plain}"), name.as_str(), value)),
                    }
                }
            }
            level = next;
            level.truncate(MOST);
            found.truncate(MOST);
        }
        Self(found)
    }

    /// The first field that says something, by the last part of its name; names in order of preference. `side` tells
    /// fields of the response from others.
    fn find<T>(&self, names: &[&str], side: Side, get: impl Fn(&str, &Value) -> Option<T>) -> Option<T> {
        names.iter().find_map(|wanted| {
            self.0.iter().find_map(|(path, name, value)| {
                let (outer, last) = path.rsplit_once('.').unwrap_or(("", path));
                let is_response = ["resp", "response", "respheaders", "responseheaders"]
                    .iter()
                    .any(|r| outer.split('.').any(|part| part == *r));
                let fits = match side {
                    Side::Response => is_response,
                    Side::Other => !is_response,
                    Side::Any => true,
                };
                (last == *wanted && fits).then(|| get(name, value)).flatten()
            })
        })
    }

    fn text(&self, names: &[&str]) -> Option<String> {
        self.find(names, Side::Other, |_, value| field::text(value))
    }
}

#[derive(Clone, Copy)]
enum Side {
    Response,
    Other,
    Any,
}

fn plain(name: &str) -> String {
    name.bytes().filter(u8::is_ascii_alphanumeric).map(|b| char::from(b.to_ascii_lowercase())).collect()
}

const SESSION: [&str; 4] = ["mcpsessionid", "reqmcpsessionid", "httpmcpsessionid", "sessionid"];

/// Reads one line.
pub fn line(text: &[u8], clock: &mut Clock, sink: &mut dyn FnMut(&mut RawExchange<'_>)) -> Line {
    let Ok(Value::Object(object)) = serde_json::from_slice(text) else { return Line::Foreign };
    let fields = Fields::of(&object);
    let Some(mut raw) = exchange(&fields) else { return Line::Foreign };
    times(&mut raw, &fields, clock);
    sink(&mut raw);
    Line::Read
}

fn exchange(fields: &Fields<'_>) -> Option<RawExchange<'static>> {
    let status = fields.find(
        &["status", "statuscode", "httpstatus", "httpstatuscode", "responsecode", "responsestatus", "downstreamstatus"],
        Side::Any,
        |_, value| field::number(value),
    );
    let method = fields.text(&["method", "httpmethod", "requestmethod", "httprequestmethod", "verb"]);
    let target = fields.text(&[
        "uri",
        "requesturi",
        "path",
        "requestpath",
        "httppath",
        "urlpath",
        "url",
        "requesturl",
        "httpurl",
        "originpath",
    ]);
    if method.is_none() && target.is_none() {
        return None;
    }
    // HTTP's methods only: some logs keep that of JSON-RPC under the same name.
    let method = method.filter(|m| m.bytes().all(|b| b.is_ascii_alphabetic()))?;
    let mut raw = RawExchange::new(method.to_ascii_uppercase(), url(fields, target.unwrap_or_default()));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by the filter")]
    let status = status.filter(|s| (100.0..1000.0).contains(s)).map(|s| s as u16);
    raw.status = status;
    raw.no_headers = true;
    raw.request_headers = request_headers(fields);
    raw.response_headers = response_headers(fields);
    let body = fields.find(&["requestbody", "reqbody"], Side::Other, |_, value| field::text(value));
    raw.request_body =
        body.map_or(RawBody::NotCaptured(Missing::NotRecorded), |b| RawBody::Whole(b.into_bytes().into()));
    raw.end = End::Unknown;
    Some(raw)
}

fn url(fields: &Fields<'_>, target: String) -> String {
    if target.contains("://") {
        return target;
    }
    match fields.text(&["host", "httphost", "requesthost", "authority", "servername"]) {
        Some(host) => {
            let scheme = fields.text(&["scheme", "requestscheme"]).unwrap_or_else(|| "http".into());
            format!("{scheme}://{host}{target}")
        }
        None => target,
    }
}

fn request_headers(fields: &Fields<'_>) -> Headers<'static> {
    let known: [(&str, &[&str]); 5] = [
        ("mcp-session-id", &SESSION),
        ("last-event-id", &["lasteventid", "reqlasteventid", "httplasteventid"]),
        ("mcp-protocol-version", &["mcpprotocolversion", "protocolversion", "httpmcpprotocolversion"]),
        ("accept", &["accept", "httpaccept"]),
        ("user-agent", &["useragent", "httpuseragent"]),
    ];
    known.iter().filter_map(|(name, names)| Some(((*name).into(), fields.text(names)?.into()))).collect()
}

fn response_headers(fields: &Fields<'_>) -> Headers<'static> {
    let session = ["respmcpsessionid", "responsemcpsessionid", "senthttpmcpsessionid", "upstreamhttpmcpsessionid"];
    let said = |_: &str, value: &Value| field::text(value);
    let session = fields
        .find(&session, Side::Any, said)
        .or_else(|| fields.find(&["mcpsessionid"], Side::Response, said))
        .map(|s| ("mcp-session-id".into(), s.into()));
    // A field of that name may be the request's; only an answer is an event stream.
    let media = fields
        .find(&["contenttype", "senthttpcontenttype", "responsecontenttype"], Side::Any, said)
        .filter(|m| m.starts_with("text/event-stream"))
        .map(|m| ("content-type".into(), m.into()));
    session.into_iter().chain(media).collect()
}

/// When it was. Logs that name nginx's variables, and Caddy's, are written at the end of an exchange; of others it is
/// not known.
fn times(raw: &mut RawExchange<'_>, fields: &Fields<'_>, clock: &mut Clock) {
    let moment = |names: &[&str]| fields.find(names, Side::Other, |_, value| field::moment(value));
    let duration = fields.find(
        &[
            "requesttime",
            "duration",
            "durationms",
            "latency",
            "latencyms",
            "elapsed",
            "elapsedms",
            "responsetime",
            "responsetimems",
            "totaltime",
        ],
        Side::Any,
        field::duration,
    );
    let start = moment(&["starttime", "startutc", "startlocal", "started", "starttimestamp"]);
    let other = moment(&["msec", "timestamp", "ts", "time", "timelocal", "timeiso8601", "datetime", "date"]);
    let nginx = fields.0.iter().any(|(path, ..)| path == "requesttime" || path == "msec");
    let caddy = fields.find(&["logger"], Side::Any, |_, v| field::text(v)).is_some_and(|l| l.starts_with("http.log"));
    let plus = |time: Time, by: Option<i64>| by.map(|d| time.plus(d));
    if let Some((time, fine)) = start {
        (raw.sent, raw.ended, raw.coarse_times) = (Some(time), plus(time, duration), !fine);
    } else if let Some((time, fine)) = other {
        raw.coarse_times = !fine;
        if nginx || caddy {
            (raw.sent, raw.ended) = (plus(time, duration.map(|d| -d)).or(Some(time)), Some(time));
        } else {
            clock.guessed += 1;
            (raw.sent, raw.ended) = (Some(time), plus(time, duration));
        }
    }
}
