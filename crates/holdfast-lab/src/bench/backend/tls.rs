//! The backend as proxies' probes see it: HTTPS that answers 200 to everything.

use std::convert::Infallible;
use std::net::TcpStream;
use std::sync::Arc;

use http_body_util::Full;
use hyper::Response;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_rustls::TlsAcceptor;

use super::super::BenchError;
use crate::actor::tls;
use crate::certificates::Certificates;

/// Starts a thread that serves the connections that are sent to it.
pub(super) fn start(certificates: &Certificates) -> Result<UnboundedSender<TcpStream>, BenchError> {
    let failed = || BenchError::system("start the backend's TLS");
    let config = tls::server(&certificates.server, &certificates.key)?;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(failed())?;
    let (give, mut connections) = unbounded_channel();
    std::thread::Builder::new()
        .name("backend-tls".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                while let Some(stream) = connections.recv().await {
                    tokio::spawn(converse(stream, acceptor.clone()));
                }
            });
        })
        .map_err(failed())?;
    Ok(give)
}

async fn converse(stream: TcpStream, acceptor: TlsAcceptor) {
    let Ok(stream) = tokio::net::TcpStream::from_std(stream) else {
        return;
    };
    let Ok(stream) = acceptor.accept(stream).await else {
        return;
    };
    let ok = |_: hyper::Request<Incoming>| async {
        Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"ok"))))
    };
    // How a connection ends is the prober's to tell.
    drop(
        auto::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), service_fn(ok))
            .await,
    );
}
