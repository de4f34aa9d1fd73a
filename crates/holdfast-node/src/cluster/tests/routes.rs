//! Which way a request goes: the kubeconfig's server, or whichever of several addresses answers.

use super::*;

fn through(addresses: &[SocketAddr]) -> Route {
    let addresses = addresses.to_vec();
    Route::Through(Arc::new(move || addresses.clone()))
}

/// Nobody listens there.
async fn closed() -> SocketAddr {
    let (listener, address) = listener().await;
    drop(listener);
    address
}

fn connect_error(error: &kube::Error) -> ConnectError {
    let kube::Error::Service(error) = error else {
        panic!("not an error of the transport: {error}");
    };
    match error.downcast_ref::<TransportError>() {
        Some(TransportError::Connect(error)) => error.clone(),
        other => panic!("not an error of connecting: {other:?}"),
    }
}

#[tokio::test]
async fn refused_and_hung_addresses_give_way_to_one_that_answers() {
    let folder = Folder::new();
    let server = Server::start(folder.authority.server(), "cp3").await;
    // Accepts by way of its backlog, and never answers.
    let (_hung, hung) = listener().await;
    let path = folder.kubeconfig("127.0.0.1:1".parse().unwrap(), "token: t");
    let client = client(&path, through(&[closed().await, hung, server.address])).unwrap();
    let asked = tokio::time::Instant::now();
    assert_eq!(ask(&client).await.unwrap(), "cp3");
    assert!(
        asked.elapsed() < Duration::from_secs(3),
        "{:?}",
        asked.elapsed()
    );
}

#[tokio::test]
async fn a_stranger_is_not_asked_and_each_failure_is_told() {
    let folder = Folder::new();
    let stranger = Server::start(Authority::new("stranger").server(), "stranger").await;
    let misnamed = Server::start(
        folder.authority.server_with("other.test", |_| {}),
        "misnamed",
    )
    .await;
    let refused = closed().await;
    let path = folder.kubeconfig("127.0.0.1:1".parse().unwrap(), "token: t");
    let route = through(&[stranger.address, misnamed.address, refused]);
    let client = client(&path, route).unwrap();
    let error = connect_error(&ask(&client).await.unwrap_err());
    let of = |address| {
        let found = error.failures.iter().find(|(a, _)| *a == address);
        found.expect("tried").1.clone()
    };
    assert!(matches!(of(stranger.address), Failure::Tls(_)), "{error}");
    assert!(matches!(of(misnamed.address), Failure::Tls(_)), "{error}");
    assert!(matches!(of(refused), Failure::Tcp(_)), "{error}");
    assert_eq!(stranger.seen.lock().len() + misnamed.seen.lock().len(), 0);
}

#[tokio::test]
async fn the_name_to_verify_is_the_servers_own_unless_the_kubeconfig_says_otherwise() {
    let folder = Folder::new();
    let server = Server::start(folder.authority.server(), "cp1").await;
    let named = folder.kubeconfig(server.address, "token: t");
    let text = std::fs::read_to_string(&named).unwrap();
    assert_eq!(
        ask(&client(&named, Route::Server).unwrap()).await.unwrap(),
        "cp1"
    );
    folder.write(
        "kubeconfig",
        &text.replace(&format!("tls-server-name: {NAME}"), "namespace: x"),
    );
    let error = ask(&client(&named, Route::Server).unwrap())
        .await
        .unwrap_err();
    assert!(matches!(
        connect_error(&error).failures.as_slice(),
        [(address, Failure::Tls(_))] if *address == server.address
    ));
    // By name: the name is looked up, and verified.
    let port = server.address.port();
    let local = Server::start(folder.authority.server_with("localhost", |_| {}), "local").await;
    let cluster = |port: u16| {
        let ca = BASE64.encode(folder.authority.pem());
        format!("server: https://localhost:{port}\ncertificate-authority-data: {ca}")
    };
    let path = folder.kubeconfig_of(&cluster(local.address.port()), "token: t");
    assert_eq!(
        ask(&client(&path, Route::Server).unwrap()).await.unwrap(),
        "local"
    );
    let path = folder.kubeconfig_of(&cluster(port), "token: t");
    assert!(ask(&client(&path, Route::Server).unwrap()).await.is_err());
}

#[tokio::test]
async fn a_server_that_completes_tls_and_answers_nothing_is_not_asked_twice() {
    let folder = Folder::new();
    let (silent, silent_address) = listener().await;
    let acceptor = TlsAcceptor::from(folder.authority.server());
    let held = Arc::<Mutex<Vec<_>>>::default();
    let keep = Arc::clone(&held);
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = silent.accept().await {
            if let Ok(stream) = acceptor.accept(stream).await {
                keep.lock().push(stream);
            }
        }
    });
    let _task = AbortOnDropHandle::new(task);
    let server = Server::start(folder.authority.server(), "cp2").await;
    let path = folder.kubeconfig("127.0.0.1:1".parse().unwrap(), "token: t");
    let transport = Transport::answering_within(
        &path,
        through(&[silent_address, server.address]),
        Duration::from_millis(500),
    );
    let client = kube::Client::new(transport, "default");
    let error = words(&ask(&client).await.unwrap_err());
    assert!(error.contains("no answer in 0.5 s"), "{error}");
    assert_eq!(ask(&client).await.unwrap(), "cp2");
    assert_eq!(held.lock().len(), 1);
}

#[tokio::test]
async fn a_kubeconfig_may_appear_later() {
    let folder = Folder::new();
    let server = Server::start(folder.authority.server(), "cp1").await;
    let client = client_in_time(&folder.path("kubeconfig"), Route::Server);
    let error = words(&ask(&client).await.unwrap_err());
    assert!(error.contains("kubeconfig: No such file"), "{error}");
    folder.kubeconfig(server.address, "token: t");
    assert_eq!(ask(&client).await.unwrap(), "cp1");
    assert_eq!(server.last(), token("t"));
}

#[tokio::test]
async fn without_any_address_the_error_says_so() {
    let folder = Folder::new();
    let path = folder.kubeconfig("127.0.0.1:1".parse().unwrap(), "token: t");
    let error = ask(&client(&path, through(&[])).unwrap())
        .await
        .unwrap_err();
    let said = words(&error);
    assert!(
        said.contains("no address of an API server is known"),
        "{said}"
    );
}
