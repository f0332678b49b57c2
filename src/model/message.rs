//! One JSON-RPC message as facts: kind, typed id, method, digests; never its payload.

use super::Id128;
use bitflags::bitflags;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Who sent a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the client to the server.
    Client,
    /// From the server to the client: sampling, elicitation, roots, ping.
    Server,
}

/// What a JSON value is in JSON-RPC (reconstruction.md, Message classification).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageKind {
    /// `method` and `id`.
    Request,
    /// `method` without `id`.
    Notification,
    /// `result`.
    Response,
    /// `error`, an object.
    Error,
    /// JSON that is no JSON-RPC message; `{}` is one of these and no fault.
    Other,
}

bitflags! {
    /// Yes-or-no facts of a message.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(transparent)]
    pub struct MessageFlags: u16 {
        /// Member of a batch (an array body).
        const BATCH = 1;
        /// The id is present and `null`.
        const NULL_ID = 1 << 1;
        /// `jsonrpc` is absent or not `"2.0"`.
        const NO_VERSION = 1 << 2;
        /// The value is exactly `{}` (a replayed priming event of some stores).
        const EMPTY_OBJECT = 1 << 3;
        /// `result.isError` is true: the tool failed, the call was answered.
        const TOOL_ERROR = 1 << 4;
        /// `params.task` asks for a task-augmented request.
        const WANTS_TASK = 1 << 5;
        /// `params.inputResponses` or `params.requestState`: a retry after `input_required` (2026-07-28).
        const INPUT_RETRY = 1 << 6;
        /// The payload has a member that could tell it from another (not `{}`, not an empty result).
        const DISTINCTIVE = 1 << 7;
        /// `id` is present with a value that JSON-RPC does not allow (a bool, an array, an object).
        const BAD_ID = 1 << 8;
        /// `error` is present but no object.
        const BAD_ERROR = 1 << 9;
        /// The value could not be read to its end (cut, malformed, too deep).
        const UNREADABLE = 1 << 10;
    }
}

/// Annotations of one tool of a captured `tools/list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolHints {
    /// The tool's name.
    pub name: Arc<str>,
    /// `readOnlyHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// `idempotentHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// `destructiveHint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
}

/// Facts that few messages have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Detail {
    /// `error.code`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<i64>,
    /// The error's message speaks of a session that is not known (rules.md, unknown-session-not-404, hint words).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub session_words: bool,
    /// The error's message says that something is already there or busy.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub busy_words: bool,
    /// The error's message says that a session header is missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub missing_session_words: bool,
    /// `params.protocolVersion` or `result.protocolVersion` of `initialize`, or `_meta` protocol version (2026-07-28).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<Arc<str>>,
    /// The version stands in `_meta["io.modelcontextprotocol/protocolVersion"]`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub version_in_meta: bool,
    /// `result.task.taskId`, `params.taskId`, `result.taskId`: keyed hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<u64>,
    /// `result.task` is present (CreateTaskResult), or `resultType` is `task`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub creates_task: bool,
    /// `result.resultType` is `input_required`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub input_required: bool,
    /// `result.status` or `params.status` of a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_status: Option<Arc<str>>,
    /// `params.requestId` of `notifications/cancelled`, as typed id text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancels: Option<Arc<str>>,
    /// `_meta["io.modelcontextprotocol/related-task"].taskId`: keyed hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_task: Option<u64>,
    /// `_meta["io.modelcontextprotocol/subscriptionId"]`: keyed hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscription: Option<u64>,
    /// `clientInfo` or `serverInfo`: name and version, for display only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub implementation: Option<(Arc<str>, Arc<str>)>,
    /// Tools of a `tools/list` result that carry annotations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolHints>,
}

/// One JSON-RPC message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// What it is.
    pub kind: MessageKind,
    /// Yes-or-no facts.
    #[serde(default, skip_serializing_if = "MessageFlags::is_empty")]
    pub flags: MessageFlags,
    /// The id as canonical JSON text: `2` and `1.0` folded to `2` and `1`, `"2"` with its quotes; none where absent or null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Arc<str>>,
    /// The method of a request or notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<Arc<str>>,
    /// `params.name` (a tool or prompt), or `params.uri` as a pseudonym.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Arc<str>>,
    /// Digest of `result`, `error` or `params`, independent of member order, white space and number spelling.
    pub payload: Id128,
    /// For requests: digest of `params` without `_meta`; equal calls have equal ones.
    #[serde(default, skip_serializing_if = "Id128::is_none")]
    pub arguments: Id128,
    /// The progress token (`params._meta.progressToken` of a request, `params.progressToken` of progress): keyed hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
    /// Length of the message's JSON text in bytes.
    pub size: u32,
    /// What few messages have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Box<Detail>>,
}

impl Message {
    /// A result or an error that carries a usable id: it ends a request.
    pub fn is_reply(&self) -> bool {
        matches!(self.kind, MessageKind::Response | MessageKind::Error)
    }

    /// The method is exactly `name`.
    pub fn is(&self, name: &str) -> bool {
        self.method.as_deref() == Some(name)
    }

    /// The error code of an error.
    pub fn error_code(&self) -> Option<i64> {
        self.detail.as_ref()?.error_code
    }
}
