//! The balancer in front of real servers.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::stage::{Actor, loopback};

/// A server that answers every connection with one byte and then echoes.
async fn marked(mark: u8, tasks: &mut JoinSet<()>) -> std::net::SocketAddr {
    let listener = TcpListener::bind(loopback(1, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tasks.spawn(async move {
        let mut echoes = JoinSet::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            echoes.spawn(async move {
                stream.write_all(&[mark]).await.unwrap();
                let (mut from, mut to) = stream.split();
                drop(tokio::io::copy(&mut from, &mut to).await);
            });
        }
    });
    address
}

/// A port at which nobody listens.
async fn refusing() -> std::net::SocketAddr {
    let listener = TcpListener::bind(loopback(1, 0)).await.unwrap();
    listener.local_addr().unwrap()
}

async fn who_answers(balancer: &Actor) -> u8 {
    let mut stream = TcpStream::connect(balancer.listen).await.unwrap();
    stream.read_u8().await.unwrap()
}

#[tokio::test]
async fn goes_round_and_past_a_target_that_refuses() {
    let mut tasks = JoinSet::new();
    let first = marked(b'a', &mut tasks).await;
    let second = marked(b'b', &mut tasks).await;
    let balancer = Actor::balancer(vec![first, refusing().await, second]).await;
    let mut answers = Vec::new();
    for _ in 0..6 {
        answers.push(who_answers(&balancer).await);
    }
    assert_eq!(answers, b"abbabb");
}

#[tokio::test]
async fn new_targets_are_for_new_connections_only() {
    let mut tasks = JoinSet::new();
    let first = marked(b'a', &mut tasks).await;
    let second = marked(b'b', &mut tasks).await;
    let mut balancer = Actor::balancer(vec![first]).await;
    let mut kept = TcpStream::connect(balancer.listen).await.unwrap();
    assert_eq!(kept.read_u8().await.unwrap(), b'a');
    balancer.must(&format!("to {second}")).await;
    assert_eq!(who_answers(&balancer).await, b'b');
    kept.write_all(b"x").await.unwrap();
    assert_eq!(kept.read_u8().await.unwrap(), b'x');
}

#[tokio::test]
async fn resets_a_client_when_no_target_is_left() {
    let mut balancer = Actor::balancer(vec![refusing().await]).await;
    let mut stream = TcpStream::connect(balancer.listen).await.unwrap();
    let error = stream.read_u8().await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    let answer = balancer.order("to nowhere").await;
    assert_eq!(answer["ok"], false);
    assert!(answer["error"].as_str().unwrap().contains("\"nowhere\""));
    let counts = balancer.order("count").await;
    assert_eq!(
        counts,
        json!({"ok": true, "connections": 1, "connections_open": 0})
    );
}
