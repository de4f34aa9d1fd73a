//! Long operations: where to look how one goes, and what the look says.
//!
//! `Azure-AsyncOperation` is looked at if it is there: its body has a status. Else `Location`: 202 until
//! it is done. A write may also be done at once, or say so in `properties.provisioningState` alone
//! (`azure-resource-manager/management/async-operations`).

use std::time::Duration;

use serde_json::Value;

use super::answer::Refusal;

/// Without `Retry-After`, how often one looks.
pub const INTERVAL: Duration = Duration::from_secs(2);

/// Where to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Follow {
    /// It is done.
    Done,
    /// A URL whose body has a status.
    Status(String),
    /// A URL that answers 202 until it is done.
    Location(String),
    /// The resource itself, until its provisioning state is an end.
    Resource,
}

/// How it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Not done yet.
    Running,
    /// Done.
    Succeeded,
    /// Not done, and why not.
    Failed(Refusal),
}

/// What the answer to a write asks its client to follow.
pub fn begin(status: u16, operation: Option<&str>, location: Option<&str>, body: &Value) -> Follow {
    match (operation, location) {
        (Some(url), _) => Follow::Status(url.to_owned()),
        (None, Some(url)) if status == 202 => Follow::Location(url.to_owned()),
        _ if matches!(resource(body), Progress::Running) => Follow::Resource,
        _ => Follow::Done,
    }
}

/// What the body at [`Follow::Status`] says.
pub fn status(body: &Value) -> Progress {
    state(body.get("status"), body)
}

/// What a look at [`Follow::Location`] says.
pub const fn location(status: u16) -> Progress {
    if status == 202 {
        Progress::Running
    } else {
        Progress::Succeeded
    }
}

/// What a resource says of itself.
pub fn resource(body: &Value) -> Progress {
    let nested = body.pointer("/properties/provisioningState");
    match nested.or_else(|| body.get("provisioningState")) {
        None => Progress::Succeeded,
        told => state(told, body),
    }
}

fn state(told: Option<&Value>, body: &Value) -> Progress {
    let told = told.and_then(Value::as_str).unwrap_or_default();
    match told.to_ascii_lowercase().as_str() {
        "succeeded" => Progress::Succeeded,
        "failed" | "canceled" | "cancelled" => {
            let mut why = Refusal::read(0, None, body.to_string().as_bytes());
            why.status = None;
            if why.message.is_empty() {
                why.message = format!("the operation ended as {told}");
            }
            Progress::Failed(why)
        }
        // InProgress, Updating, Creating, Deleting …: whatever is no end.
        _ => Progress::Running,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_operation_url_wins_and_a_state_alone_is_followed_too() {
        let updating = json!({"properties": {"provisioningState": "Updating"}});
        let done = json!({"properties": {"provisioningState": "Succeeded"}});
        let status = |url: &str| Follow::Status(url.to_owned());
        assert_eq!(begin(201, Some("a"), Some("b"), &updating), status("a"));
        assert_eq!(
            begin(202, None, Some("b"), &json!(null)),
            Follow::Location("b".to_owned())
        );
        assert_eq!(begin(200, None, None, &updating), Follow::Resource);
        // A Location of 201 is the resource's own address (RFC 9110, section 10.2.2).
        assert_eq!(begin(201, None, Some("b"), &done), Follow::Done);
        assert_eq!(begin(204, None, None, &json!(null)), Follow::Done);
    }

    #[test]
    fn an_end_is_told_with_its_reason() {
        assert_eq!(status(&json!({"status": "InProgress"})), Progress::Running);
        assert_eq!(status(&json!({"status": "Succeeded"})), Progress::Succeeded);
        let failed = status(&json!({"status": "Failed", "error": {"code": "C", "message": "m"}}));
        let Progress::Failed(why) = failed else {
            panic!("{failed:?}")
        };
        assert_eq!(
            (why.codes, why.message.as_str()),
            (vec!["C".to_owned()], "m")
        );
        let canceled = status(&json!({"status": "Canceled"}));
        assert!(matches!(canceled, Progress::Failed(why) if why.message.contains("Canceled")));
        assert_eq!(location(202), Progress::Running);
        assert_eq!(location(204), Progress::Succeeded);
    }
}
