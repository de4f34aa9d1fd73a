//! A client of the API server that behaves as a kubelet does, and tells everything that happens to it.
//!
//! It has up to five [`Lane`]s of work: the heartbeat with its watch, idle connections, active ones, and
//! fresh ones; and readers. Each line that it prints is an [`Event`]. Orders: `time` is answered with
//! `{"ok":true,"t":…}`; after `stop-reading` readers leave what comes to them where it is.

mod active;
mod clock;
mod dial;
mod event;
mod fresh;
mod heartbeat;
mod idle;
mod link;
mod reader;
mod request;
mod resolve;
mod watch;
mod witness;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch::channel as watch_channel;
use tokio::task::JoinSet;

use super::{Console, StartError, monotonic_seconds, tls};
use clock::Clock;
use dial::Dialer;
use event::Teller;
use link::Link;

pub use event::{Ending, Event, Lane, What};

/// What a client is told at start.
#[derive(Debug, Clone)]
pub struct Client {
    /// The server as `https://HOST:PORT`. A name is resolved anew for each dial.
    pub server: String,
    /// The DNS server to ask for `HOST`. `None`: ask the system.
    pub resolve_with: Option<SocketAddr>,
    /// PEM file with the certificates that may have signed the server's.
    pub ca: PathBuf,
    /// The name that the server's certificate must carry, which is also sent as SNI.
    pub tls_name: String,
    /// The node that it is: the name of its lease.
    pub node: String,
    /// How many stock seconds pass in one second: all of a kubelet's intervals are divided by it.
    pub time_scale: f64,
    /// Connections with a heartbeat and a watch, as if so many kubelets ran here. From the second on,
    /// a number follows the name of the node.
    pub heartbeats: usize,
    /// Further connections that hold a watch and never write again.
    pub idle: usize,
    /// Further connections that read an endless answer until the order `stop-reading`.
    pub readers: usize,
    /// Further connections with a request each second and a kubelet's ping.
    pub active: usize,
    /// How often a new connection is made for one request. Never scaled. `None`: not at all.
    pub fresh: Option<Duration>,
}

/// Runs a client on the process's own input and output until the input ends.
pub async fn run(options: Client) -> Result<(), StartError> {
    serve(options, Console::stdio()).await
}

/// Runs a client until the console's input ends.
pub async fn serve(options: Client, mut console: Console) -> Result<(), StartError> {
    let clock = Clock::new(options.time_scale).ok_or_else(|| StartError::Setting {
        option: "--time-scale",
        found: options.time_scale.to_string(),
        accepted: "a number above 0",
    })?;
    let multiplexed = Arc::new(Dialer::new(&options, clock, tls::H2)?);
    let plain = Arc::new(Dialer::new(&options, clock, tls::HTTP1)?);
    let teller = Teller::new(Lane::Heartbeat, console.voice());
    console.ready(&json!({"node": options.node, "time_scale": options.time_scale}));

    let mut lanes = JoinSet::new();
    for worker in (0_u64..).take(options.heartbeats) {
        let node = match worker {
            0 => options.node.clone(),
            _ => format!("{}-{}", options.node, worker + 1),
        };
        let link = Link::new(Arc::clone(&multiplexed), teller.clone(), clock);
        lanes.spawn(heartbeat::beat(
            worker,
            Arc::clone(&link),
            node.clone(),
            teller.clone(),
            clock,
        ));
        let watcher = teller.of(Lane::Watch);
        lanes.spawn(watch::hold(link, node, watcher, clock));
    }
    for worker in (0_u64..).take(options.idle) {
        let teller = teller.of(Lane::Idle);
        lanes.spawn(idle::hold(worker, Arc::clone(&plain), teller, clock));
    }
    for worker in (0_u64..).take(options.active) {
        let teller = teller.of(Lane::Active);
        let link = Link::new(Arc::clone(&multiplexed), teller.clone(), clock);
        lanes.spawn(active::ask(worker, link, teller, clock));
    }
    let (reads, are_read) = watch_channel(true);
    for worker in (0_u64..).take(options.readers) {
        let (dialer, teller) = (Arc::clone(&plain), teller.of(Lane::Reader));
        lanes.spawn(reader::read(
            worker,
            dialer,
            teller,
            clock,
            are_read.clone(),
        ));
    }
    if let Some(every) = options.fresh {
        lanes.spawn(fresh::knock(every, plain, teller.of(Lane::Fresh)));
    }
    while let Some(line) = console.order().await {
        console.answer(match line.trim() {
            "stop-reading" => {
                reads.send_replace(false);
                Ok(Value::Null)
            }
            "time" => Ok(json!({"t": monotonic_seconds()})),
            _ => Err(format!("found {line:?}, accepted: stop-reading, time")),
        });
    }
    Ok(())
}
