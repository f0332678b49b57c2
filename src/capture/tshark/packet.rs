//! One packet: the few fields that matter, found wherever they stand; repeated ones are kept.

use crate::{
    model::Time,
    wire::{
        http1::{Likeness, RequestHead, ResponseHead, like_request, like_response},
        json::{Json, Kind},
        timestamp::Timestamp,
    },
};

/// How deep layers are searched.
const DEPTH: u32 = 24;

/// The fields that are kept.
const WANTED: [&str; 17] = [
    "frame.number",
    "frame.time_epoch",
    "ip.src",
    "ip.dst",
    "ipv6.src",
    "ipv6.dst",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.stream",
    "tcp.payload",
    "tcp.reassembled.data",
    "http.request.method",
    "http.request.full_uri",
    "http.request.line",
    "http.response.code",
    "http.response.line",
    "http.file_data",
];

/// The fields of a packet, in order.
#[derive(Debug, Default)]
pub struct Packet(Vec<(&'static str, String)>);

/// An HTTP/1 message, whole or as far as it was captured.
pub struct Message {
    /// It is a request.
    pub is_request: bool,
    /// Head and body as on the wire.
    pub bytes: Vec<u8>,
    /// One packet holds all of it: its time is that of the head, too.
    pub is_single: bool,
    /// The bytes were put together from dissected fields, chunks undone.
    pub is_dissected: bool,
}

impl Packet {
    /// The packet that an object describes; none where it is no JSON.
    pub fn of(text: &[u8]) -> Option<Self> {
        let mut json = Json::new(text, &[0; 16]);
        json.set_digesting(false);
        let mut packet = Self::default();
        packet.walk(&mut json, DEPTH).ok()?;
        Some(packet)
    }

    fn walk(&mut self, json: &mut Json<'_>, depth: u32) -> Result<u128, crate::wire::json::Malformed> {
        json.object(|json, name| {
            let wanted = wanted(&name.to_str());
            match json.kind()? {
                Kind::Object if depth > 0 => self.walk(json, depth - 1),
                Kind::Array if wanted.is_some() => json.array(|json| self.leaf(json, wanted)),
                // Two layers of one kind, where names may not be repeated.
                Kind::Array if depth > 0 => json.array(|json| match json.kind()? {
                    Kind::Object => self.walk(json, depth - 1),
                    _ => json.value(),
                }),
                _ => self.leaf(json, wanted),
            }
        })
    }

    fn leaf(
        &mut self,
        json: &mut Json<'_>,
        wanted: Option<&'static str>,
    ) -> Result<u128, crate::wire::json::Malformed> {
        if let (Some(wanted), Kind::String) = (wanted, json.kind()?) {
            let text = json.text()?.to_str().into_owned();
            self.0.push((wanted, text));
            return Ok(0);
        }
        json.value()
    }

    /// The first value of a field.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    fn all<'p>(&'p self, name: &str) -> impl Iterator<Item = &'p str> {
        self.0.iter().filter(move |(n, _)| *n == name).map(|(_, value)| value.as_str())
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.get(name)?.parse().ok()
    }

    /// When the packet was captured: seconds since the epoch, or RFC 3339.
    pub fn time(&self) -> Option<Time> {
        let text = self.get("frame.time_epoch")?;
        let Some((seconds, fraction)) = text.split_once('.').filter(|(s, _)| s.bytes().all(|b| b.is_ascii_digit()))
        else {
            return Timestamp::parse(text.as_bytes()).map(|t| Time(t.micros));
        };
        let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
        let seconds = seconds.parse::<i64>().ok()?.checked_mul(1_000_000)?;
        Some(Time(seconds.checked_add(micros.parse().ok()?)?))
    }

    /// Address and port of one side.
    pub fn side(&self, of_source: bool) -> Option<(&str, &str)> {
        let names =
            if of_source { ["ip.src", "ipv6.src", "tcp.srcport"] } else { ["ip.dst", "ipv6.dst", "tcp.dstport"] };
        Some((self.get(names[0]).or_else(|| self.get(names[1]))?, self.get(names[2])?))
    }

    /// The message that this packet ends.
    pub fn message(&self) -> Option<Message> {
        let (request, response) = (self.get("http.request.method").is_some(), self.get("http.response.code").is_some());
        if !request && !response {
            return None;
        }
        for (name, is_single) in [("tcp.reassembled.data", false), ("tcp.payload", true)] {
            let Some(bytes) = self.get(name).and_then(unhex) else { continue };
            let fits = if request {
                like_request(&bytes) == Likeness::Yes && RequestHead::read(&bytes).is_some()
            } else {
                like_response(&bytes) == Likeness::Yes && ResponseHead::read(&bytes).is_some()
            };
            if fits {
                return Some(Message { is_request: request, bytes, is_single, is_dissected: false });
            }
        }
        Some(self.dissected(request))
    }

    /// The message as tshark's fields have it, where the bytes were left out.
    fn dissected(&self, is_request: bool) -> Message {
        let (first, line) = if is_request {
            let method = self.get("http.request.method").unwrap_or_default();
            let target = self.get("http.request.full_uri").unwrap_or("/");
            (format!("{method} {target} HTTP/1.1\r\n"), "http.request.line")
        } else {
            (format!("HTTP/1.1 {} \r\n", self.get("http.response.code").unwrap_or_default()), "http.response.line")
        };
        let mut bytes = first.into_bytes();
        for field in self.all(line) {
            bytes.extend_from_slice(field.trim_end_matches(['\r', '\n', '\\']).as_bytes());
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"\r\n");
        if let Some(body) = self.get("http.file_data") {
            // Newer versions print it as hex.
            let hex = body.len() > 4 && body.as_bytes()[2] == b':';
            bytes.extend(unhex(body).filter(|_| hex).unwrap_or_else(|| body.as_bytes().to_vec()));
        }
        Message { is_request, bytes, is_single: false, is_dissected: true }
    }
}

/// The field that a name stands for: `tcp.payload`, or `tcp_tcp_payload` as Elasticsearch wants it.
fn wanted(name: &str) -> Option<&'static str> {
    WANTED.into_iter().find(|wanted| {
        if *wanted == name {
            return true;
        }
        let layer = wanted.split('.').next().unwrap_or_default();
        let rest = name.strip_prefix(layer).and_then(|r| r.strip_prefix('_'));
        rest.is_some_and(|r| {
            r.len() == wanted.len() && r.bytes().zip(wanted.bytes()).all(|(a, b)| a == b || (a == b'_' && b == b'.'))
        })
    })
}

/// Bytes of `48:54:54` or `485454`.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut digits = text.bytes().filter(|b| *b != b':').map(|b| char::from(b).to_digit(16));
    while let Some(high) = digits.next() {
        bytes.push(u8::try_from(high? * 16 + digits.next()??).ok()?);
    }
    (!bytes.is_empty()).then_some(bytes)
}
