//! One recording, written by its recorder as HAR and in its own format, is one account.

use super::entries::*;
use lastevent::{
    capture::{Limits, flows},
    model::{Body, Content, End, Exchange, Missing, Side, Time},
};

/// The exchanges of a recording in both formats, in the order of the file.
fn both(name: &str) -> [Vec<Exchange>; 2] {
    let read = |kind: &str, ext: &str| std::fs::read(format!("testdata/{kind}/{name}.{ext}")).unwrap();
    let har = read_bytes(&read("har", "har")).unwrap();
    let flow = with(Limits::default(), None, |context| flows::read(&mut &read("flows", "flow")[..], context)).unwrap();
    assert!(har.caveats.is_empty(), "{:?}", har.caveats);
    assert_eq!((har.entries, har.vantage), (flow.entries, flow.vantage));
    [har.exchanges, flow.exchanges]
}

/// Times agree but for the rounding of milliseconds.
fn close(a: Option<Time>, b: Option<Time>) -> bool {
    a.zip(b).map_or(a == b, |(a, b)| a.since(b).abs() <= 2)
}

#[test]
fn mitmproxys_har_agrees_with_its_flows_in_all_but_what_it_lost() {
    let mut cut = 0;
    for name in ["drop-and-resume", "drop-and-resume-timed"] {
        let [har, flow] = both(name);
        assert_eq!(har.len(), 8);
        for (i, (h, f)) in har.iter().zip(&flow).enumerate() {
            assert_eq!((h.method, h.status, &h.endpoint), (f.method, f.status, &f.endpoint), "{name} {i}");
            assert_eq!((&h.session, &h.issued, &h.cursor), (&f.session, &f.issued, &f.cursor), "{name} {i}");
            assert_eq!(h.request, f.request, "{name} {i}");
            assert!(close(h.sent, f.sent) && close(h.head, f.head), "{name} {i}");
            // When the connection broke stands in the flow only.
            assert!(close(h.ended, f.ended) || (h.ended, h.end) == (None, End::Abrupt(Side::Unknown)), "{name} {i}");
            match (&h.response, &f.response) {
                (Body::Partial(Content::Events(h_log), why), Body::Partial(Content::Events(f_log), _)) => {
                    assert_eq!((&h_log.events, *why), (&f_log.events, Missing::CutOff), "{name} {i}");
                    assert_eq!((h.end, h.ended), (End::Abrupt(Side::Unknown), None), "{name} {i}");
                    cut += 1;
                }
                (Body::Complete(Content::Events(h_log)), Body::Complete(Content::Events(f_log))) => {
                    assert_eq!((&h_log.events, &h_log.messages), (&f_log.events, &f_log.messages), "{name} {i}");
                }
                // The text of no length, received in no time, of a body that was lost.
                (Body::NotCaptured(why), _) => {
                    assert_eq!((*why, h.end), (Missing::Streamed, End::Abrupt(Side::Unknown)), "{name} {i}");
                }
                (h, f) => assert_eq!(h, f, "{name} {i}"),
            }
        }
    }
    // The call that was cut off, and the stream that was resumed and cut off again.
    assert_eq!(cut, 2);
}
