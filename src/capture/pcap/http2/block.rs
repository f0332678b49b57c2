//! The fields of a header block as the head of a message.

use crate::{capture::pcap::head::Head, wire::hpack::Block};

/// The fields of one block, pseudo-fields apart.
#[derive(Default)]
pub struct Fields {
    method: Option<String>,
    scheme: Option<String>,
    authority: Option<String>,
    path: Option<String>,
    status: Option<String>,
    rest: Vec<(String, String)>,
    /// Some of them are not known.
    pub is_torn: bool,
}

impl Fields {
    /// Sorts what a block gave.
    pub fn new(block: Block) -> Self {
        let mut fields = Self { is_torn: block.unknown > 0, ..Self::default() };
        for (name, value) in block.fields {
            let (name, value) = (text(&name), text(&value));
            match name.as_str() {
                ":method" => fields.method = Some(value),
                ":scheme" => fields.scheme = Some(value),
                ":authority" => fields.authority = Some(value),
                ":path" => fields.path = Some(value),
                ":status" => fields.status = Some(value),
                _ => fields.rest.push((name, value)),
            }
        }
        fields
    }

    /// A response that is not the final one.
    pub fn is_interim(&self) -> bool {
        self.status.as_ref().is_some_and(|status| status.len() == 3 && status.starts_with('1'))
    }

    /// The head of a request; none where its method or its path are not known.
    pub fn request(self) -> Option<Head> {
        let (method, path) = (self.method?, self.path.unwrap_or_default());
        let mut fields = self.rest;
        let host = fields.iter().find(|(name, _)| name == "host").map(|(_, value)| value.clone());
        let authority = self.authority.or(host);
        if path.is_empty() && method != "CONNECT" {
            return None;
        }
        let scheme = self.scheme.as_deref().unwrap_or("http");
        let target = match &authority {
            Some(authority) if method == "CONNECT" => authority.clone(),
            Some(authority) => format!("{scheme}://{authority}{path}"),
            None => path,
        };
        if let Some(authority) = authority
            && fields.iter().all(|(name, _)| name != "host")
        {
            fields.insert(0, ("host".into(), authority));
        }
        Some(Head::Request { method, target, fields })
    }

    /// The head of a response; none where its status is not known.
    pub fn response(self) -> Option<Head> {
        let status = self.status?.parse().ok()?;
        Some(Head::Response { status, fields: self.rest })
    }
}

/// UTF-8, or else Latin-1.
fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&b| char::from(b)).collect(),
    }
}
