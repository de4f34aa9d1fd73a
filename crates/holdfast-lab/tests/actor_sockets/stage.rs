//! What the tests of the actors share: certificates, actors inside the test, and a wire that can be cut
//! without anybody being told.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use holdfast_lab::actor::api_server::{self, ApiServer};
use holdfast_lab::actor::balancer::{self, Balancer};
use holdfast_lab::actor::client::{self, Client, Event, Lane, What};
use holdfast_lab::actor::dns::{self, DnsServer};
use holdfast_lab::actor::{Console, Remote, StartError};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Longer than any single step takes, on a busy machine too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// The name in the servers' certificate, and in the lab's DNS.
pub(crate) const NAME: &str = "api.lab.test";

/// A cluster's certificates as files.
#[derive(Debug)]
pub(crate) struct Certificates {
    folder: TempDir,
}

impl Certificates {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new(vec![NAME.to_owned()]).unwrap();
        let leaf = leaf.signed_by(&key, &issuer).unwrap();
        std::fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        std::fs::write(folder.path().join("cert.pem"), leaf.pem()).unwrap();
        std::fs::write(folder.path().join("key.pem"), key.serialize_pem()).unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// An actor that runs inside the test.
#[derive(Debug)]
pub(crate) struct Actor {
    remote: Remote,
    /// Where it listens, if it does.
    pub(crate) listen: SocketAddr,
    _task: JoinSet<Result<(), StartError>>,
}

impl Actor {
    async fn start<F>(begin: impl FnOnce(Console) -> F) -> Self
    where
        F: Future<Output = Result<(), StartError>> + Send + 'static,
    {
        let (console, mut remote) = Console::pair();
        let mut task = JoinSet::new();
        task.spawn(begin(console));
        let Some(ready) = timeout(PATIENCE, remote.hear()).await.unwrap() else {
            panic!("did not start: {:?}", task.join_next().await);
        };
        assert_eq!(ready["ready"], true, "{ready}");
        let listen = serde_json::from_value(ready["listen"].clone());
        Self {
            remote,
            listen: listen.unwrap_or_else(|_| loopback(1, 0)),
            _task: task,
        }
    }

    pub(crate) async fn api_server(name: &str, certificates: &Certificates) -> Self {
        Self::api_server_with(name, certificates, |_| {}).await
    }

    pub(crate) async fn api_server_with(
        name: &str,
        certificates: &Certificates,
        change: impl FnOnce(&mut ApiServer),
    ) -> Self {
        let mut options = ApiServer {
            name: name.to_owned(),
            listen: loopback(1, 0),
            cert: certificates.path("cert.pem"),
            key: certificates.path("key.pem"),
            endpoints: Vec::new(),
            bookmark_every: None,
        };
        change(&mut options);
        Self::start(|console| api_server::serve(options, console)).await
    }

    pub(crate) async fn dns() -> Self {
        let options = DnsServer {
            listen: loopback(1, 0),
            zone: NAME.to_owned(),
        };
        Self::start(|console| dns::serve(options, console)).await
    }

    pub(crate) async fn balancer(to: Vec<SocketAddr>) -> Self {
        let options = Balancer {
            listen: loopback(1, 0),
            to,
        };
        Self::start(|console| balancer::serve(options, console)).await
    }

    /// A client with a heartbeat and nothing else, unless changed.
    pub(crate) async fn client(
        server: String,
        certificates: &Certificates,
        time_scale: f64,
        change: impl FnOnce(&mut Client),
    ) -> Self {
        let mut options = client_options(server, certificates, time_scale);
        change(&mut options);
        Self::start(|console| client::serve(options, console)).await
    }

    /// Gives an order and returns its answer. Not for clients, which say other things in between.
    pub(crate) async fn order(&mut self, line: &str) -> Value {
        self.remote.order(line);
        timeout(PATIENCE, self.remote.hear())
            .await
            .unwrap()
            .unwrap()
    }

    /// Gives an order that must be taken.
    pub(crate) async fn must(&mut self, line: &str) {
        assert_eq!(self.order(line).await, json!({"ok": true}), "{line}");
    }

    /// Gives a client an order; its answer comes among its events.
    pub(crate) fn tell(&self, line: &str) {
        self.remote.order(line);
    }

    /// A client's next event that fits.
    pub(crate) async fn event(&mut self, fits: impl Fn(&Event) -> bool) -> Event {
        let search = async {
            loop {
                let line = self.remote.hear().await.unwrap();
                // The answer to an order may come in between.
                if let Ok(event) = serde_json::from_value::<Event>(line)
                    && fits(&event)
                {
                    return event;
                }
            }
        };
        timeout(PATIENCE, search).await.unwrap()
    }

    /// The next renewal of the lease.
    pub(crate) async fn heartbeat(&mut self) -> Event {
        self.event(|event| event.lane == Lane::Heartbeat && event.what == What::Ok)
            .await
    }
}

/// A client with a heartbeat and nothing else.
pub(crate) fn client_options(
    server: String,
    certificates: &Certificates,
    time_scale: f64,
) -> Client {
    Client {
        server,
        resolve_with: None,
        ca: certificates.path("ca.pem"),
        tls_name: NAME.to_owned(),
        node: "node1".to_owned(),
        time_scale,
        heartbeats: 1,
        idle: 0,
        readers: 0,
        active: 0,
        fresh: None,
    }
}

/// 127.0.0.LAST, all of which belong to every host.
pub(crate) fn loopback(last: u8, port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)), port)
}

/// A wire to a server. Once cut, it carries nothing, says nothing and lets nobody in: bytes are not
/// read, and connection requests are not answered, as if all packets were dropped.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) listen: SocketAddr,
    cut: watch::Sender<bool>,
    fillers: Vec<TcpStream>,
    _task: JoinSet<()>,
}

impl Wire {
    pub(crate) fn to(target: SocketAddr, listen: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(listen).unwrap();
        // A queue of one is full at the second connection; then the kernel drops requests.
        let listener = socket.listen(1).unwrap();
        let listen = listener.local_addr().unwrap();
        let cut = watch::Sender::new(false);
        let mut task = JoinSet::new();
        task.spawn(carry(listener, target, cut.subscribe()));
        Self {
            listen,
            cut,
            fillers: Vec::new(),
            _task: task,
        }
    }

    pub(crate) async fn cut(&mut self) {
        self.cut.send_replace(true);
        while let Ok(Ok(filler)) =
            timeout(Duration::from_millis(100), TcpStream::connect(self.listen)).await
        {
            self.fillers.push(filler);
        }
    }
}

async fn carry(listener: TcpListener, target: SocketAddr, cut: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    let mut mine = cut.clone();
    loop {
        let accepted = tokio::select! {
            _ = mine.wait_for(|cut| *cut) => break,
            accepted = listener.accept() => accepted,
        };
        let (mut near, _) = accepted.unwrap();
        let mut mine = cut.clone();
        connections.spawn(async move {
            let mut far = TcpStream::connect(target).await.unwrap();
            let ended = tokio::select! {
                _ = mine.wait_for(|cut| *cut) => false,
                _ = copy_bidirectional(&mut near, &mut far) => true,
            };
            if !ended {
                // Both ends stay open, and nothing moves.
                std::future::pending::<()>().await;
            }
        });
    }
    // The queue stays, and nobody is taken from it.
    let _listener = listener;
    std::future::pending::<()>().await;
}
