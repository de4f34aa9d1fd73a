//! The client against real servers: TLS with and without client certificates, on the loopback
//! interface.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use rcgen::{CertificateParams, DnType, KeyPair};
use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::task::AbortOnDropHandle;

use super::connect::Failure;
use super::kubeconfig::Access;
use super::transport::Transport;
use super::{ConnectError, Route, TransportError, client, client_in_time};
use crate::stage::{Authority, NAME, PATIENCE, listener};

mod kubeconfigs;
mod routes;

/// Stands for every secret: no error may hold it.
const SECRET: &str = "hunter2hunter2";

/// What a server saw of one request: the client certificate's common name, and `Authorization`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    certificate: Option<String>,
    authorization: Option<String>,
}

fn token(text: &str) -> Seen {
    Seen {
        certificate: None,
        authorization: Some(format!("Bearer {text}")),
    }
}

fn certificate(name: &str) -> Seen {
    Seen {
        certificate: Some(name.to_owned()),
        authorization: None,
    }
}

/// An API server that answers everything with its own name.
struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<Mutex<usize>>,
    _task: AbortOnDropHandle<()>,
}

impl Server {
    async fn start(config: Arc<ServerConfig>, name: &'static str) -> Self {
        let (listener, address) = listener().await;
        let seen = Arc::<Mutex<Vec<Seen>>>::default();
        let connections = Arc::<Mutex<usize>>::default();
        let task = tokio::spawn(serve(
            listener,
            TlsAcceptor::from(config),
            name,
            Arc::clone(&seen),
            Arc::clone(&connections),
        ));
        Self {
            address,
            seen,
            connections,
            _task: AbortOnDropHandle::new(task),
        }
    }

    fn last(&self) -> Seen {
        self.seen.lock().last().cloned().expect("a request came")
    }
}

async fn serve(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    name: &'static str,
    seen: Arc<Mutex<Vec<Seen>>>,
    connections: Arc<Mutex<usize>>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, seen) = (acceptor.clone(), Arc::clone(&seen));
        *connections.lock() += 1;
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else {
                return;
            };
            let certificate = stream
                .get_ref()
                .1
                .peer_certificates()
                .and_then(|chain| chain.first())
                .map(|der| common_name(der));
            let answer = service_fn(move |request: hyper::Request<Incoming>| {
                let authorization = request.headers().get("authorization");
                seen.lock().push(Seen {
                    certificate: certificate.clone(),
                    authorization: authorization.map(|v| v.to_str().unwrap().to_owned()),
                });
                async move { Ok::<_, hyper::Error>(hyper::Response::new(Full::new(Bytes::from(name)))) }
            });
            drop(
                hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), answer)
                    .await,
            );
        });
    }
}

/// The clients of these tests have a common name that begins with `node-`.
fn common_name(der: &[u8]) -> String {
    let at = der.windows(5).position(|bytes| bytes == b"node-").unwrap();
    String::from_utf8(der[at..at + 6].to_vec()).unwrap()
}

/// A server that asks its clients for a certificate of `clients`, and takes those without one too.
fn asking(authority: &Authority, clients: &Authority) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(
        Arc::new(super::material::roots(clients.pem().as_bytes()).unwrap()),
        Arc::clone(&provider),
    )
    .allow_unauthenticated()
    .build()
    .unwrap();
    let key = KeyPair::generate().unwrap();
    let (chain, key) = authority.signed(
        &CertificateParams::new(vec![NAME.to_owned()]).unwrap(),
        &key,
    );
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)
        .unwrap();
    Arc::new(config)
}

/// A client's certificate and key as PEM.
fn client_pem(authority: &Authority, name: &str) -> (String, String) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate().unwrap();
    (authority.signed_pem(&params, &key), key.serialize_pem())
}

/// A folder with a kubeconfig.
struct Folder {
    folder: TempDir,
    authority: Authority,
}

impl Folder {
    fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
            authority: Authority::new("cluster"),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    fn program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.write(name, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A kubeconfig for a server at `address`, with these lines for the user.
    fn kubeconfig(&self, address: SocketAddr, user: &str) -> PathBuf {
        let ca = BASE64.encode(self.authority.pem());
        let cluster = format!(
            "server: https://{address}\ntls-server-name: {NAME}\ncertificate-authority-data: {ca}"
        );
        self.kubeconfig_of(&cluster, user)
    }

    fn kubeconfig_of(&self, cluster: &str, user: &str) -> PathBuf {
        let indent = |text: &str| text.replace('\n', "\n    ");
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
             clusters:\n- name: k\n  cluster:\n    {}\n\
             users:\n- name: u\n  user:\n    {}\n\
             contexts:\n- name: c\n  context: {{cluster: k, user: u, namespace: here}}\n",
            indent(cluster),
            indent(user)
        );
        self.write("kubeconfig", &text)
    }
}

