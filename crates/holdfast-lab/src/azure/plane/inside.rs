//! The second process: builds the network, obeys, and is the internet.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use holdfast_linux::netns::Namespace;
use serde_json::{Value, json};

use super::network::{ADDRESS, INTERNET, Network, namespace};
use super::{Dial, Order, PlaneError, Protocol};
use crate::actor::Console;
use crate::launch;
use crate::world::network::NetworkError;

/// Where the internet answers by TCP.
const HTTPS: u16 = 443;
/// And by UDP.
const DNS: u16 = 53;
/// What it says.
const GREETING: &[u8] = b"the internet";
/// How long a try waits: a SYN is sent again after one second.
const PATIENCE: Duration = Duration::from_millis(2500);

/// What the copy of the program does until its input ends.
pub async fn inside() -> Result<(), PlaneError> {
    launch::prepare().await?;
    let lost = |error: &dyn std::error::Error| PlaneError::Lost(launch::chain(error).join(": "));
    let mut network = Network::build().await.map_err(|error| lost(&error))?;
    let internet = Namespace::open(INTERNET).map_err(|error| lost(&error))?;
    let served = internet.within(be_the_internet);
    served
        .map_err(|error| lost(&error))?
        .map_err(|error| lost(&error))?;
    let mut console = Console::stdio();
    console.ready(&Value::Null);
    while let Some(line) = console.order().await {
        console.answer(obey(&mut network, &line).await);
    }
    Ok(())
}

async fn obey(network: &mut Network, line: &str) -> Result<Value, String> {
    let order = serde_json::from_str(line).map_err(|error| error.to_string())?;
    match order {
        Order::Exits(places) => {
            let followed = network.follow(&places).await;
            followed.map_err(|error: NetworkError| launch::chain(&error).join(": "))?;
            Ok(Value::Null)
        }
        Order::Dial(dial) if !network.has(&dial.vm) => {
            Err(format!("{:?} is no VM with an IPv4 address", dial.vm))
        }
        Order::Dial(dial) => {
            let tried = tokio::task::spawn_blocking(move || try_out(&dial)).await;
            tried.map_err(|error| error.to_string())?
        }
    }
}

/// Tries it, inside the VM's namespace.
fn try_out(dial: &Dial) -> Result<Value, String> {
    let place = Namespace::open(&namespace(&dial.vm)).map_err(|error| error.to_string())?;
    let tried = place
        .within(|| match dial.protocol {
            Protocol::Tcp => by_tcp(),
            Protocol::Udp => by_udp(),
        })
        .map_err(|error| error.to_string())?;
    Ok(match tried {
        Ok(()) => json!({"connected": true}),
        Err(why) => json!({"connected": false, "why": why.to_string()}),
    })
}

fn by_tcp() -> std::io::Result<()> {
    let to = SocketAddr::from((ADDRESS, HTTPS));
    let mut stream = TcpStream::connect_timeout(&to, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut greeting = Vec::new();
    stream.read_to_end(&mut greeting)?;
    expected(&greeting)
}

fn by_udp() -> std::io::Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.send_to(GREETING, (ADDRESS, DNS))?;
    let mut answer = [0; 64];
    let length = socket.recv(&mut answer)?;
    expected(answer.get(..length).unwrap_or_default())
}

fn expected(heard: &[u8]) -> std::io::Result<()> {
    if heard == GREETING {
        Ok(())
    } else {
        Err(std::io::Error::other("somebody else answered"))
    }
}

/// Greets who comes by TCP, and says what was said by UDP.
fn be_the_internet() -> std::io::Result<()> {
    let listener = TcpListener::bind((ADDRESS, HTTPS))?;
    let socket = UdpSocket::bind((ADDRESS, DNS))?;
    thread::spawn(move || {
        for stream in listener.incoming() {
            // Who has gone already hears nothing.
            drop(stream.and_then(|mut stream| stream.write_all(GREETING)));
        }
    });
    thread::spawn(move || {
        let mut heard = [0; 64];
        while let Ok((length, from)) = socket.recv_from(&mut heard) {
            let said = heard.get(..length).unwrap_or_default();
            drop(socket.send_to(said, from));
        }
    });
    Ok(())
}
