//! Where packets were captured, and what shows it.

use super::wire::*;
use lastevent::{
    capture::{Context, FileFacts, Limits, digest::Names, pcap},
    model::Vantage,
    redact::Key,
};
use std::sync::atomic::AtomicU64;

const CALL: &str = "POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n\
    {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 36\r\n\r\n\
    {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";

/// One call with its answer.
fn called() -> Wire {
    let mut wire = Wire::new();
    let mut tcp = wire.open(40_000);
    wire.send(&mut tcp, C, CALL);
    wire.send(&mut tcp, S, ANSWER);
    wire.ack(&tcp, C);
    wire.fin(&mut tcp, C);
    wire.fin(&mut tcp, S);
    wire
}

fn side(packet: &[u8]) -> usize {
    if packet[12..16] == CLIENT { C } else { S }
}

/// The same with these hop limits.
fn hops(mut wire: Wire, limits: [u8; 2]) -> Wire {
    for (_, packet) in &mut wire.packets {
        packet[8] = limits[side(packet)];
    }
    wire
}

/// The same with the checksums of one side as a sending host leaves them to its hardware.
fn unfinished(mut wire: Wire, of: usize) -> Wire {
    for (_, packet) in wire.packets.iter_mut().filter(|(_, p)| side(p) == of) {
        let mut sum = 6 + (packet.len() - 20) as u32;
        sum += packet[12..20].chunks(2).map(|p| u32::from(p[0]) << 8 | u32::from(p[1])).sum::<u32>();
        sum = (sum & 0xffff) + (sum >> 16);
        packet[36..38].copy_from_slice(&(sum as u16).to_be_bytes());
    }
    wire
}

/// The same with a handshake of these delays.
fn shaken(mut wire: Wire, server: i64, client: i64) -> Wire {
    let start = wire.packets[0].0;
    wire.packets[1].0 = start + server;
    wire.packets[2].0 = start + server + client;
    for (i, packet) in wire.packets.iter_mut().enumerate().skip(3) {
        packet.0 = start + server + client + 1000 * i as i64;
    }
    wire
}

fn facts(wire: &Wire, asked: Option<Vantage>) -> FileFacts {
    let (key, names, consumed) = (Key::new(None, false), Names::default(), AtomicU64::new(0));
    let context = Context { key: &key, limits: Limits::default(), names: &names, consumed: &consumed, vantage: asked };
    let file = wire.file(101, &[]);
    let facts = pcap::read(&mut file.as_slice(), &context).expect("a readable capture");
    assert!(!facts.exchanges.is_empty());
    facts
}

/// Vantage of the file, that of its exchanges, and what shows it.
fn seen(wire: &Wire) -> (Vantage, Vec<Vantage>, String) {
    let facts = facts(wire, None);
    (facts.vantage, facts.exchanges.iter().map(|e| e.vantage).collect(), facts.vantage_shown_by.join("; "))
}

fn one(vantage: Vantage, why: &str) -> (Vantage, Vec<Vantage>, String) {
    (vantage, vec![vantage], why.to_owned())
}

#[test]
fn a_side_whose_hop_limit_no_router_lowered_is_near() {
    let why = |c: u8, s: u8| format!("hop limits are {c} from the client and {s} from the server");
    for (client, server, vantage) in [
        (64, 57, Vantage::Client),
        (128, 44, Vantage::Client),
        (63, 64, Vantage::Server),
        (52, 255, Vantage::Server),
        (63, 60, Vantage::Proxy),
    ] {
        assert_eq!(seen(&hops(called(), [client, server])), one(vantage, &why(client, server)));
    }
}

#[test]
fn routers_on_both_sides_prove_a_place_between_however_near_one_end_is() {
    let wire = shaken(hops(called(), [63, 53]), 14_000, 200);
    assert_eq!(seen(&wire), one(Vantage::Proxy, "hop limits are 63 from the client and 53 from the server"));
}