async fn ask(client: &kube::Client) -> Result<String, kube::Error> {
    let request = http::Request::get("/version").body(Vec::new()).unwrap();
    tokio::time::timeout(PATIENCE, client.request_text(request))
        .await
        .expect("answered or failed in time")
}

/// An error with all its causes, as a person would read it.
fn words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[tokio::test]
async fn a_token_goes_with_each_request_and_is_hidden_from_debug() {
    let folder = Folder::new();
    let server = Server::start(folder.authority.server(), "cp1").await;
    let path = folder.kubeconfig(server.address, &format!("token: {SECRET}"));
    let client = client(&path, Route::Server).unwrap();
    assert_eq!(ask(&client).await.unwrap(), "cp1");
    assert_eq!(ask(&client).await.unwrap(), "cp1");
    assert_eq!(server.last(), token(SECRET));
    assert_eq!(client.default_namespace(), "here");
    assert_eq!(*server.connections.lock(), 1, "one connection is enough");
    let header = Access::read(&path).unwrap().authorization.unwrap();
    assert!(!format!("{header:?}").contains(SECRET));
}

#[tokio::test]
async fn a_token_file_is_read_again_when_it_changes() {
    let folder = Folder::new();
    let server = Server::start(folder.authority.server(), "cp1").await;
    folder.write("token", "first\n");
    // Relative to the kubeconfig's folder, as in client-go.
    let path = folder.kubeconfig(server.address, "tokenFile: token\ntoken: written-down");
    let client = client(&path, Route::Server).unwrap();
    ask(&client).await.unwrap();
    assert_eq!(server.last(), token("first"));
    folder.write("token", "the second\n");
    ask(&client).await.unwrap();
    assert_eq!(
        server.last(),
        token("first"),
        "what can't be used changes nothing"
    );
    folder.write("token", "second\n");
    ask(&client).await.unwrap();
    assert_eq!(server.last(), token("second"));
}

#[tokio::test]
async fn a_client_certificate_is_shown_from_data_and_from_files_and_replaced_with_them() {
    let folder = Folder::new();
    let clients = Authority::new("clients");
    let server = Server::start(asking(&folder.authority, &clients), "cp1").await;
    let (cert, key) = client_pem(&clients, "node-1");
    let user = format!(
        "client-certificate-data: {}\nclient-key-data: {}",
        BASE64.encode(&cert),
        BASE64.encode(&key)
    );
    let inline = client(&folder.kubeconfig(server.address, &user), Route::Server).unwrap();
    ask(&inline).await.unwrap();
    assert_eq!(server.last(), certificate("node-1"));

    let (cert, key) = client_pem(&clients, "node-2");
    // One file for both, as the kubelet keeps them.
    folder.write("both.pem", &(cert + &key));
    let user = "client-certificate: both.pem\nclient-key: both.pem";
    let from_files = client(&folder.kubeconfig(server.address, user), Route::Server).unwrap();
    ask(&from_files).await.unwrap();
    assert_eq!(server.last(), certificate("node-2"));
    let (cert, key) = client_pem(&clients, "node-3");
    folder.write("both.pem", &format!("\n{cert}{key}"));
    ask(&from_files).await.unwrap();
    assert_eq!(server.last(), certificate("node-3"));
}

