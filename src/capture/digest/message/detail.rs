//! The members of `params`, `result` and `error` that rules ask for.

use super::{Members, Reader};
use crate::{
    capture::digest::words,
    model::{MessageFlags, ToolHints},
    wire::json::{Json, Kind, Malformed},
};
use std::sync::Arc;

/// Digests a member's value, and looks into a copy of it: `look` may stop anywhere.
fn both<'a, F>(json: &mut Json<'a>, look: F) -> Result<u128, Malformed>
where
    F: FnOnce(&mut Json<'a>) -> Result<(), Malformed>,
{
    let mut copy = json.clone();
    copy.set_digesting(false);
    let digest = json.value()?;
    look(&mut copy)?;
    Ok(digest)
}

impl Reader<'_> {
    /// Reads `params`; gives the digest of all of it and keeps that of all but `_meta`.
    pub(super) fn params(&mut self, json: &mut Json<'_>, seen: &mut Members) -> Result<u128, Malformed> {
        if json.kind()? != Kind::Object {
            let digest = json.value()?;
            seen.arguments = digest;
            return Ok(digest);
        }
        let mut meta = 0;
        let mut arguments = 0_u128;
        let digest = json.object(|json, member| {
            let value = match member.raw {
                b"name" => both(json, |copy| {
                    if let Some(text) = self.string(copy)? {
                        let name = self.names.get(&text.to_str());
                        seen.name = Some(Arc::clone(&name));
                        self.last_name = Some(name);
                    }
                    Ok(())
                }),
                b"uri" => both(json, |copy| {
                    self.last_name = self.string(copy)?.map(|t| t.to_str().into());
                    Ok(())
                }),
                b"_meta" => {
                    meta = self.meta(json, seen)?;
                    return Ok(meta);
                }
                b"progressToken" => self.token(json, seen),
                b"requestId" => both(json, |copy| {
                    seen.detail.cancels = self.typed(copy)?;
                    Ok(())
                }),
                b"protocolVersion" => both(json, |copy| {
                    seen.detail.protocol_version = self.string(copy)?.map(|t| self.names.get(&t.to_str()));
                    Ok(())
                }),
                b"clientInfo" => both(json, |copy| self.implementation(copy, seen)),
                b"task" => {
                    seen.flags |= MessageFlags::WANTS_TASK;
                    json.value()
                }
                b"taskId" => both(json, |copy| {
                    let text = self.typed(copy)?;
                    seen.detail.task = self.hashed(b'j', text);
                    Ok(())
                }),
                b"status" => both(json, |copy| {
                    seen.detail.task_status = self.string(copy)?.map(|t| self.names.get(&t.to_str()));
                    Ok(())
                }),
                b"inputResponses" | b"requestState" => {
                    seen.flags |= MessageFlags::INPUT_RETRY;
                    json.value()
                }
                _ => json.value(),
            }?;
            arguments = arguments.wrapping_add(json.bind(member, value));
            Ok(value)
        })?;
        seen.arguments = arguments;
        seen.flags.set(MessageFlags::DISTINCTIVE, seen.flags.contains(MessageFlags::DISTINCTIVE) || arguments != 0);
        Ok(digest)
    }

    fn meta(&mut self, json: &mut Json<'_>, seen: &mut Members) -> Result<u128, Malformed> {
        if json.kind()? != Kind::Object {
            return json.value();
        }
        json.object(|json, member| match member.raw {
            b"progressToken" => self.token(json, seen),
            b"io.modelcontextprotocol/protocolVersion" => both(json, |copy| {
                seen.detail.protocol_version = self.string(copy)?.map(|t| self.names.get(&t.to_str()));
                seen.detail.version_in_meta = seen.detail.protocol_version.is_some();
                Ok(())
            }),
            b"io.modelcontextprotocol/clientInfo" | b"io.modelcontextprotocol/serverInfo" => {
                both(json, |copy| self.implementation(copy, seen))
            }
            b"io.modelcontextprotocol/related-task" => both(json, |copy| {
                self.member(copy, "taskId", &mut |reader, json| {
                    let text = reader.typed(json)?;
                    seen.detail.related_task = reader.hashed(b'j', text);
                    Ok(())
                })
            }),
            b"io.modelcontextprotocol/subscriptionId" => both(json, |copy| {
                let text = self.typed(copy)?;
                seen.detail.subscription = self.hashed(b'u', text);
                Ok(())
            }),
            _ => json.value(),
        })
    }

    /// Reads `result`; gives its digest, and whether a member could tell it from another result.
    pub(super) fn result(&mut self, json: &mut Json<'_>, seen: &mut Members) -> Result<(u128, bool), Malformed> {
        if json.kind()? != Kind::Object {
            return json.value().map(|digest| (digest, true));
        }
        let mut members = 0;
        let digest = json.object(|json, member| {
            members += u32::from(member.raw != b"_meta");
            match member.raw {
                b"isError" => both(json, |copy| {
                    let is_true = copy.kind()? == Kind::Bool && copy.slice(copy.offset(), copy.offset() + 1) == b"t";
                    seen.flags.set(MessageFlags::TOOL_ERROR, is_true);
                    Ok(())
                }),
                b"protocolVersion" => both(json, |copy| {
                    seen.detail.protocol_version = self.string(copy)?.map(|t| self.names.get(&t.to_str()));
                    Ok(())
                }),
                b"serverInfo" => both(json, |copy| self.implementation(copy, seen)),
                b"resultType" => both(json, |copy| {
                    if let Some(text) = self.string(copy)? {
                        seen.detail.input_required = text.is("input_required");
                        seen.detail.creates_task |= text.is("task");
                    }
                    Ok(())
                }),
                b"task" if json.kind()? == Kind::Object => both(json, |copy| {
                    seen.detail.creates_task = true;
                    self.task(copy, seen)
                }),
                b"taskId" => both(json, |copy| {
                    let text = self.typed(copy)?;
                    seen.detail.task = self.hashed(b'j', text);
                    Ok(())
                }),
                b"status" => both(json, |copy| {
                    seen.detail.task_status = self.string(copy)?.map(|t| self.names.get(&t.to_str()));
                    Ok(())
                }),
                b"_meta" => self.meta(json, seen),
                b"tools" if json.kind()? == Kind::Array => {
                    both(json, |copy| copy.array(|json| self.tool(json, seen).map(|()| 0)).map(|_| ()))
                }
                _ => json.value(),
            }
        })?;
        Ok((digest, members > 0))
    }

    fn task(&mut self, json: &mut Json<'_>, seen: &mut Members) -> Result<(), Malformed> {
        json.object(|json, member| {
            match member.raw {
                b"taskId" => {
                    let text = self.typed(json)?;
                    if text.is_none() {
                        json.value()?;
                    }
                    seen.detail.task = self.hashed(b'j', text);
                }
                b"status" => seen.detail.task_status = self.string(json)?.map(|t| self.names.get(&t.to_str())),
                _ => drop(json.value()?),
            }
            Ok(0)
        })
        .map(|_| ())
    }

    /// Reads `error`; gives its digest.
    pub(super) fn error(&mut self, json: &mut Json<'_>, seen: &mut Members) -> Result<u128, Malformed> {
        json.object(|json, member| match member.raw {
            b"code" => both(json, |copy| {
                let number = if copy.kind()? == Kind::Number { copy.number()? } else { b"" };
                seen.detail.error_code = std::str::from_utf8(number).ok().and_then(|n| n.parse().ok());
                Ok(())
            }),
            b"message" => both(json, |copy| {
                if let Some(text) = self.string(copy)? {
                    let said = words::of(&text.bytes());
                    seen.detail.session_words = said.session;
                    seen.detail.busy_words = said.busy;
                    seen.detail.missing_session_words = said.missing;
                }
                Ok(())
            }),
            _ => json.value(),
        })
    }

    fn implementation(&mut self, json: &mut Json<'_>, seen: &mut Members) -> Result<(), Malformed> {
        if json.kind()? != Kind::Object {
            return Ok(());
        }
        let (mut name, mut version): (Arc<str>, Arc<str>) = (self.names.get(""), self.names.get(""));
        json.object(|json, member| {
            match member.raw {
                b"name" => name = self.string(json)?.map_or(Arc::clone(&name), |t| self.names.get(&t.to_str())),
                b"version" => {
                    version = self.string(json)?.map_or(Arc::clone(&version), |t| self.names.get(&t.to_str()));
                }
                _ => drop(json.value()?),
            }
            Ok(0)
        })?;
        seen.detail.implementation = Some((name, version));
        Ok(())
    }

    /// Reads one tool of `tools/list`; kept only where it carries annotations.
    fn tool(&mut self, json: &mut Json<'_>, seen: &mut Members) -> Result<(), Malformed> {
        if json.kind()? != Kind::Object {
            return json.value().map(drop);
        }
        let mut hints = ToolHints { name: self.names.get(""), read_only: None, idempotent: None, destructive: None };
        json.object(|json, member| {
            match member.raw {
                b"name" => {
                    hints.name = self.string(json)?.map_or(Arc::clone(&hints.name), |t| self.names.get(&t.to_str()));
                }
                b"annotations" if json.kind()? == Kind::Object => drop(json.object(|json, member| {
                    let place = match member.raw {
                        b"readOnlyHint" => &mut hints.read_only,
                        b"idempotentHint" => &mut hints.idempotent,
                        b"destructiveHint" => &mut hints.destructive,
                        _ => return json.value(),
                    };
                    if json.kind()? == Kind::Bool {
                        *place = Some(json.slice(json.offset(), json.offset() + 1) == b"t");
                    }
                    json.value()
                })?),
                _ => drop(json.value()?),
            }
            Ok(0)
        })?;
        if hints.read_only.or(hints.idempotent).or(hints.destructive).is_some() && seen.detail.tools.len() < 10_000 {
            seen.detail.tools.push(hints);
        }
        Ok(())
    }

    /// Looks for one member of an object.
    fn member(
        &mut self,
        json: &mut Json<'_>,
        name: &str,
        found: &mut dyn FnMut(&mut Self, &mut Json<'_>) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        if json.kind()? != Kind::Object {
            return Ok(());
        }
        json.object(|json, member| {
            if member.is(name) {
                found(self, &mut json.clone())?;
            }
            json.value()
        })
        .map(|_| ())
    }
}
