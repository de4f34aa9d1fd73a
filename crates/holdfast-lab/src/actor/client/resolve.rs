//! Asks one DNS server for a name's addresses, as Go's resolver does: A and AAAA at once, two attempts of
//! five seconds over UDP, TCP when the answer does not fit.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use hickory_proto::op::{Edns, Message, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, RecordType};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

/// Attempts for each question (resolv.conf(5) `attempts`).
const ATTEMPTS: usize = 2;
/// What this client accepts over UDP, in bytes (Go `net/dnsclient_unix.go` `maxDNSPacketSize`).
const DATAGRAM: u16 = 1232;

/// Why a name has no address.
#[derive(Debug, thiserror::Error)]
pub(super) enum ResolveError {
    #[error("{code} from the DNS server")]
    Answer { code: ResponseCode },
    #[error("no address in the answer")]
    Empty,
    #[error("{0}")]
    Message(String),
    #[error("the DNS server was silent")]
    Silent,
    #[error("reach the DNS server: {0}")]
    Unreachable(#[from] io::Error),
}

/// The addresses of a name, IPv4 first, in the order of the answers.
pub(super) async fn resolve(
    name: &Name,
    server: SocketAddr,
    patience: Duration,
) -> Result<Vec<IpAddr>, ResolveError> {
    let (v4, v6) = tokio::join!(
        ask(name, RecordType::A, server, patience),
        ask(name, RecordType::AAAA, server, patience),
    );
    let (mut found, failed) = match (v4, v6) {
        (Ok(mut v4), Ok(v6)) => {
            v4.extend(v6);
            (v4, ResolveError::Empty)
        }
        (Ok(one), Err(error)) | (Err(error), Ok(one)) => (one, error),
        (Err(error), Err(_)) => return Err(error),
    };
    found.dedup();
    if found.is_empty() {
        Err(failed)
    } else {
        Ok(found)
    }
}

async fn ask(
    name: &Name,
    kind: RecordType,
    server: SocketAddr,
    patience: Duration,
) -> Result<Vec<IpAddr>, ResolveError> {
    let mut question = Message::query();
    question.metadata.recursion_desired = true;
    question.add_query(Query::query(name.clone(), kind));
    let mut edns = Edns::new();
    edns.set_max_payload(DATAGRAM);
    question.set_edns(edns);

    let mut outcome = Err(ResolveError::Silent);
    for _ in 0..ATTEMPTS {
        outcome = match timeout(patience, exchange(&question, server)).await {
            Ok(Ok(answer)) => return addresses(&answer),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(ResolveError::Silent),
        };
    }
    outcome
}

/// One question and its answer, over TCP when UDP cannot hold it.
async fn exchange(question: &Message, server: SocketAddr) -> Result<Message, ResolveError> {
    let bytes = question
        .to_vec()
        .map_err(|error| ResolveError::Message(error.to_string()))?;
    let any: IpAddr = if server.is_ipv4() {
        Ipv4Addr::UNSPECIFIED.into()
    } else {
        Ipv6Addr::UNSPECIFIED.into()
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    socket.send(&bytes).await?;
    let mut buffer = [0; DATAGRAM as usize];
    let answer = loop {
        let length = socket.recv(&mut buffer).await?;
        let received = buffer.get(..length).unwrap_or_default();
        match Message::from_vec(received) {
            Ok(answer) if answer.metadata.id == question.metadata.id => break answer,
            // Somebody else's answer, or none: the right one may still come.
            Ok(_) | Err(_) => {}
        }
    };
    if answer.metadata.truncation {
        return over_tcp(&bytes, server).await;
    }
    Ok(answer)
}

async fn over_tcp(question: &[u8], server: SocketAddr) -> Result<Message, ResolveError> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(question.len()).map_err(io::Error::other)?;
    let mut framed = length.to_be_bytes().to_vec();
    framed.extend(question);
    stream.write_all(&framed).await?;
    let mut answer = vec![0; stream.read_u16().await?.into()];
    stream.read_exact(&mut answer).await?;
    Message::from_vec(&answer).map_err(|error| ResolveError::Message(error.to_string()))
}

fn addresses(answer: &Message) -> Result<Vec<IpAddr>, ResolveError> {
    let code = answer.metadata.response_code;
    if code != ResponseCode::NoError {
        return Err(ResolveError::Answer { code });
    }
    let found = answer.answers.iter().filter_map(|record| {
        if let RData::A(address) = &record.data {
            Some(IpAddr::V4(address.0))
        } else if let RData::AAAA(address) = &record.data {
            Some(IpAddr::V6(address.0))
        } else {
            None
        }
    });
    Ok(found.collect())
}