#[tokio::test]
async fn a_plugin_gives_a_token_and_is_asked_again_when_that_ends() {
    let folder = Folder::new();
    let server = Server::start(folder.authority.server(), "cp1").await;
    let program = folder.program(
        "plugin",
        "#!/bin/sh\n\
         echo run >> \"$(dirname \"$0\")/runs\"\n\
         printf '%s' \"$KUBERNETES_EXEC_INFO\" > \"$(dirname \"$0\")/info\"\n\
         printf '{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\
         \"status\":{\"token\":\"%s\",\"expirationTimestamp\":\"%s\"}}' \"$TOKEN\" \"$1\"\n",
    );
    let user = |until: &str| {
        format!(
            "exec:\n  apiVersion: client.authentication.k8s.io/v1\n  command: ./plugin\n  \
             args: ['{until}']\n  env: [{{name: TOKEN, value: {SECRET}}}]\n  provideClusterInfo: true"
        )
    };
    let runs = || {
        std::fs::read_to_string(folder.path("runs"))
            .unwrap()
            .lines()
            .count()
    };
    assert!(program.exists());
    let lasting = client(
        &folder.kubeconfig(server.address, &user("2126-01-01T00:00:00Z")),
        Route::Server,
    )
    .unwrap();
    ask(&lasting).await.unwrap();
    ask(&lasting).await.unwrap();
    assert_eq!(server.last(), token(SECRET));
    assert_eq!(runs(), 1, "asked once for as long as the token lasts");
    let info: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path("info")).unwrap()).unwrap();
    assert_eq!(info["spec"]["interactive"], false);
    assert_eq!(
        info["spec"]["cluster"]["server"],
        format!("https://{}", server.address)
    );

    // A token that is over already must not be used, nor asked for at each request without end.
    let over = client(
        &folder.kubeconfig(server.address, &user("2020-01-01T00:00:00Z")),
        Route::Server,
    )
    .unwrap();
    ask(&over).await.unwrap();
    ask(&over).await.unwrap();
    assert_eq!(
        runs(),
        2,
        "a token that never lasts is not asked for at each request"
    );
}

#[tokio::test]
async fn a_plugin_gives_a_certificate() {
    let folder = Folder::new();
    let clients = Authority::new("clients");
    let server = Server::start(asking(&folder.authority, &clients), "cp1").await;
    let (cert, key) = client_pem(&clients, "node-4");
    let credential = serde_json::json!({
        "kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1beta1",
        "status": {"clientCertificateData": cert, "clientKeyData": key},
    });
    folder.write("credential.json", &credential.to_string());
    let user = "exec:\n  apiVersion: client.authentication.k8s.io/v1beta1\n  command: cat\n  \
                args: [CREDENTIAL]";
    let user = user.replace(
        "CREDENTIAL",
        &folder.path("credential.json").display().to_string(),
    );
    let client = client(&folder.kubeconfig(server.address, &user), Route::Server).unwrap();
    ask(&client).await.unwrap();
    assert_eq!(server.last(), certificate("node-4"));
}

#[tokio::test]
async fn a_plugin_that_fails_is_named_and_its_output_is_not_repeated() {
    let folder = Folder::new();
    let programs = [
        ("exit 3", "failed (exit status: 3); run by hand it says why"),
        (
            "exit 0",
            "printed something else; accepted: an ExecCredential as JSON",
        ),
        (
            "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{\"token\":\"a b\"}}'",
            "printed a token with more than one word; accepted: an ExecCredential as JSON",
        ),
        (
            "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1beta1\",\"status\":{\"token\":\"a\"}}'",
            "printed a credential of another apiVersion than it was asked for; \
             accepted: an ExecCredential as JSON",
        ),
    ];
    for (place, (does, expected)) in programs.into_iter().enumerate() {
        let name = format!("plugin-{place}");
        folder.program(
            &name,
            &format!("#!/bin/sh\necho {SECRET} >&2\n[ $0 = x ] || true\n{does}\n"),
        );
        let user =
            format!("exec: {{apiVersion: client.authentication.k8s.io/v1, command: ./{name}}}");
        let path = folder.kubeconfig("127.0.0.1:1".parse().unwrap(), &user);
        let client = client(&path, Route::Server).unwrap();
        let said = words(&ask(&client).await.unwrap_err());
        let command = folder.path(&format!("./{name}")).display().to_string();
        assert!(
            said.contains(&format!("exec: {command} {expected}")),
            "{said}"
        );
        assert!(!said.contains(SECRET), "{said}");
    }
    folder.program("hanging", "#!/bin/sh\nexec sleep 600\n");
    let user = "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./hanging}";
    let path = folder.kubeconfig("127.0.0.1:1".parse().unwrap(), user);
    let plugin = Access::read(&path).unwrap().plugin.unwrap();
    let hung = plugin.ask_within(Duration::from_millis(200)).await;
    let said = hung
        .err()
        .expect("a plug-in that hangs gives nothing")
        .to_string();
    assert!(
        said.ends_with("hanging gave no credential in 0.2 s"),
        "{said}"
    );
}
