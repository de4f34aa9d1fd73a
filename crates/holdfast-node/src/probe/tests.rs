use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};

use http_body_util::Full;
use hyper::Response;
use hyper::body::Incoming;
use hyper::service::service_fn;
use rustls::ServerConfig;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::stage::{Authority, CaFile, NAME, PATIENCE, listener};

/// Probes that expect a cluster's servers, and what they report.
struct Probes {
    authority: Authority,
    prober: Prober,
    facts: mpsc::UnboundedReceiver<Input>,
    _ca: CaFile,
}

impl Probes {
    fn new() -> Self {
        let authority = Authority::new("cluster");
        let ca = CaFile::with(&authority.pem());
        let identity = Arc::new(Identity::load(&ca.path(), NAME).unwrap());
        let (tell, facts) = mpsc::unbounded_channel();
        Self {
            authority,
            prober: Prober::new(identity, tell),
            facts,
            _ca: ca,
        }
    }

    async fn next(&mut self) -> (SocketAddr, ProbeId, Progress) {
        let fact = timeout(PATIENCE, self.facts.recv()).await.unwrap();
        match fact {
            Some(Input::Probed {
                upstream,
                id,
                progress,
            }) => (upstream, id, progress),
            other => panic!("{other:?} is no probe's"),
        }
    }

    /// All that one attempt reports, up to its end.
    async fn probe(&mut self, upstream: SocketAddr, id: ProbeId, reuse: bool) -> Vec<Progress> {
        self.prober.start(upstream, id, reuse);
        let mut steps = Vec::new();
        loop {
            let (at, of, progress) = self.next().await;
            assert_eq!((at, of), (upstream, id));
            let more = matches!(progress, Progress::Connected | Progress::Secured);
            steps.push(progress);
            if !more {
                return steps;
            }
        }
    }
}

/// A server that answers `/readyz` with one status.
struct Server {
    address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    hosts: mpsc::UnboundedReceiver<String>,
    hang_up: watch::Sender<u32>,
    _task: JoinSet<()>,
}

impl Server {
    async fn start(tls: Arc<ServerConfig>, status: u16) -> Self {
        let (listener, address) = listener().await;
        let accepted = Arc::new(AtomicUsize::new(0));
        let (hear, hosts) = mpsc::unbounded_channel();
        let (hang_up, hung_up) = watch::channel(0);
        let mut task = JoinSet::new();
        let count = Arc::clone(&accepted);
        task.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                let (acceptor, hear) = (TlsAcceptor::from(Arc::clone(&tls)), hear.clone());
                let mut hung_up = hung_up.clone();
                hung_up.mark_unchanged();
                connections.spawn(async move {
                    let Ok(secured) = acceptor.accept(stream).await else {
                        return;
                    };
                    let service = service_fn(move |request: Request<Incoming>| {
                        assert_eq!(request.uri().path(), "/readyz");
                        let host = request.headers().get(header::HOST).cloned().unwrap();
                        drop(hear.send(host.to_str().unwrap().to_owned()));
                        let mut answer = Response::new(Full::new(Bytes::from_static(b"words")));
                        *answer.status_mut() = status.try_into().unwrap();
                        async move { Ok::<_, Infallible>(answer) }
                    });
                    let serving = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(secured), service);
                    tokio::select! {
                        served = serving => drop(served),
                        _ = hung_up.changed() => {}
                    }
                });
            }
        });
        Self {
            address,
            accepted,
            hosts,
            hang_up,
            _task: task,
        }
    }

    fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

fn fresh(status: u16) -> Vec<Progress> {
    vec![
        Progress::Connected,
        Progress::Secured,
        Progress::Answered { status },
    ]
}

