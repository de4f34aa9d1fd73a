//! A plain layer-4 balancer: each connection goes to the next target that accepts it.
//!
//! Orders: `to ADDRESS:PORT,…` replaces the targets of new connections, `to` alone leaves none; existing
//! connections stay where they are. `count` tells `{"ok":true,"connections":N,"connections_open":N}`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use socket2::SockRef;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{Console, StartError, control, port};

/// How long a target may take to accept a connection (`timeout connect 5s` in most `HAProxy` configurations).
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// What a balancer is told at start.
#[derive(Debug, Clone)]
pub struct Balancer {
    /// Where it listens; port 0 lets the kernel choose.
    pub listen: SocketAddr,
    /// Its targets, in turn.
    pub to: Vec<SocketAddr>,
}

/// Runs a balancer on the process's own input and output until the input ends.
pub async fn run(options: Balancer) -> Result<(), StartError> {
    serve(options, Console::stdio()).await
}

/// Runs a balancer until the console's input ends.
pub async fn serve(options: Balancer, mut console: Console) -> Result<(), StartError> {
    let (listener, address) = port::listen(options.listen).await?;
    let targets = Arc::new(Targets::new(options.to));

    let mut tasks = JoinSet::new();
    let shared = Arc::clone(&targets);
    tasks.spawn(port::accept(listener, move |client| {
        forward(client, Arc::clone(&shared))
    }));
    console.ready(&json!({"listen": address}));
    while let Some(line) = console.order().await {
        console.answer(obey(&line, &targets));
    }
    Ok(())
}

fn obey(line: &str, targets: &Targets) -> Result<Value, String> {
    match line.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["to"] => {
            targets.replace(Vec::new());
            Ok(Value::Null)
        }
        ["to", list] => {
            targets.replace(control::addresses(list)?);
            Ok(Value::Null)
        }
        ["count"] => Ok(json!({
            "connections": targets.total.load(Ordering::Relaxed),
            "connections_open": targets.open.load(Ordering::Relaxed),
        })),
        _ => Err(format!(
            "found {line:?}, accepted: to ADDRESS:PORT,…, count"
        )),
    }
}

/// Carries bytes both ways until both sides have finished. A side that fails resets the other.
async fn forward(mut client: TcpStream, targets: Arc<Targets>) {
    targets.total.fetch_add(1, Ordering::Relaxed);
    targets.open.fetch_add(1, Ordering::Relaxed);
    match targets.connect().await {
        Some(mut target) => {
            drop(target.set_nodelay(true));
            if copy_bidirectional(&mut client, &mut target).await.is_err() {
                reset_on_close(&client);
                reset_on_close(&target);
            }
        }
        None => reset_on_close(&client),
    }
    targets.open.fetch_sub(1, Ordering::Relaxed);
}

/// Makes the end of this connection an RST instead of a FIN.
fn reset_on_close(stream: &TcpStream) {
    drop(SockRef::from(stream).set_linger(Some(Duration::ZERO)));
}

/// The targets and whose turn it is.
#[derive(Debug)]
struct Targets {
    turn: Mutex<Turn>,
    total: AtomicU64,
    open: AtomicU64,
}

#[derive(Debug)]
struct Turn {
    list: Vec<SocketAddr>,
    next: usize,
}

impl Targets {
    fn new(list: Vec<SocketAddr>) -> Self {
        Self {
            turn: Mutex::new(Turn { list, next: 0 }),
            total: AtomicU64::new(0),
            open: AtomicU64::new(0),
        }
    }

    fn replace(&self, list: Vec<SocketAddr>) {
        *self.turn.lock() = Turn { list, next: 0 };
    }

    /// A connection to the first target, from the one whose turn it is, that accepts one.
    async fn connect(&self) -> Option<TcpStream> {
        let order = self.turn.lock().take();
        for target in order {
            if let Ok(Ok(stream)) = timeout(CONNECT_TIMEOUT, TcpStream::connect(target)).await {
                return Some(stream);
            }
        }
        None
    }
}

impl Turn {
    /// All targets, beginning with the one whose turn it is; then it is the next one's.
    fn take(&mut self) -> Vec<SocketAddr> {
        let count = self.list.len();
        let order = self.list.iter().cycle().skip(self.next).take(count);
        let order = order.copied().collect();
        self.next = (self.next + 1).checked_rem(count).unwrap_or(0);
        order
    }
}
