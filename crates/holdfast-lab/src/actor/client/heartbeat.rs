//! Renews a lease as the kubelet's lease controller does
//! (component-helpers `apimachinery/lease/controller.go`).

use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::clock::{Backoff, Clock};
use super::event::{Teller, What};
use super::link::Link;
use super::request::{self, Answer, RequestError};
use crate::actor::monotonic_seconds;

/// Renewals that are tried at once, one after the other (`maxUpdateRetries`).
const RENEWALS: usize = 5;
/// Twice the starting value of `backoffEnsureLease`, which doubles before it sleeps.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// `maxBackoff` of the same file.
const LONGEST_PAUSE: Duration = Duration::from_secs(7);
/// Where nodes keep their leases.
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

/// A node's lease and the way to the server.
struct Heartbeat {
    worker: u64,
    link: Arc<Link>,
    node: String,
    teller: Teller,
    clock: Clock,
    /// The lease as the server last returned it.
    latest: Option<Value>,
}

/// Beats for as long as it is polled. Only what renews the lease is told as `ok`.
pub(super) async fn beat(worker: u64, link: Arc<Link>, node: String, teller: Teller, clock: Clock) {
    let mut heartbeat = Heartbeat {
        worker,
        link,
        node,
        teller,
        clock,
        latest: None,
    };
    loop {
        heartbeat.sync().await;
        sleep(clock.renewal()).await;
    }
}

impl Heartbeat {
    /// One heartbeat, however long it takes.
    async fn sync(&mut self) {
        if let Some(base) = self.latest.clone()
            && self.renew(&base).await
        {
            return;
        }
        if let Some(base) = self.ensure().await {
            self.renew(&base).await;
        }
    }

    /// Makes sure that there is a lease. Returns one that still has to be renewed: a lease that was just
    /// created does not.
    async fn ensure(&mut self) -> Option<Value> {
        let mut backoff = Backoff::new(
            self.clock.scaled(FIRST_PAUSE),
            self.clock.scaled(LONGEST_PAUSE),
        );
        loop {
            match self.get().await {
                Ok(Some(lease)) => {
                    self.latest = Some(lease.clone());
                    return Some(lease);
                }
                Ok(None) => {
                    if self.create().await {
                        return None;
                    }
                }
                Err(()) => {}
            }
            sleep(backoff.pause()).await;
        }
    }

    /// The lease, or `None` if there is none.
    async fn get(&self) -> Result<Option<Value>, ()> {
        let path = format!("{LEASES}/{}", self.node);
        let begun = monotonic_seconds();
        match self.send(Method::GET, &path, Vec::new()).await {
            Ok(answer) => Ok(serde_json::from_slice(&answer.body).ok()),
            Err(RequestError::Status { status, .. }) if status == StatusCode::NOT_FOUND => Ok(None),
            Err(error) => {
                self.tell_failure("get", begun, &error);
                Err(())
            }
        }
    }

    async fn create(&mut self) -> bool {
        let lease = json!({
            "kind": "Lease",
            "apiVersion": "coordination.k8s.io/v1",
            "metadata": {"name": self.node, "namespace": "kube-node-lease"},
            "spec": {
                "holderIdentity": self.node,
                "leaseDurationSeconds": 40,
                "renewTime": micro_time(),
            },
        });
        self.write(Method::POST, LEASES, &lease).await
    }

    /// Up to five renewals at once, until one is answered.
    async fn renew(&mut self, base: &Value) -> bool {
        let path = format!("{LEASES}/{}", self.node);
        for _ in 0..RENEWALS {
            let mut lease = base.clone();
            if let Some(spec) = lease.get_mut("spec").and_then(Value::as_object_mut) {
                spec.insert("renewTime".to_owned(), micro_time());
            }
            if self.write(Method::PUT, &path, &lease).await {
                return true;
            }
        }
        false
    }

    /// Writes the lease and remembers what the server made of it.
    async fn write(&mut self, method: Method, path: &str, lease: &Value) -> bool {
        let verb = method.as_str().to_lowercase();
        let begun = monotonic_seconds();
        match self
            .send(method, path, lease.to_string().into_bytes())
            .await
        {
            Ok(answer) => {
                self.latest = serde_json::from_slice(&answer.body).ok();
                let event = self.teller.now(self.worker, What::Ok).since(begun);
                let event = event.on(answer.connection).by(answer.server);
                self.teller.tell(&event.because(verb));
                true
            }
            Err(error) => {
                self.tell_failure(&verb, begun, &error);
                false
            }
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
    ) -> Result<Answer, RequestError> {
        request::send(&self.link, method, path, body, self.clock.request_timeout()).await
    }

    fn tell_failure(&self, verb: &str, begun: f64, error: &RequestError) {
        let event = self.teller.now(self.worker, What::Failed).since(begun);
        let event = event.by(error.server());
        self.teller.tell(&event.because(format!("{verb}: {error}")));
    }
}

/// The time as `metav1.MicroTime` writes it.
fn micro_time() -> Value {
    json!(format!("{:.6}", jiff::Timestamp::now()))
}
