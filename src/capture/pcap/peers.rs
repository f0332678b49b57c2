//! The two ends of a connection, and how exchanges are addressed by them.

use crate::{capture::Context, model::Address};
use std::net::{IpAddr, SocketAddr};

/// Client and server of one connection.
pub struct Peers {
    client: SocketAddr,
    authority: String,
    tcp_stream: u32,
    /// How often the same pair of addresses and ports has been used before.
    generation: u32,
    address: Option<Address>,
}

impl Peers {
    /// The ends of the connection with this number.
    pub fn new(client: (IpAddr, u16), server: (IpAddr, u16), tcp_stream: u32, generation: u32) -> Self {
        let authority = SocketAddr::from(server).to_string();
        Self { client: client.into(), authority, tcp_stream, generation, address: None }
    }

    /// The server's address and port.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The address that the exchanges of this connection share.
    pub fn address(&mut self, context: &Context<'_>) -> Address {
        let Self { client, authority, tcp_stream, generation, .. } = self;
        let address = self.address.get_or_insert_with(|| {
            let hash = |text: &str| Some(context.key.hash(b'a', text.as_bytes()));
            Address {
                tcp_stream: Some(*tcp_stream),
                server: hash(authority),
                client: hash(&client.ip().to_string()),
                connection: hash(&format!("{client} {authority} {generation}")),
                ..Address::default()
            }
        });
        address.clone()
    }
}