#[test]
fn hosts_of_one_network_are_not_told_apart_by_hop_limits() {
    let nothing = "hop limits, checksums and handshakes tell nothing";
    assert_eq!(seen(&called()), one(Vantage::Unknown, nothing));
    assert_eq!(seen(&hops(called(), [64, 128])), one(Vantage::Unknown, nothing));
    // A packet that went another way leaves it open, too.
    let mut mixed = hops(called(), [64, 57]);
    mixed.packets[4].1[8] = 64;
    assert_eq!(seen(&mixed), one(Vantage::Unknown, nothing));
}

#[test]
fn checksums_left_to_the_hardware_name_the_capturing_host() {
    let why = |side| format!("the {side}'s checksums were still to be computed by its hardware");
    assert_eq!(seen(&unfinished(called(), C)), one(Vantage::Client, &why("client")));
    assert_eq!(seen(&unfinished(called(), S)), one(Vantage::Server, &why("server")));
    // Both: a network that is virtual.
    let both = unfinished(unfinished(called(), C), S);
    assert_eq!(seen(&both), one(Vantage::Unknown, "hop limits, checksums and handshakes tell nothing"));
}

#[test]
fn the_side_that_answers_a_handshake_at_once_is_near() {
    let why = "in handshakes the server answers after 21.000 ms, the client after 0.040 ms";
    assert_eq!(seen(&shaken(called(), 21_000, 40)), one(Vantage::Client, why));
    let why = "in handshakes the server answers after 0.040 ms, the client after 21.000 ms";
    assert_eq!(seen(&shaken(called(), 40, 21_000)), one(Vantage::Server, why));
    let nothing = one(Vantage::Unknown, "hop limits, checksums and handshakes tell nothing");
    assert_eq!(seen(&shaken(called(), 900, 10)), nothing, "too short a way");
    assert_eq!(seen(&shaken(called(), 21_000, 4_000)), nothing, "between");
}

#[test]
fn traces_that_contradict_each_other_prove_nothing() {
    let wire = unfinished(hops(called(), [64, 57]), S);
    let why = "hop limits are 64 from the client and 57 from the server; \
               the server's checksums were still to be computed by its hardware; which contradict each other";
    assert_eq!(seen(&wire), one(Vantage::Unknown, why));
    let agreed = unfinished(hops(called(), [64, 57]), C);
    assert_eq!(seen(&agreed).0, Vantage::Client);
}

#[test]
fn on_one_host_both_ends_are_seen() {
    let mut wire = called();
    for (_, packet) in &mut wire.packets {
        packet[12..20].copy_from_slice(&[127, 0, 0, 1, 127, 0, 0, 1]);
    }
    assert_eq!(seen(&wire), one(Vantage::Unknown, "client and server are on one host, which sees both ends"));
}

#[test]
fn a_host_that_serves_one_hop_and_calls_on_another_is_a_proxy() {
    let mut wire = hops(called(), [57, 64]);
    let mut inner = hops(called(), [64, 60]);
    for (time, packet) in &mut inner.packets {
        *time += 500;
        // The proxy is the server of the first hop.
        let (proxy, upstream) = (SERVER, [203, 0, 113, 9]);
        let ends = if side(packet) == C { [proxy, upstream] } else { [upstream, proxy] };
        packet[12..20].copy_from_slice(&ends.concat());
    }
    wire.packets.extend(inner.packets);
    wire.packets.sort_by_key(|(time, _)| *time);
    let (vantage, exchanges, why) = seen(&wire);
    assert_eq!((vantage, exchanges), (Vantage::Proxy, vec![Vantage::Server, Vantage::Client]));
    assert!(why.ends_with("it is the server of one hop and the client of another"), "{why}");
}

#[test]
fn what_the_user_says_stands_above_what_is_found() {
    let facts = facts(&hops(called(), [64, 57]), Some(Vantage::Server));
    assert_eq!(facts.exchanges[0].vantage, Vantage::Server);
}