#[tokio::test]
async fn a_fresh_probe_reports_each_step_and_the_next_one_asks_on_the_same_connection() {
    let mut probes = Probes::new();
    let mut server = Server::start(probes.authority.server(), 200).await;
    assert_eq!(probes.probe(server.address, 1, false).await, fresh(200));
    assert_eq!(server.hosts.recv().await.unwrap(), NAME);
    for id in 2..5 {
        assert_eq!(
            probes.probe(server.address, id, true).await,
            [Progress::Answered { status: 200 }]
        );
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_probe_that_may_not_reuse_connects_anew() {
    let mut probes = Probes::new();
    let server = Server::start(probes.authority.server(), 200).await;
    probes.probe(server.address, 1, false).await;
    assert_eq!(probes.probe(server.address, 2, false).await, fresh(200));
    assert_eq!(server.accepted(), 2);
    // Its connection is the one that is kept now.
    probes.probe(server.address, 3, true).await;
    assert_eq!(server.accepted(), 2);
}

#[tokio::test]
async fn any_http_status_is_an_answer_and_its_connection_is_kept() {
    for status in [500, 401, 403, 429] {
        let mut probes = Probes::new();
        let server = Server::start(probes.authority.server(), status).await;
        assert_eq!(probes.probe(server.address, 1, false).await, fresh(status));
        assert_eq!(
            probes.probe(server.address, 2, true).await,
            [Progress::Answered { status }]
        );
        assert_eq!(server.accepted(), 1);
    }
}

#[tokio::test]
async fn a_kept_connection_that_the_server_has_closed_is_broken_and_the_next_is_fresh() {
    let mut probes = Probes::new();
    let server = Server::start(probes.authority.server(), 200).await;
    probes.probe(server.address, 1, false).await;
    server.hang_up.send_modify(|times| *times += 1);
    // Whether the end is noticed before the question or by it, it is the same.
    let mut steps = probes.probe(server.address, 2, true).await;
    let mut id = 3;
    while steps == [Progress::Answered { status: 200 }] && id < 50 {
        steps = probes.probe(server.address, id, true).await;
        id += 1;
    }
    assert_eq!(steps, [Progress::Broken]);
    assert_eq!(server.accepted(), 1);
    assert_eq!(probes.probe(server.address, 99, true).await, fresh(200));
    assert_eq!(server.accepted(), 2);
}

#[tokio::test]
async fn an_upstream_that_is_forgotten_loses_its_kept_connection() {
    let mut probes = Probes::new();
    let server = Server::start(probes.authority.server(), 200).await;
    probes.probe(server.address, 1, false).await;
    probes.prober.forget(server.address);
    assert_eq!(probes.probe(server.address, 2, true).await, fresh(200));
    assert_eq!(server.accepted(), 2);
}

#[tokio::test]
async fn a_closed_port_is_refused() {
    let mut probes = Probes::new();
    let (listener, address) = listener().await;
    drop(listener);
    assert_eq!(probes.probe(address, 1, false).await, [Progress::Refused]);
}

#[tokio::test]
async fn a_server_that_takes_connections_and_closes_them_resets() {
    let mut probes = Probes::new();
    let (listener, address) = listener().await;
    let mut task = JoinSet::new();
    task.spawn(async move {
        loop {
            drop(listener.accept().await.unwrap());
        }
    });
    assert_eq!(
        probes.probe(address, 1, false).await,
        [Progress::Connected, Progress::Reset]
    );
}

#[tokio::test]
async fn a_server_that_takes_connections_and_stays_silent_gets_no_further_until_aborted() {
    let mut probes = Probes::new();
    let (listener, address): (TcpListener, _) = listener().await;
    probes.prober.start(address, 7, false);
    let (mut stream, _) = timeout(PATIENCE, listener.accept()).await.unwrap().unwrap();
    assert_eq!(probes.next().await, (address, 7, Progress::Connected));
    // Its first message comes, and after that nothing moves.
    let mut hello = [0; 4096];
    assert!(stream.read(&mut hello).await.unwrap() > 0);
    let silence = Duration::from_millis(200);
    assert!(timeout(silence, stream.read(&mut hello)).await.is_err());
    assert!(probes.facts.is_empty());

    probes.prober.abort(address, 7);
    let end = timeout(PATIENCE, stream.read(&mut hello)).await.unwrap();
    assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
    assert!(probes.facts.is_empty());
}

#[tokio::test]
async fn a_certificate_of_another_cluster_is_foreign_with_the_reason_in_words() {
    let mut probes = Probes::new();
    let server = Server::start(Authority::new("other").server(), 200).await;
    let steps = probes.probe(server.address, 1, false).await;
    match steps.as_slice() {
        [Progress::Connected, Progress::Foreign { why }] => {
            assert!(why.contains("UnknownIssuer"), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn probes_of_one_upstream_do_not_wait_for_each_other() {
    let mut probes = Probes::new();
    let (silent, address) = listener().await;
    let server = Server::start(probes.authority.server(), 200).await;
    probes.prober.start(address, 1, false);
    assert_eq!(probes.next().await, (address, 1, Progress::Connected));
    assert_eq!(probes.probe(server.address, 2, false).await, fresh(200));
    probes.prober.start(address, 3, false);
    assert_eq!(probes.next().await, (address, 3, Progress::Connected));
    drop(silent);
}
