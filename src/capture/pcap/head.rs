//! The head of a message, from either version of HTTP, and the URL that it names.

use crate::wire::http1::{Fields, RequestHead, ResponseHead, lookup};

/// The head of a message.
pub enum Head {
    /// As bytes of HTTP/1, perhaps only their beginning.
    Bytes(Vec<u8>),
    /// A request that was read from HTTP/2.
    Request {
        /// The method.
        method: String,
        /// The URL, or what is known of it.
        target: String,
        /// Its fields.
        fields: Vec<(String, String)>,
    },
    /// A response that was read from HTTP/2.
    Response {
        /// The status.
        status: u16,
        /// Its fields.
        fields: Vec<(String, String)>,
    },
}

impl Head {
    /// The request that it is.
    pub fn request(&self) -> Option<RequestHead<'_>> {
        match self {
            Self::Bytes(bytes) => RequestHead::read(bytes),
            Self::Request { method, target, .. } => {
                let (method, target) = (method.as_str().into(), target.as_str().into());
                Some(RequestHead { method, target, fields: self.fields() })
            }
            Self::Response { .. } => None,
        }
    }

    /// The response that it is.
    pub fn response(&self) -> Option<ResponseHead<'_>> {
        match self {
            Self::Bytes(bytes) => ResponseHead::read(bytes),
            Self::Response { status, .. } => {
                Some(ResponseHead { status: *status, is_http10: false, fields: self.fields() })
            }
            Self::Request { .. } => None,
        }
    }

    /// The fields of a head that was read from HTTP/2.
    pub fn fields(&self) -> Fields<'_> {
        match self {
            Self::Bytes(_) => Fields::new(),
            Self::Request { fields, .. } | Self::Response { fields, .. } => {
                fields.iter().map(|(name, value)| (name.as_str().into(), value.as_str().into())).collect()
            }
        }
    }

    /// Bytes of memory that it takes, roughly.
    pub fn size(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Request { fields, .. } | Self::Response { fields, .. } => fields.len() * 100,
        }
    }
}

/// The absolute URL of a request; `authority` stands for a missing `Host`.
pub fn url(head: &RequestHead<'_>, authority: &str) -> String {
    let target = head.target.as_ref();
    if target.contains("://") {
        return target.to_owned();
    }
    if head.method.eq_ignore_ascii_case("CONNECT") {
        return format!("http://{target}");
    }
    let host = lookup(&head.fields, "host").filter(|host| !host.is_empty()).unwrap_or(authority);
    let slash = if target.starts_with('/') { "" } else { "/" };
    format!("http://{host}{slash}{target}")
}
