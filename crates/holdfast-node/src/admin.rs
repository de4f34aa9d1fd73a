//! `/livez`, `/readyz`, `/status` and `/metrics` for people and their monitoring.

mod door;
mod port;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use holdfast_core::status::Status;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::metrics::Metrics;
use crate::reload::Reconfiguration;

/// The agent's loop answers in microseconds; this long means that it does not run.
const LOOP_ANSWERS_WITHIN: Duration = Duration::from_secs(2);

pub(crate) use port::AdminPort;

/// Asks the agent's loop for its status.
pub(crate) type StatusRequest = oneshot::Sender<Status>;

/// What is asked of the agent's loop, beside facts.
#[derive(Debug)]
pub(crate) enum Request {
    /// Another configuration holds from now on.
    Reconfigure(Box<Reconfiguration>),
    Status(StatusRequest),
}

#[derive(Clone, Debug)]
pub(crate) struct Admin {
    pub(crate) requests: mpsc::Sender<Request>,
    pub(crate) metrics: Arc<Metrics>,
}

impl Admin {
    async fn status(&self) -> Option<Status> {
        let (answer, status) = oneshot::channel();
        let ask = async {
            self.requests.send(Request::Status(answer)).await.ok()?;
            status.await.ok()
        };
        timeout(LOOP_ANSWERS_WITHIN, ask).await.ok().flatten()
    }

    /// Serves until `stop`. Each connection carries one answer.
    pub(crate) async fn serve(self, listener: TcpListener, stop: CancellationToken) {
        let close = (header::CONNECTION, HeaderValue::from_static("close"));
        let router = Router::new()
            .route("/livez", get(livez))
            .route("/readyz", get(readyz))
            .route("/status", get(status))
            .route("/metrics", get(metrics))
            .layer(map_response(move |mut response: Response| {
                response
                    .headers_mut()
                    .insert(close.0.clone(), close.1.clone());
                std::future::ready(response)
            }))
            .with_state(self);
        let door = door::Door::new(listener);
        let serving = axum::serve(door, router).with_graceful_shutdown(stop.cancelled_owned());
        if let Err(error) = serving.await {
            tracing::error!(%error, "admin server ended");
        }
    }
}

const STUCK: (StatusCode, &str) = (
    StatusCode::INTERNAL_SERVER_ERROR,
    "the agent's loop does not run\n",
);

async fn livez(State(admin): State<Admin>) -> Response {
    match admin.status().await {
        Some(_) => "ok\n".into_response(),
        None => STUCK.into_response(),
    }
}

async fn readyz(State(admin): State<Admin>) -> Response {
    match admin.status().await {
        Some(status) if status.ready => "ok\n".into_response(),
        Some(status) if status.draining_s.is_some() => (
            StatusCode::SERVICE_UNAVAILABLE,
            "stopping: open connections may end, no new ones are taken; see /status\n",
        )
            .into_response(),
        Some(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "no usable upstream; see /status\n",
        )
            .into_response(),
        None => STUCK.into_response(),
    }
}

async fn status(State(admin): State<Admin>) -> Response {
    match admin.status().await {
        Some(status) => Json(status).into_response(),
        None => STUCK.into_response(),
    }
}

async fn metrics(State(admin): State<Admin>) -> Response {
    let Some(status) = admin.status().await else {
        return STUCK.into_response();
    };
    match admin.metrics.render(&status) {
        Ok(text) => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ([(header::CONTENT_TYPE, kind)], text).into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
