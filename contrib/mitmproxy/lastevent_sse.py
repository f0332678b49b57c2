"""mitmproxy addon: records event streams so that `lastevent` can judge them.

    mitmdump -s lastevent_sse.py -w run.flow --mode reverse:http://127.0.0.1:3000 -p 8080

Without it mitmproxy either holds an event stream back until it ends, which changes what client and server do, or
passes it through and forgets its body, the more so when the stream is aborted. With it

* event streams pass through at once, chunk by chunk;
* their bodies are kept, also that part of an aborted one which had arrived;
* the arrival of each chunk is kept in the flow's comment: {"sse_chunks": [[seconds since the epoch, bytes], ...]}.

Nothing else is changed. A stream that is still open when mitmdump ends is not in the file: close it first.
"""

import json
import time


class EventStreams:
    def __init__(self):
        # By flow id, for streams that have not ended yet: arrivals and bytes.
        self.open = {}

    def responseheaders(self, flow):
        if not flow.response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            return
        chunks, body = self.open[flow.id] = ([], [])

        def pass_through(data: bytes) -> bytes:
            if data:
                chunks.append([round(time.time(), 6), len(data)])
                body.append(data)
            return data

        flow.response.stream = pass_through

    def response(self, flow):
        self.ended(flow)

    def error(self, flow):
        self.ended(flow)

    def ended(self, flow):
        chunks, body = self.open.pop(flow.id, (None, None))
        if chunks is None or flow.response is None:
            return
        if flow.response.raw_content is None:
            flow.response.raw_content = b"".join(body)
        if not flow.comment:
            flow.comment = json.dumps({"sse_chunks": chunks})


addons = [EventStreams()]
