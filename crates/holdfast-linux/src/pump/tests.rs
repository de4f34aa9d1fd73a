use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    (near, listener.accept().await.unwrap().0)
}

/// A client's and an upstream's end, with a pump between them.
async fn pumped() -> (
    TcpStream,
    TcpStream,
    Arc<Flow>,
    tokio::task::JoinHandle<End>,
) {
    let (client, mut near) = pair().await;
    let (mut far, upstream) = pair().await;
    let flow = Arc::new(Flow::default());
    let counted = Arc::clone(&flow);
    let task = tokio::spawn(async move { pump(&mut near, &mut far, &counted, || 41).await });
    (client, upstream, flow, task)
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len)
        .map(|i| u8::try_from(i * 7 % 251).unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_byte_arrives_in_order_both_ways_against_a_slow_reader() {
    let (client, upstream, flow, task) = pumped().await;
    let sent = pattern(8 * 1024 * 1024);
    let expected = sent.clone();
    let (mut client_read, mut client_write) = client.into_split();
    let (mut upstream_read, mut upstream_write) = upstream.into_split();
    let write = tokio::spawn(async move {
        client_write.write_all(&sent).await.unwrap();
        client_write.shutdown().await.unwrap();
    });
    let echo = tokio::spawn(async move {
        let mut chunk = vec![0; 9000];
        loop {
            let n = upstream_read.read(&mut chunk).await.unwrap();
            if n == 0 {
                break;
            }
            upstream_write.write_all(&chunk[..n]).await.unwrap();
        }
        upstream_write.shutdown().await.unwrap();
    });
    let mut got = Vec::new();
    client_read.read_to_end(&mut got).await.unwrap();
    write.await.unwrap();
    echo.await.unwrap();
    assert!(got == expected);
    assert_eq!(task.await.unwrap(), End::ClientClosed);
    assert_eq!(flow.to_upstream(), expected.len() as u64);
    assert_eq!(flow.to_client(), expected.len() as u64);
    assert_eq!(flow.heard_ms(), Some(41));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bulk_transfer_is_spliced_and_small_messages_afterwards_are_not() {
    let (client, upstream, flow, task) = pumped().await;
    let sent = Arc::new(pattern(16 * 1024 * 1024));
    let (_client_read, mut client_write) = client.into_split();
    let (mut upstream_read, _upstream_write) = upstream.into_split();
    // How full a read is depends on who runs when: several rounds make four full ones in a row sure.
    for _ in 0..40 {
        let bulk = Arc::clone(&sent);
        let write = tokio::spawn(async move {
            client_write.write_all(&bulk).await.unwrap();
            client_write
        });
        let mut got = vec![0; sent.len()];
        upstream_read.read_exact(&mut got).await.unwrap();
        client_write = write.await.unwrap();
        assert!(got == *sent);
        if flow.bytes_spliced() > 1024 * 1024 {
            break;
        }
    }
    assert!(flow.bytes_spliced() > 1024 * 1024);
    // The transfer is over: the first small message may still come through the pipe, others do not.
    let mut spliced = 0;
    for message in 0..20 {
        client_write.write_all(b"ping").await.unwrap();
        let mut ping = [0; 4];
        upstream_read.read_exact(&mut ping).await.unwrap();
        assert_eq!(&ping, b"ping");
        if message == 0 {
            spliced = flow.bytes_spliced();
        }
    }
    assert!(flow.bytes_spliced() <= spliced + 8);
    task.abort();
}

#[tokio::test]
async fn one_side_may_close_and_still_get_its_answer() {
    let (mut client, mut upstream, _, task) = pumped().await;
    client.write_all(b"question").await.unwrap();
    client.shutdown().await.unwrap();
    let mut question = String::new();
    upstream.read_to_string(&mut question).await.unwrap();
    assert_eq!(question, "question");
    upstream.write_all(b"answer").await.unwrap();
    drop(upstream);
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, "answer");
    assert_eq!(task.await.unwrap(), End::ClientClosed);
}

#[tokio::test]
async fn the_side_that_closed_first_is_told_and_the_other_sees_the_end() {
    let (mut client, mut upstream, _, task) = pumped().await;
    upstream.write_all(b"goodbye").await.unwrap();
    upstream.shutdown().await.unwrap();
    let mut goodbye = String::new();
    client.read_to_string(&mut goodbye).await.unwrap();
    assert_eq!(goodbye, "goodbye");
    // The other direction still works.
    client.write_all(b"thanks").await.unwrap();
    client.shutdown().await.unwrap();
    let mut thanks = String::new();
    upstream.read_to_string(&mut thanks).await.unwrap();
    assert_eq!(thanks, "thanks");
    assert_eq!(task.await.unwrap(), End::UpstreamClosed);
}

#[tokio::test]
async fn a_failure_is_told_by_its_side() {
    let (client, upstream, _, task) = pumped().await;
    dial::reset_on_drop(&upstream);
    drop(upstream);
    assert_eq!(task.await.unwrap(), End::UpstreamFailed);
    drop(client);

    let (client, upstream, _, task) = pumped().await;
    dial::reset_on_drop(&client);
    drop(client);
    assert_eq!(task.await.unwrap(), End::ClientFailed);
    drop(upstream);
}

#[tokio::test]
async fn a_reader_that_stops_stops_the_sender() {
    let (client, upstream, flow, task) = pumped().await;
    let chunk = vec![0; 64 * 1024];
    let mut sent = 0;
    loop {
        let written = timeout(Duration::from_millis(500), client.writable()).await;
        if written.is_err() {
            break;
        }
        sent += client.try_write(&chunk).unwrap_or(0);
        assert!(
            sent < 256 * 1024 * 1024,
            "nobody reads, and still more is taken"
        );
    }
    assert!(flow.to_upstream() <= sent as u64);
    drop((client, upstream));
    task.await.unwrap();
}

#[tokio::test]
async fn a_connection_that_lasts_asks_its_upstream_and_one_that_does_not_need_not() {
    let (client, mut near) = pair().await;
    let (mut far, upstream) = pair().await;
    let flow = Flow::default();
    let short = Duration::from_millis(100);
    let pumping = timeout(short, pump(&mut near, &mut far, &flow, || 0)).await;
    assert!(pumping.is_err());
    assert!(!dial::asks_when_idle(&far));
    let longer = LASTING + Duration::from_millis(500);
    let pumping = timeout(longer, pump(&mut near, &mut far, &flow, || 0)).await;
    assert!(pumping.is_err());
    assert!(dial::asks_when_idle(&far));
    drop((client, upstream));
}
