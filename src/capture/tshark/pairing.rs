//! Requests and the responses to them: in order within each TCP connection.

use super::packet::{Message, Packet};
use crate::{
    capture::{Context, RawBody, RawExchange, encoded, header, message_body},
    model::{End, Missing},
    wire::http1::{Framing, RequestHead, ResponseHead, head_end},
};
use std::collections::{HashMap, VecDeque};

/// Requests that await their responses, by connection.
pub struct Pairing<'c, 'r> {
    context: &'c Context<'r>,
    open: HashMap<u32, VecDeque<RawExchange<'static>>>,
    entry: u32,
}

impl<'c, 'r> Pairing<'c, 'r> {
    /// Nothing awaits anything yet.
    pub fn new(context: &'c Context<'r>) -> Self {
        Self { context, open: HashMap::new(), entry: 0 }
    }

    /// Takes a message, and hands over the exchange that it completes.
    pub fn take(&mut self, packet: &Packet, message: Message, offset: u64, sink: &mut dyn FnMut(&RawExchange<'_>)) {
        let stream = packet.number("tcp.stream").unwrap_or_default();
        if message.is_request {
            let Some(raw) = self.request(packet, &message, offset) else { return };
            self.open.entry(stream).or_default().push_back(raw);
            return;
        }
        let Some(head) = ResponseHead::read(&message.bytes) else { return };
        if head.status < 200 {
            return;
        }
        let waiting = self.open.get_mut(&stream).and_then(VecDeque::pop_front);
        let mut raw = waiting.unwrap_or_else(|| self.orphan(packet, offset));
        self.response(&mut raw, packet, &message, &head);
        sink(&raw);
    }

    /// Hands over the requests that are not answered in this file, and says how many there are.
    pub fn finish(self, sink: &mut dyn FnMut(&RawExchange<'_>)) -> u64 {
        let mut left: Vec<_> = self.open.into_values().flatten().collect();
        left.sort_by_key(|raw| raw.at.entry);
        left.iter().for_each(sink);
        left.len() as u64
    }

    fn request(&mut self, packet: &Packet, message: &Message, offset: u64) -> Option<RawExchange<'static>> {
        let head = RequestHead::read(&message.bytes)?;
        let mut raw = self.new_exchange(head.method.clone().into_owned(), String::new(), offset);
        raw.at.frame = packet.number("frame.number");
        raw.sent = packet.time();
        self.peers(&mut raw, packet, true);
        let framing = if message.is_dissected { Framing::Close } else { Framing::of_request(&head) };
        let (body, _) = message_body::unframed(behind_head(&message.bytes), framing);
        let fields = owned(&head.fields);
        let (body, _) = encoded::decoded(&fields, body, Vec::new(), &self.context.limits);
        raw.request_body = message_body::owned(body);
        let host = header(&fields, "host").map(str::to_owned);
        raw.url = match host {
            _ if head.target.contains("://") => head.target.clone().into_owned(),
            Some(host) => format!("http://{host}{}", head.target),
            None => head.target.clone().into_owned(),
        }
        .into();
        raw.request_headers = fields;
        raw.at.tcp_stream = packet.number("tcp.stream");
        Some(raw)
    }

    /// A response whose request is not in the file.
    fn orphan(&mut self, packet: &Packet, offset: u64) -> RawExchange<'static> {
        let mut raw = self.new_exchange("MESSAGE".into(), "tshark:".into(), offset);
        raw.at.frame = packet.number("frame.number");
        raw.at.tcp_stream = packet.number("tcp.stream");
        self.peers(&mut raw, packet, false);
        raw
    }

    fn new_exchange(&mut self, method: String, url: String, offset: u64) -> RawExchange<'static> {
        let mut raw = RawExchange::new(method, url);
        (raw.at.entry, raw.at.offset) = (self.entry, Some(offset));
        self.entry = self.entry.saturating_add(1);
        raw
    }

    fn response(&self, raw: &mut RawExchange<'static>, packet: &Packet, message: &Message, head: &ResponseHead<'_>) {
        raw.status = Some(head.status);
        raw.response_headers = owned(&head.fields);
        let framing = match Framing::of_response(&raw.method, head) {
            Framing::Length(_) | Framing::Chunked if message.is_dissected => Framing::Close,
            framing => framing,
        };
        let (body, complete) = message_body::unframed(behind_head(&message.bytes), framing);
        let body = match (body, complete) {
            // Without the rest nobody knows whether it was cut on the wire or only left out here.
            (RawBody::Cut(bytes, _), _) if bytes.is_empty() => RawBody::NotCaptured(Missing::NotRecorded),
            (RawBody::Cut(bytes, _), _) => RawBody::Cut(bytes, Missing::NotRecorded),
            (body, None) if body.bytes().is_empty() => RawBody::NotCaptured(Missing::NotRecorded),
            (body, _) => body,
        };
        // A message that tshark put together ends with its packet.
        let ends = complete == Some(true) || (message.is_dissected && !body.bytes().is_empty());
        raw.end = if complete == Some(true) { End::Clean } else { End::Unknown };
        raw.ended = packet.time().filter(|_| ends);
        raw.head = packet.time().filter(|_| message.is_single);
        let (body, _) = if message.is_dissected {
            (body, Vec::new())
        } else {
            encoded::decoded(&raw.response_headers, body, Vec::new(), &self.context.limits)
        };
        raw.response_body = message_body::owned(body);
    }

    fn peers(&self, raw: &mut RawExchange<'_>, packet: &Packet, of_request: bool) {
        let hash = |text: &str| self.context.key.hash(b'a', text.as_bytes());
        let (client, server) = (packet.side(of_request), packet.side(!of_request));
        raw.at.client = client.map(|(ip, _)| hash(ip));
        raw.at.server = server.map(|(ip, port)| hash(&format!("{ip}:{port}")));
        raw.at.connection = client.zip(server).map(|((ci, cp), (si, sp))| {
            let stream = packet.get("tcp.stream").unwrap_or_default();
            hash(&format!("{ci}:{cp} {si}:{sp} {stream}"))
        });
    }
}

fn behind_head(message: &[u8]) -> &[u8] {
    head_end(message, 0).and_then(|end| message.get(end..)).unwrap_or_default()
}

fn owned(fields: &crate::wire::http1::Fields<'_>) -> crate::capture::Headers<'static> {
    fields.iter().map(|(n, v)| (n.clone().into_owned().into(), v.clone().into_owned().into())).collect()
}
