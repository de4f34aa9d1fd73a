//! A DNS server whose answers, and failures, are scripted.
//!
//! Orders:
//!
//! | order | effect |
//! |---|---|
//! | `set NAME ttl=5s A 10.0.0.1 10.0.0.2` | replaces the addresses of that type (`A` or `AAAA`); none removes them |
//! | `cname NAME ttl=300s TARGET` | makes the name an alias |
//! | `rotate NAME N` | each answer shows only N of the addresses, beginning one later each time |
//! | `fail NAME KIND` | `servfail`, `nxdomain`, `refused`, `silent`, `empty` or `truncated` from now on |
//! | `heal NAME` | ends `fail` |
//! | `count` | tells how many questions were asked: `{"ok":true,"questions":N}` |
//!
//! Lifetimes are rounded up to whole seconds. A failure of any name in a chain of aliases is the failure
//! of the whole answer.

mod order;
mod zone;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use hickory_proto::op::Message;
use parking_lot::Mutex;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::task::JoinSet;

use super::{Console, StartError, port};
use zone::{Transport, Zone};

/// What a DNS server is told at start.
#[derive(Debug, Clone)]
pub struct DnsServer {
    /// Where it listens, on UDP and TCP; port 0 lets the kernel choose one port for both.
    pub listen: SocketAddr,
    /// The zone it answers for, such as `api.lab.test`: unknown names below it do not exist, names
    /// outside of it that were never set are refused.
    pub zone: String,
}

/// Runs a DNS server on the process's own input and output until the input ends.
pub async fn run(options: DnsServer) -> Result<(), StartError> {
    serve(options, Console::stdio()).await
}

/// Runs a DNS server until the console's input ends.
pub async fn serve(options: DnsServer, mut console: Console) -> Result<(), StartError> {
    let zone = Arc::new(Mutex::new(Zone::new(order::name(&options.zone).map_err(
        |problem| StartError::Name {
            name: options.zone.clone(),
            problem,
        },
    )?)));
    let (udp, tcp) = listen(options.listen)
        .await
        .map_err(|source| StartError::Listen {
            address: options.listen,
            source,
        })?;
    let address = tcp.local_addr().unwrap_or(options.listen);

    let mut tasks = JoinSet::new();
    tasks.spawn(answer_datagrams(udp, Arc::clone(&zone)));
    let shared = Arc::clone(&zone);
    tasks.spawn(port::accept(tcp, move |stream| {
        let zone = Arc::clone(&shared);
        // A stream that breaks off has no more questions.
        async move { drop(answer_stream(stream, zone).await) }
    }));
    console.ready(&json!({"listen": address}));
    while let Some(line) = console.order().await {
        console.answer(order::obey(&line, &mut zone.lock()));
    }
    Ok(())
}

/// Both sockets on one port.
async fn listen(address: SocketAddr) -> io::Result<(UdpSocket, TcpListener)> {
    // A port that the kernel chose for UDP may be taken for TCP.
    const ATTEMPTS: usize = 16;
    let mut attempt = 1;
    loop {
        let udp = UdpSocket::bind(address).await?;
        match TcpListener::bind(udp.local_addr()?).await {
            Ok(tcp) => return Ok((udp, tcp)),
            Err(error) if address.port() != 0 || attempt == ATTEMPTS => return Err(error),
            Err(_) => attempt += 1,
        }
    }
}

async fn answer_datagrams(socket: UdpSocket, zone: Arc<Mutex<Zone>>) {
    let mut buffer = [0; 4096];
    loop {
        // An error here is the echo of an answer that reached a closed port.
        let Ok((length, from)) = socket.recv_from(&mut buffer).await else {
            continue;
        };
        let question = buffer.get(..length).unwrap_or_default();
        if let Some(answer) = reply(question, Transport::Udp, &zone) {
            drop(socket.send_to(&answer, from).await);
        }
    }
}

/// Answers the questions of one TCP connection, each behind its length (RFC 1035 §4.2.2).
async fn answer_stream(mut stream: TcpStream, zone: Arc<Mutex<Zone>>) -> io::Result<()> {
    loop {
        let length = stream.read_u16().await?;
        let mut question = vec![0; length.into()];
        stream.read_exact(&mut question).await?;
        let Some(answer) = reply(&question, Transport::Tcp, &zone) else {
            continue;
        };
        let length = u16::try_from(answer.len()).map_err(io::Error::other)?;
        let mut framed = length.to_be_bytes().to_vec();
        framed.extend(answer);
        stream.write_all(&framed).await?;
    }
}

/// The answer's bytes; `None` to what is no question, and where the script wants silence.
fn reply(question: &[u8], transport: Transport, zone: &Mutex<Zone>) -> Option<Vec<u8>> {
    let question = Message::from_vec(question).ok()?;
    let answer = zone.lock().answer(&question, transport)?;
    answer.to_vec().ok()
}
