//! `/lab/…`: what only a stand-in can be asked and told. Needs no token.

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use super::arm::Arm;
use super::fault::Fault;
use super::wire::{Answer, Refusal, Request};

/// Answers a request below `/lab/`.
pub(super) fn answer(arm: &mut Arm, now: Duration, request: &Request) -> Option<Answer> {
    let what = request.path.strip_prefix("/lab/")?;
    let answered = match (&request.method, what) {
        (&Method::GET, "egress") => Ok(json!({"exits": arm.exits()})),
        (&Method::GET, "faults") => Ok(json!({"faults": arm.faults.0})),
        (&Method::POST, "faults") => add_faults(arm, request),
        (&Method::DELETE, "faults") => {
            arm.faults.0.clear();
            arm.operations.release(now);
            arm.settle(now);
            Ok(json!({}))
        }
        (&Method::GET, "folder") => {
            let files = arm.files();
            let files = files
                .into_iter()
                .map(|(name, list)| (name.to_owned(), list));
            Ok(Value::Object(files.collect::<Map<_, _>>()))
        }
        (&Method::GET, "requests") => Ok(json!({"requests": arm.journal})),
        (&Method::DELETE, "requests") => {
            arm.journal.clear();
            Ok(json!({}))
        }
        (&Method::DELETE, "tokens") => {
            arm.identity.expire();
            Ok(json!({}))
        }
        (method, _) => Err(Refusal::not_found(
            "NotFound",
            format!(
                "found {method} {}, accepted: GET egress, GET POST DELETE faults, GET POST folder, \
                 GET DELETE requests, DELETE tokens, POST dial",
                request.path
            ),
        )),
    };
    Some(match answered {
        Ok(body) => Answer::json(StatusCode::OK, body),
        Err(refusal) => refusal.into(),
    })
}

/// One fault or a list of them.
fn add_faults(arm: &mut Arm, request: &Request) -> Result<Value, Refusal> {
    let value: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let list = if let Value::Array(list) = value {
        list
    } else {
        vec![value]
    };
    let mut faults = Vec::new();
    for one in list {
        let fault: Fault = serde_json::from_value(one)
            .map_err(|error| Refusal::bad("InvalidFault", error.to_string()))?;
        faults.push(fault);
    }
    arm.faults.0.extend(faults);
    Ok(json!({"faults": arm.faults.0}))
}
