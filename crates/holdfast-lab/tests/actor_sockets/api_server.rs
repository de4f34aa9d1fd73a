//! The API server over both protocols, asked as its clients ask.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::stage::{Actor, Certificates, NAME, PATIENCE, loopback};

const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

#[derive(Debug, Clone, Copy)]
enum Protocol {
    H1,
    H2,
}

/// One request on a connection of its own.
async fn send(
    server: SocketAddr,
    certificates: &Certificates,
    protocol: Protocol,
    (method, path, body): (&str, &str, &str),
) -> Response<Incoming> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(certificates.path("ca.pem")).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let (alpn, uri) = match protocol {
        Protocol::H1 => ("http/1.1", path.to_owned()),
        Protocol::H2 => ("h2", format!("https://{NAME}{path}")),
    };
    config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    let stream = TcpStream::connect(server).await.unwrap();
    let stream = TlsConnector::from(Arc::new(config))
        .connect(ServerName::try_from(NAME).unwrap(), stream)
        .await
        .unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(alpn.as_bytes()));

    let request = Request::builder()
        .method(method)
        .uri(uri)
        .header("host", NAME);
    let request = request
        .body(Full::new(Bytes::from(body.to_owned())))
        .unwrap();
    let io = TokioIo::new(stream);
    match protocol {
        Protocol::H1 => {
            let (mut sender, connection) = http1::handshake(io).await.unwrap();
            tokio::spawn(connection);
            sender.send_request(request).await.unwrap()
        }
        Protocol::H2 => {
            let (mut sender, connection) =
                http2::handshake(TokioExecutor::new(), io).await.unwrap();
            tokio::spawn(connection);
            sender.send_request(request).await.unwrap()
        }
    }
}

/// A stand-in and the certificates that its clients need.
struct Scene {
    certificates: Certificates,
    server: Actor,
}

impl Scene {
    async fn new(endpoints: Vec<SocketAddr>, bookmark_every: Option<Duration>) -> Self {
        let certificates = Certificates::new();
        let server = Actor::api_server_with("cp1", &certificates, |options| {
            options.endpoints = endpoints;
            options.bookmark_every = bookmark_every;
        })
        .await;
        Self {
            certificates,
            server,
        }
    }

    async fn open(&self, protocol: Protocol, path: &str) -> Response<Incoming> {
        send(
            self.server.listen,
            &self.certificates,
            protocol,
            ("GET", path, ""),
        )
        .await
    }

    async fn ask(&self, method: &str, path: &str, body: &str) -> (StatusCode, Value) {
        let request = (method, path, body);
        let response = send(
            self.server.listen,
            &self.certificates,
            Protocol::H1,
            request,
        )
        .await;
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
    }
}

/// The next event of a watch.
async fn next(watch: &mut Response<Incoming>) -> Value {
    let frame = timeout(PATIENCE, watch.body_mut().frame()).await.unwrap();
    let data = frame.unwrap().unwrap().into_data().unwrap();
    serde_json::from_slice(&data).unwrap()
}

#[tokio::test]
async fn speaks_http1_and_http2_and_names_itself() {
    let mut scene = Scene::new(Vec::new(), None).await;
    for protocol in [Protocol::H1, Protocol::H2] {
        let response = scene.open(protocol, "/readyz").await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["x-lab-server"], "cp1");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, "ok");
    }
    let counts = scene.server.order("count").await;
    assert_eq!(
        (&counts["requests"], &counts["handshakes"]),
        (&json!(2), &json!(2))
    );
    let missing = scene.open(Protocol::H2, "/nowhere").await;
    assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    assert_eq!(missing.headers()["x-lab-server"], "cp1");
}

#[tokio::test]
async fn is_not_ready_but_alive_when_ordered() {
    let mut scene = Scene::new(Vec::new(), None).await;
    scene.server.must("not-ready").await;
    assert_eq!(
        scene.ask("GET", "/readyz", "").await.0,
        StatusCode::INTERNAL_SERVER_ERROR
    );
    assert_eq!(scene.ask("GET", "/livez", "").await.0, StatusCode::OK);
    assert_eq!(
        scene.ask("GET", "/version", "").await.1["gitVersion"],
        "v1.33.0"
    );
    scene.server.must("ready").await;
    assert_eq!(scene.ask("GET", "/readyz", "").await.0, StatusCode::OK);
}

#[tokio::test]
async fn is_late_when_ordered() {
    let mut scene = Scene::new(Vec::new(), None).await;
    scene.server.must("delay 300ms").await;
    let begun = Instant::now();
    assert_eq!(scene.ask("GET", "/readyz", "").await.0, StatusCode::OK);
    assert!(begun.elapsed() >= Duration::from_millis(300));
    let answer = scene.server.order("delay 300").await;
    assert!(answer["error"].as_str().unwrap().contains("\"300\""));
}

