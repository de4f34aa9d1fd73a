use rcgen::date_time_ymd;
use rustls::ServerConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::stage::{Authority, CaFile, NAME, PATIENCE, listener};

fn refusal(text: &str) -> String {
    let file = CaFile::with(text);
    let error = Identity::load(&file.path(), NAME).unwrap_err();
    assert!(
        matches!(error, TlsError::NoCa { .. }),
        "{text:?} is no CA: {error:?}"
    );
    let message = error.to_string();
    assert!(
        message.starts_with("ca: found ") && message.contains("; accepted: PEM certificates"),
        "{message}"
    );
    assert!(
        message.contains(&file.path().display().to_string()),
        "{message}"
    );
    message
}

#[test]
fn a_missing_ca_file_is_named_with_what_the_kernel_says() {
    let error = Identity::load(Path::new("/nowhere/ca.crt"), NAME).unwrap_err();
    assert_eq!(
        error.to_string(),
        "read /nowhere/ca.crt: No such file or directory (os error 2)"
    );
}

#[test]
fn a_ca_file_without_a_certificate_says_what_was_found_and_what_is_accepted() {
    assert!(refusal("").contains("no certificate"));
    assert!(refusal("not a certificate\n").contains("no certificate"));
    // The file next to it.
    let key = rcgen::KeyPair::generate().unwrap().serialize_pem();
    assert!(refusal(&key).contains("no certificate"));
}

#[test]
fn a_ca_file_that_is_cut_off_or_garbled_is_refused() {
    let pem = Authority::new("cluster").pem();
    assert!(refusal(&pem[..pem.len() / 2]).contains("broken PEM"));
    let garbled = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert!(refusal(garbled).contains("no CA's"));
}

#[test]
fn a_servers_certificate_is_no_ca() {
    let authority = Authority::new("cluster");
    let leaf = authority.leaf_pem();
    assert!(refusal(&leaf).contains("a certificate that is no CA's"));
    // Not even behind one that is.
    let both = authority.pem() + &leaf;
    assert!(refusal(&both).contains("a certificate that is no CA's"));
}

#[test]
fn a_ca_with_a_limited_path_is_a_ca() {
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Constrained(0));
    let key = rcgen::KeyPair::generate().unwrap();
    let pem = params.self_signed(&key).unwrap().pem();
    Identity::load(&CaFile::with(&pem).path(), NAME).unwrap();
}

#[test]
fn a_server_name_that_is_none_is_refused() {
    let file = CaFile::with(&Authority::new("cluster").pem());
    let error = Identity::load(&file.path(), "no name").unwrap_err();
    assert_eq!(
        error.to_string(),
        "serverName: found \"no name\"; accepted: a DNS name or an address"
    );
}

#[test]
fn an_ipv6_address_is_in_brackets_in_a_host_header() {
    let file = CaFile::with(&Authority::new("cluster").pem());
    let host = |name| Identity::load(&file.path(), name).unwrap().host();
    assert_eq!(host("fd00::1"), "[fd00::1]");
    assert_eq!(host("10.0.0.1"), "10.0.0.1");
    assert_eq!(host(NAME), NAME);
}

/// One handshake with a server that has these settings.
async fn shake(identity: &Identity, server: Arc<ServerConfig>) -> Result<(), HandshakeError> {
    let (listener, address) = listener().await;
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        // Whether it succeeds is asked of the client alone.
        drop(TlsAcceptor::from(server).accept(stream).await);
    });
    connect(identity, address).await
}

async fn connect(identity: &Identity, address: std::net::SocketAddr) -> Result<(), HandshakeError> {
    let stream = TcpStream::connect(address).await.unwrap();
    let handshake = identity.connector().connect(identity.name(), stream);
    let secured = timeout(PATIENCE, handshake).await.unwrap();
    secured.map(drop).map_err(|error| handshake_error(&error))
}

fn stranger(result: Result<(), HandshakeError>) -> String {
    match result {
        Err(HandshakeError::Stranger(why)) => why,
        other => panic!("{other:?} is no stranger"),
    }
}

#[tokio::test]
async fn a_rotated_ca_file_is_read_again_and_a_broken_one_keeps_the_old() {
    let (old, new) = (Authority::new("old"), Authority::new("new"));
    let mut file = CaFile::with(&old.pem());
    let identity = Identity::load(&file.path(), NAME).unwrap();
    shake(&identity, old.server()).await.unwrap();
    stranger(shake(&identity, new.server()).await);

    file.write("half of a certif");
    shake(&identity, old.server()).await.unwrap();
    fs::remove_file(file.path()).unwrap();
    shake(&identity, old.server()).await.unwrap();

    file.write(&new.pem());
    shake(&identity, new.server()).await.unwrap();
    stranger(shake(&identity, old.server()).await);

    // While a cluster rotates its CA, both are in the file.
    file.write(&(old.pem() + &new.pem()));
    shake(&identity, old.server()).await.unwrap();
    shake(&identity, new.server()).await.unwrap();
}

#[tokio::test]
async fn whoever_is_not_the_expected_server_is_a_stranger_with_the_reason_in_words() {
    let authority = Authority::new("cluster");
    let file = CaFile::with(&authority.pem());
    let identity = Identity::load(&file.path(), NAME).unwrap();

    let why = stranger(shake(&identity, Authority::new("other").server()).await);
    assert!(why.contains("UnknownIssuer"), "{why}");
    let namesake = Authority::new("cluster").server();
    let why = stranger(shake(&identity, namesake).await);
    assert!(why.contains("BadSignature"), "{why}");

    let other_name = authority.server_with("api.other.test", |_| {});
    let why = stranger(shake(&identity, other_name).await);
    assert!(
        why.contains(NAME) && why.contains("api.other.test"),
        "{why}"
    );

    let expired = authority.server_with(NAME, |params| {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
    });
    let why = stranger(shake(&identity, expired).await);
    assert!(why.contains("expired"), "{why}");
}

#[tokio::test]
async fn whoever_does_not_speak_tls_is_a_stranger() {
    let file = CaFile::with(&Authority::new("cluster").pem());
    let identity = Identity::load(&file.path(), NAME).unwrap();
    let (listener, address) = listener().await;
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
        // Open until the client has read it.
        drop(stream.read(&mut [0; 1024]).await);
    });
    stranger(connect(&identity, address).await);
}

#[tokio::test]
async fn a_connection_that_is_closed_before_it_is_done_says_nothing_about_who_it_was() {
    let file = CaFile::with(&Authority::new("cluster").pem());
    let identity = Identity::load(&file.path(), NAME).unwrap();
    for reset in [false, true] {
        let (listener, address) = listener().await;
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            // With unread bytes the kernel answers a close with a reset (RFC 2525, section 2.17).
            if !reset {
                drop(stream.read(&mut [0; 4096]).await);
            }
        });
        assert_eq!(
            connect(&identity, address).await,
            Err(HandshakeError::Ended),
            "reset: {reset}"
        );
    }
}
