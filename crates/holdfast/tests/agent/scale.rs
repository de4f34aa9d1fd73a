//! Many connections, busy processors and clients that do not read: nothing is cut, memory stays flat,
//! and new connections are taken.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use holdfast_core::status::What;
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::client::{Client, tls};
use crate::stage::{Agent, Cluster, PATIENCE, eventually, skipped};

/// Descriptors for so many connections with both ends in one process, and something for the rest.
/// Says so and gives false where they are not to be had.
fn may_open(connections: u64) -> bool {
    // The agent inherits it.
    let mut limit = getrlimit(Resource::Nofile);
    let needed = 2 * connections + 500;
    if limit.maximum.is_some_and(|most| most < needed) {
        skipped(&format!(
            "fewer than {needed} descriptors allowed; raise `ulimit -Hn`"
        ));
        return false;
    }
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    true
}

/// Resident memory of the agent in KiB (proc(5), `VmRSS`).
fn resident(agent: &Agent) -> u64 {
    let path = format!("/proc/{}/status", agent.process.id());
    let status = std::fs::read_to_string(path).unwrap();
    let size = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    let size = size.unwrap().trim().strip_suffix(" kB").unwrap();
    size.parse().unwrap()
}

fn descriptors(agent: &Agent) -> usize {
    let path = format!("/proc/{}/fd", agent.process.id());
    std::fs::read_dir(path).unwrap().count()
}

/// An agent whose only upstream is what the test itself serves. It is no API server, and used all the
/// same: there is no other (S6).
fn agent_before(upstream: SocketAddr) -> Agent {
    let cluster = Cluster::start(0);
    let mut arguments = cluster.basics();
    arguments.push(format!("--seed={upstream}"));
    Agent::start(&arguments)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

/// Sends back what comes, byte by byte.
async fn echo(listener: TcpListener) {
    while let Ok((mut stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            let mut byte = [0];
            while stream.read_exact(&mut byte).await.is_ok() {
                if stream.write_all(&byte).await.is_err() {
                    break;
                }
            }
        });
    }
}

async fn ping(stream: &mut TcpStream) {
    let mut byte = [7];
    stream.write_all(&byte).await.unwrap();
    timeout(PATIENCE, stream.read_exact(&mut byte))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(byte, [7]);
}

async fn open(to: SocketAddr, count: usize, into: &mut Vec<TcpStream>) {
    // As many under way at once as a node that starts all its pods.
    for batch in 0..count.div_ceil(100) {
        let size = (count - batch * 100).min(100);
        let one = || async move {
            let mut stream = TcpStream::connect(to).await.unwrap();
            ping(&mut stream).await;
            stream
        };
        let tasks: Vec<_> = (0..size).map(|_| tokio::spawn(one())).collect();
        for task in tasks {
            into.push(task.await.unwrap());
        }
    }
}

/// KiB of memory that a connection may cost in an unoptimised build.
const KIB_EACH: u64 = 12;

#[test]
fn nine_thousand_connections_cost_the_same_each_and_the_next_is_taken() {
    if !may_open(9000) {
        return;
    }
    let runtime = runtime();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let upstream = listener.local_addr().unwrap();
    runtime.spawn(echo(listener));
    let agent = agent_before(upstream);
    let mut clients = Vec::new();
    runtime.block_on(open(agent.listen, 1000, &mut clients));
    let first = resident(&agent);
    runtime.block_on(open(agent.listen, 8000, &mut clients));
    agent.until("all are open", |status| status.connections == 9000);
    let grown = resident(&agent).saturating_sub(first);
    assert!(grown < 8000 * KIB_EACH, "{grown} KiB for 8000 connections");
    runtime.block_on(async {
        let mut next = Vec::new();
        open(agent.listen, 1, &mut next).await;
        for client in clients.iter_mut().step_by(100) {
            ping(client).await;
        }
    });
    assert!(
        agent
            .status()
            .actions
            .iter()
            .all(|a| a.what != What::ConnectionCut)
    );
    drop(clients);
    agent.until("all are gone", |status| status.connections == 0);
    assert!(descriptors(&agent) < 100, "{}", descriptors(&agent));
}

/// Keeps the processors busy until it is dropped.
struct Stress(Arc<AtomicBool>);