#[tokio::test]
async fn keeps_leases_and_shows_their_holders_as_nodes() {
    let scene = Scene::new(Vec::new(), None).await;
    let path = format!("{LEASES}/node1");
    assert_eq!(scene.ask("GET", &path, "").await.0, StatusCode::NOT_FOUND);
    let lease =
        r#"{"metadata":{"name":"node1"},"spec":{"renewTime":"2025-01-01T00:00:00.000001Z"}}"#;
    assert_eq!(
        scene.ask("POST", LEASES, lease).await.0,
        StatusCode::CREATED
    );
    assert_eq!(
        scene.ask("POST", LEASES, lease).await.0,
        StatusCode::CONFLICT
    );
    let newer = lease.replace("000001", "000002");
    assert_eq!(scene.ask("PUT", &path, &newer).await.0, StatusCode::OK);
    let (status, stored) = scene.ask("GET", &path, "").await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(stored["spec"]["renewTime"], "2025-01-01T00:00:00.000002Z");
    assert_eq!(stored["kind"], "Lease");
    assert_eq!(
        scene.ask("GET", LEASES, "").await.1["items"],
        json!([stored])
    );

    let (_, nodes) = scene.ask("GET", "/api/v1/nodes", "").await;
    assert_eq!(nodes["kind"], "NodeList");
    assert_eq!(nodes["items"][0]["metadata"]["name"], "node1");
    assert_eq!(
        scene.ask("GET", "/api/v1/nodes/node1", "").await.1["kind"],
        "Node"
    );
    assert_eq!(
        scene.ask("GET", "/api/v1/nodes/node2", "").await.0,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        scene.ask("DELETE", &path, "").await.0,
        StatusCode::METHOD_NOT_ALLOWED
    );
    assert_eq!(
        scene.ask("PUT", &path, "{").await.0,
        StatusCode::BAD_REQUEST
    );
}

#[tokio::test]
async fn an_idle_watch_says_one_bookmark_and_then_nothing() {
    let scene = Scene::new(Vec::new(), None).await;
    for protocol in [Protocol::H1, Protocol::H2] {
        let mut watch = scene.open(protocol, "/api/v1/nodes?watch=true").await;
        let bookmark = next(&mut watch).await;
        assert_eq!(bookmark["type"], "BOOKMARK");
        assert_eq!(bookmark["object"]["kind"], "Node");
        let more = timeout(Duration::from_millis(700), watch.body_mut().frame()).await;
        assert!(more.is_err(), "{more:?}");
    }
}

#[tokio::test]
async fn bookmarks_come_as_often_as_asked_for_and_the_watch_ends_when_asked_to() {
    let scene = Scene::new(Vec::new(), Some(Duration::from_millis(50))).await;
    let path = "/api/v1/nodes?watch=1&timeoutSeconds=1";
    let mut watch = scene.open(Protocol::H2, path).await;
    for _ in 0..3 {
        assert_eq!(next(&mut watch).await["type"], "BOOKMARK");
    }
    let rest = timeout(PATIENCE, watch.into_body().collect())
        .await
        .unwrap();
    assert!(rest.is_ok());
}

#[tokio::test]
async fn endpoint_slices_follow_orders_in_lists_and_watches() {
    let first = vec![loopback(2, 6443), "[fd00::1]:6443".parse().unwrap()];
    let mut scene = Scene::new(first, None).await;
    let (_, list) = scene.ask("GET", SLICES, "").await;
    assert_eq!(list["kind"], "EndpointSliceList");
    let slice = &list["items"][0];
    assert_eq!(slice["metadata"]["name"], "kubernetes");
    assert_eq!(
        slice["metadata"]["labels"]["kubernetes.io/service-name"],
        "kubernetes"
    );
    assert_eq!(slice["addressType"], "IPv4");
    assert_eq!(slice["endpoints"][0]["addresses"], json!(["127.0.0.2"]));
    assert_eq!(slice["ports"][0]["port"], 6443);
    assert_eq!(list["items"][1]["addressType"], "IPv6");
    assert_eq!(
        list["items"][1]["endpoints"][0]["addresses"],
        json!(["fd00::1"])
    );
    let elsewhere = SLICES.replace("default", "kube-system");
    assert_eq!(scene.ask("GET", &elsewhere, "").await.1["items"], json!([]));

    let revision = list["metadata"]["resourceVersion"].as_str().unwrap();
    let path = format!("{SLICES}?watch=true&resourceVersion={revision}");
    let mut watch = scene.open(Protocol::H2, &path).await;
    assert_eq!(
        next(&mut watch).await["type"],
        "BOOKMARK",
        "nothing that is known already"
    );
    scene
        .server
        .must("endpoints 127.0.0.3:6443,127.0.0.4:6443")
        .await;
    let gone = next(&mut watch).await;
    assert_eq!(
        (&gone["type"], &gone["object"]["addressType"]),
        (&json!("DELETED"), &json!("IPv6"))
    );
    let changed = next(&mut watch).await;
    assert_eq!(changed["type"], "MODIFIED");
    assert_eq!(
        changed["object"]["endpoints"][1]["addresses"],
        json!(["127.0.0.4"])
    );

    let mut fresh = scene
        .open(Protocol::H1, &format!("{SLICES}?watch=true"))
        .await;
    assert_eq!(next(&mut fresh).await["type"], "ADDED");
    assert_eq!(next(&mut fresh).await["type"], "BOOKMARK");
}

#[tokio::test]
async fn counts_connections_that_are_open() {
    let mut scene = Scene::new(Vec::new(), None).await;
    let watch = scene.open(Protocol::H2, "/api/v1/nodes?watch=true").await;
    assert_eq!(scene.server.order("count").await["connections_open"], 1);
    drop(watch);
    let begun = Instant::now();
    while scene.server.order("count").await["connections_open"] != 0 {
        assert!(begun.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
