//! One JSON-RPC message, rebuilt from its facts.

use crate::model::{Detail, Message, MessageFlags, MessageKind, ToolHints};
use std::fmt::Write as _;

/// The message came in a batch.
pub fn is_in_batch(message: &Message) -> bool {
    message.flags.contains(MessageFlags::BATCH)
}

/// Its JSON text, on one line.
pub fn text(message: &Message) -> String {
    if message.flags.contains(MessageFlags::EMPTY_OBJECT) {
        return "{}".to_owned();
    }
    let mut members = Members::default();
    if !message.flags.contains(MessageFlags::NO_VERSION) {
        members.text("jsonrpc", "2.0");
    }
    match &message.id {
        // The id is JSON text already.
        Some(id) => members.raw("id", id),
        None if message.flags.contains(MessageFlags::NULL_ID) => members.raw("id", "null"),
        None if message.flags.contains(MessageFlags::BAD_ID) => members.raw("id", "{}"),
        None => {}
    }
    let none = Detail::default();
    let detail = message.detail.as_deref().unwrap_or(&none);
    match message.kind {
        MessageKind::Request | MessageKind::Notification => {
            members.text("method", message.method.as_deref().unwrap_or_default());
            let params = params(message, detail);
            if !params.is_empty() {
                members.raw("params", &params.object());
            }
        }
        MessageKind::Response => members.raw("result", &result(message, detail).object()),
        MessageKind::Error => members.raw("error", &error(message, detail).object()),
        MessageKind::Other => members.text("redacted", &digest(message.payload.0)),
    }
    members.object()
}

/// A progress notification: its token and the digest of its text.
pub fn progress(token: Option<u64>, payload: u64) -> String {
    let mut params = Members::default();
    if let Some(token) = token {
        params.text("progressToken", &format!("t_{token:016x}"));
    }
    params.text("redacted", &format!("d_{payload:016x}"));
    let params = params.object();
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{params}}}")
}

/// What stands for a payload: its digest.
pub fn digest(payload: u128) -> String {
    format!("d_{payload:032x}")
}

fn params(message: &Message, detail: &Detail) -> Members {
    let mut params = Members::default();
    let by_uri = message.method.as_deref().is_some_and(|m| m.starts_with("resources/"));
    if let Some(name) = &message.name {
        params.text(if by_uri { "uri" } else { "name" }, name);
    }
    if !detail.version_in_meta {
        params.optional("protocolVersion", detail.protocol_version.as_deref());
    }
    if let Some(id) = &detail.cancels {
        params.raw("requestId", id);
    }
    params.hash("taskId", detail.task);
    params.optional("status", detail.task_status.as_deref());
    if message.flags.contains(MessageFlags::WANTS_TASK) {
        params.raw("task", "{}");
    }
    if message.flags.contains(MessageFlags::INPUT_RETRY) {
        params.text("requestState", "redacted");
    }
    if let (Some(named), false) = (&detail.implementation, detail.version_in_meta) {
        params.raw("clientInfo", &implementation(named));
    }
    // What the request's arguments are told apart by; `_meta` is no part of them.
    if message.flags.contains(MessageFlags::DISTINCTIVE) || !message.arguments.is_none() {
        params.text(
            "redacted",
            &digest(if message.arguments.is_none() { message.payload.0 } else { message.arguments.0 }),
        );
    }
    let meta = meta(message, detail);
    if !meta.is_empty() {
        params.raw("_meta", &meta.object());
    }
    params
}

fn meta(message: &Message, detail: &Detail) -> Members {
    let mut meta = Members::default();
    meta.hash("progressToken", message.token);
    if detail.version_in_meta {
        meta.optional("io.modelcontextprotocol/protocolVersion", detail.protocol_version.as_deref());
        if let Some(named) = &detail.implementation {
            meta.raw("io.modelcontextprotocol/clientInfo", &implementation(named));
        }
    }
    if let Some(task) = detail.related_task {
        meta.raw("io.modelcontextprotocol/related-task", &format!("{{\"taskId\":\"t_{task:016x}\"}}"));
    }
    meta.hash("io.modelcontextprotocol/subscriptionId", detail.subscription);
    meta
}

fn result(message: &Message, detail: &Detail) -> Members {
    let mut result = Members::default();
    if detail.creates_task {
        let mut task = Members::default();
        task.hash("taskId", detail.task);
        task.optional("status", detail.task_status.as_deref());
        result.raw("task", &task.object());
    } else {
        result.hash("taskId", detail.task);
        result.optional("status", detail.task_status.as_deref());
    }
    result.optional("protocolVersion", detail.protocol_version.as_deref().filter(|_| !detail.version_in_meta));
    if let (Some(named), false) = (&detail.implementation, detail.version_in_meta) {
        result.raw("serverInfo", &implementation(named));
    }
    if detail.input_required {
        result.text("resultType", "input_required");
    }
    if message.flags.contains(MessageFlags::TOOL_ERROR) {
        result.raw("isError", "true");
    }
    if !detail.tools.is_empty() {
        let tools: Vec<_> = detail.tools.iter().map(tool).collect();
        result.raw("tools", &format!("[{}]", tools.join(",")));
    }
    if message.flags.contains(MessageFlags::DISTINCTIVE) {
        result.text("redacted", &digest(message.payload.0));
    }
    let meta = meta(message, detail);
    if !meta.is_empty() {
        result.raw("_meta", &meta.object());
    }
    result
}

fn error(message: &Message, detail: &Detail) -> Members {
    let mut error = Members::default();
    if let Some(code) = detail.error_code {
        error.raw("code", &code.to_string());
    }
    let mut words = Vec::new();
    words.extend(detail.session_words.then_some("unknown session"));
    words.extend(detail.busy_words.then_some("already there"));
    words.extend(detail.missing_session_words.then_some("the session id is missing"));
    error.text("message", &if words.is_empty() { "redacted".to_owned() } else { words.join(", ") });
    error.text("data", &digest(message.payload.0));
    error
}

fn tool(hints: &ToolHints) -> String {
    let mut annotations = Members::default();
    let all = [
        ("readOnlyHint", hints.read_only),
        ("idempotentHint", hints.idempotent),
        ("destructiveHint", hints.destructive),
    ];
    for (name, hint) in all {
        if let Some(hint) = hint {
            annotations.raw(name, if hint { "true" } else { "false" });
        }
    }
    let mut tool = Members::default();
    tool.text("name", &hints.name);
    tool.raw("annotations", &annotations.object());
    tool.object()
}

fn implementation((name, version): &(std::sync::Arc<str>, std::sync::Arc<str>)) -> String {
    let mut named = Members::default();
    named.text("name", name);
    named.text("version", version);
    named.object()
}

/// The members of an object, in the order in which they are written.
#[derive(Default)]
struct Members(String);

impl Members {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn raw(&mut self, name: &str, json: &str) {
        let comma = if self.0.is_empty() { "" } else { "," };
        let _ = write!(self.0, "{comma}\"{name}\":{json}");
    }

    fn text(&mut self, name: &str, text: &str) {
        self.raw(name, &serde_json::Value::from(text).to_string());
    }

    fn optional(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(name, text);
        }
    }

    fn hash(&mut self, name: &str, hash: Option<u64>) {
        if let Some(hash) = hash {
            self.text(name, &format!("t_{hash:016x}"));
        }
    }

    fn object(self) -> String {
        format!("{{{}}}", self.0)
    }
}