impl Stress {
    fn start() -> Self {
        let on = Arc::new(AtomicBool::new(true));
        let threads = thread::available_parallelism().map_or(2, usize::from);
        for _ in 0..threads {
            let on = Arc::clone(&on);
            thread::spawn(move || {
                while on.load(Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Self(on)
    }
}

impl Drop for Stress {
    fn drop(&mut self) {
        self.0.store(false, Relaxed);
    }
}

#[test]
fn case_25_with_two_thousand_connections_and_busy_processors_clients_are_served() {
    if !may_open(2000) {
        return;
    }
    let cluster = Cluster::start(2);
    let agent = cluster.agent();
    let tls = tls(&cluster.certificates.ca);
    let open = |count: usize| {
        let (tls, to) = (Arc::clone(&tls), agent.listen);
        thread::spawn(move || {
            let one = |_| Client::open_with(to, &tls).unwrap();
            (0..count).map(one).collect::<Vec<_>>()
        })
    };
    let threads: Vec<_> = (0..4).map(|_| open(500)).collect();
    let mut clients: Vec<_> = threads
        .into_iter()
        .flat_map(|t| t.join().unwrap())
        .collect();
    agent.until("all are open", |status| status.connections == 2000);
    let size = resident(&agent);
    assert!(size < 64 * 1024, "{size} KiB");
    let stress = Stress::start();
    let mut times: Vec<_> = (0..40)
        .map(|_| {
            let started = Instant::now();
            let client = Client::open_with(agent.listen, &tls).unwrap();
            drop(client);
            started.elapsed()
        })
        .collect();
    times.sort();
    // A handshake has three turns of four processes beside the stress; the bound is for being served
    // at all, since what is measured is the machine's scheduler.
    assert!(times[38] < Duration::from_secs(5), "{times:?}");
    for client in clients.iter_mut().step_by(20) {
        client.server();
    }
    drop(stress);
    let status = agent.status();
    assert!(status.actions.iter().all(|a| a.what != What::ConnectionCut));
    drop(clients);
    agent.until("all are gone", |status| status.connections == 0);
}

/// Bytes without end, once a byte has come; tells how many the kernel has taken.
async fn source(listener: TcpListener, taken: Arc<AtomicU64>) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let taken = Arc::clone(&taken);
        tokio::spawn(async move {
            let mut byte = [0];
            // A probe's first byte is that of TLS; it learns that this is no API server.
            if stream.read_exact(&mut byte).await.is_err() || byte != [7] {
                return;
            }
            let mut place = 0u64;
            loop {
                let chunk: Vec<u8> = (place..place + 4096).map(pattern).collect();
                if stream.write_all(&chunk).await.is_err() {
                    return;
                }
                place += 4096;
                taken.store(place, Relaxed);
            }
        });
    }
}

fn pattern(place: u64) -> u8 {
    u8::try_from(place * 7 % 251).unwrap()
}

#[test]
fn a_client_that_reads_nothing_for_long_stops_its_server_and_loses_nothing() {
    let runtime = runtime();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let upstream = listener.local_addr().unwrap();
    let taken = Arc::new(AtomicU64::new(0));
    runtime.spawn(source(listener, Arc::clone(&taken)));
    let agent = agent_before(upstream);
    let mut client = runtime.block_on(TcpStream::connect(agent.listen)).unwrap();
    runtime.block_on(client.write_all(&[7])).unwrap();
    // Until everything between the two is full.
    let mut seen = VecDeque::from([0]);
    let full = eventually("the server is stopped", || {
        thread::sleep(Duration::from_millis(200));
        seen.push_back(taken.load(Relaxed));
        let last = *seen.back().unwrap();
        (last > 0 && seen.iter().rev().take(5).all(|s| *s == last)).then_some(last)
    });
    let size = resident(&agent);
    // Longer than the silence after which a connection is looked at, and than any keepalive.
    thread::sleep(Duration::from_secs(10));
    assert_eq!(taken.load(Relaxed), full, "back-pressure lasts");
    let grown = resident(&agent).saturating_sub(size);
    assert!(grown < 1024, "{grown} KiB more for a client that waits");
    let status = agent.status();
    assert_eq!(status.connections, 1);
    assert!(status.actions.iter().all(|a| a.what != What::ConnectionCut));
    // Then it reads, and every byte is there.
    let much = usize::try_from(full).unwrap() + 4 * 1024 * 1024;
    let read = async {
        let mut got = vec![0; much];
        client.read_exact(&mut got).await.unwrap();
        got
    };
    let got = runtime
        .block_on(async { timeout(PATIENCE * 3, read).await })
        .unwrap();
    let expected = (0..).map(pattern).zip(&got).all(|(a, b)| a == *b);
    assert!(expected, "in order and whole");
    // It is closed in the middle of it, and the agent lets go of both ends.
    drop(client);
    agent.until("it is gone", |status| status.connections == 0);
}
