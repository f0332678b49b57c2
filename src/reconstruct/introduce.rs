//! Who speaks which revision in a session: what `initialize` negotiated, else what headers say.

use super::build::Builder;
use crate::model::{Content, Era, Exchange, Implementation, Message, MessageKind, Transport};

impl Builder<'_> {
    /// Reads revision and names from `initialize`, its answer, and headers.
    pub(super) fn introduce(&mut self) {
        let mut negotiated = None;
        let mut header = None;
        let mut offered = None;
        let ids = initialize_ids(self);
        for &index in &self.seed.exchanges {
            let exchange = self.exchange(index);
            for message in exchange.messages() {
                let Some(detail) = &message.detail else { continue };
                if let Some((name, version)) = &detail.implementation {
                    self.session
                        .client
                        .get_or_insert_with(|| Implementation { name: name.clone(), version: version.clone() });
                }
                if message.is("initialize") {
                    offered = detail.protocol_version.as_deref().and_then(Era::of_version).or(offered);
                }
            }
            for message in answers(exchange) {
                let Some(detail) = &message.detail else { continue };
                if let Some((name, version)) = &detail.implementation {
                    self.session
                        .server
                        .get_or_insert_with(|| Implementation { name: name.clone(), version: version.clone() });
                }
                if message.kind == MessageKind::Response && message.id.as_ref().is_some_and(|id| ids.contains(id)) {
                    negotiated = negotiated.or(detail.protocol_version.as_deref().and_then(Era::of_version));
                }
            }
            if !super::scope::initializes(exchange) {
                header = header.or(exchange.headers.protocol_version.as_deref().and_then(Era::of_version));
            }
        }
        self.session.complete_from_start =
            negotiated.is_some() || self.seed.transport == Transport::Modern || !ids.is_empty();
        self.session.era = match self.seed.transport {
            Transport::Modern => header.or(offered).unwrap_or(Era::Modern2026).max(Era::Modern2026),
            Transport::LegacySse => negotiated.or(header).unwrap_or(Era::Legacy2024),
            // Before any answer, a header names what was negotiated; a modern one is not what a session speaks.
            _ => negotiated.or(header).unwrap_or(Era::March2025).min(Era::November2025),
        };
    }
}

fn initialize_ids(builder: &Builder<'_>) -> Vec<std::sync::Arc<str>> {
    let exchanges = builder.seed.exchanges.iter().map(|x| builder.exchange(*x));
    let requests =
        exchanges.flat_map(Exchange::messages).filter(|m| m.kind == MessageKind::Request && m.is("initialize"));
    requests.filter_map(|m| m.id.clone()).take(64).collect()
}

/// Every message of a response, event stream or not.
pub fn answers(exchange: &Exchange) -> impl Iterator<Item = &Message> {
    let (messages, events) = match exchange.response.content() {
        Some(Content::Messages(messages)) => (messages.as_slice(), &[][..]),
        Some(Content::Events(log)) => (&[][..], log.messages.as_slice()),
        _ => (&[][..], &[][..]),
    };
    messages.iter().chain(events.iter().map(|(_, message)| message))
}
