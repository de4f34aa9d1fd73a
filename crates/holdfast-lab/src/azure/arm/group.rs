//! Resource groups, as far as clients need them.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{Arm, Call, not_allowed, ok};
use crate::azure::folder::group_body;
use crate::azure::kind::Provider;
use crate::azure::scale_set::Change;
use crate::azure::shape;
use crate::azure::store::key;
use crate::azure::wire::{Answer, Refusal};

impl Arm {
    pub(super) fn groups(&self, subscription: &str) -> Answer {
        let prefix = key(&format!("/subscriptions/{subscription}/"));
        let groups = self
            .store
            .groups()
            .filter(|(id, _)| id.starts_with(&prefix));
        let list: Vec<&Value> = groups.map(|(_, body)| body).collect();
        ok(json!({"value": list}))
    }

    pub(super) fn group(
        &mut self,
        call: Call<'_>,
        subscription: &str,
        group: &str,
    ) -> Result<Answer, Refusal> {
        let id = format!("/subscriptions/{subscription}/resourceGroups/{group}");
        let known = self.store.group(&id).cloned();
        let missing = || {
            Refusal::not_found(
                "ResourceGroupNotFound",
                format!("Resource group '{group}' could not be found."),
            )
        };
        match (&call.request.method, known) {
            (&Method::GET, Some(body)) => Ok(ok(body)),
            (&Method::HEAD, Some(_)) => Ok(Answer::empty(StatusCode::NO_CONTENT)),
            (&Method::PUT | &Method::PATCH, known) => {
                let change = call.request.json()?;
                self.check_locks(&id, "write")?;
                let status = if known.is_some() {
                    StatusCode::OK
                } else {
                    StatusCode::CREATED
                };
                let mut body =
                    known.unwrap_or_else(|| group_body(&id, change.get("location").cloned()));
                let tags = change.get("tags").cloned();
                shape::merge(&mut body, json!({"tags": tags}));
                self.store.put_group(&id, body.clone());
                Ok(Answer::json(status, body))
            }
            (&Method::DELETE, Some(body)) => {
                self.check_locks(&id, "delete")?;
                Ok(self.delete_group(call, &id, &body))
            }
            (&Method::GET | &Method::HEAD | &Method::DELETE, None) => Err(missing()),
            (method, _) => Err(not_allowed(method, &id)),
        }
    }

    fn delete_group(&mut self, call: Call<'_>, id: &str, body: &Value) -> Answer {
        let prefix = format!("{}/", key(id));
        let inside = self.store.all().map(|it| key(&it.id));
        let change = Change {
            put: Vec::new(),
            remove: inside.filter(|it| it.starts_with(&prefix)).collect(),
        };
        let operation = self.commit(call, change, Provider::Network);
        self.store.remove_group(id);
        self.accepted(call, operation, body, Provider::Network)
    }
}
