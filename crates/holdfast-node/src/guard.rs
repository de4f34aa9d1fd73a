//! The guard at work: looks at the kernel's table of sockets, tells the agent what it saw, and aborts
//! the connections that the agent orders to end.
//!
//! It has a thread of its own, since a look keeps a processor busy for as long as the kernel's table
//! is large, and since other network namespaces are entered by threads. When the thread ends nothing
//! is left behind: it owns no socket but the lines to the kernel (S7).

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use holdfast_core::agent::{Agent, ConnectionId, Input};
use holdfast_core::config::{Config, Guard as Settings};
use holdfast_core::guard::Guard;
use holdfast_core::machine::Tick;
use holdfast_core::restart::Cure;
use holdfast_core::status::GuardStatus;
use holdfast_linux::capability::{self, Privilege};
use tokio::sync::{mpsc, watch};

use crate::clock::Clock;
use crate::table::Table;

mod clients;
mod place;

use clients::Clients;
use place::{Place, Places};

/// While something is unanswered, looks come so many times as often.
const TENSE: u32 = 4;

/// An order to the guard's thread.
#[derive(Clone, Copy, Debug)]
enum Order {
    Abort(ConnectionId),
    Sample(SocketAddr),
}

/// What the agent knows that the guard must.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Concern {
    /// The addresses whose connections are watched.
    addresses: BTreeSet<SocketAddr>,
    /// Some of them are in doubt.
    uneasy: bool,
}

/// The agent's line to its guard.
#[derive(Debug)]
pub(crate) struct GuardLine {
    orders: Sender<Order>,
    concern: watch::Sender<Concern>,
    status: watch::Receiver<GuardStatus>,
}

/// Gives up every privilege that this configuration does not need; before any thread is started.
///
/// # Errors
/// What the kernel says.
pub fn drop_privileges(config: &Config) -> std::io::Result<()> {
    let Some(guard) = &config.guard else {
        return Ok(());
    };
    let mut keep = vec![Privilege::AbortSockets];
    // The watchdog's way takes it too: to speak for another process.
    let speaks = guard.fallback == Some(Cure::Watchdog);
    if !guard.namespaces.is_empty() || guard.found_namespaces || speaks {
        keep.push(Privilege::EnterNamespaces);
    }
    if config.listen.iter().any(|l| (1..1024).contains(&l.port())) {
        keep.push(Privilege::BindLowPorts);
    }
    capability::keep_only(&keep)
}

impl GuardLine {
    /// Starts the guard's thread.
    pub(crate) fn start(
        settings: Settings,
        table: Arc<Table>,
        facts: mpsc::UnboundedSender<Input>,
        clock: Clock,
    ) -> std::io::Result<Self> {
        let (orders, queue) = channel();
        let (concern, concerned) = watch::channel(Concern::default());
        let (told, status) = watch::channel(GuardStatus::default());
        let watchman = Watchman {
            fold: Guard::new(),
            clients: Clients::new(settings.clients.clone()),
            places: Places::new(&settings),
            settings,
            table,
            facts,
            concerned,
            status: told,
            clock,
        };
        thread::Builder::new()
            .name("guard".to_owned())
            .spawn(move || watchman.watch(&queue))?;
        Ok(Self {
            orders,
            concern,
            status,
        })
    }

    /// Aborts a connection, if it is one of the guard's.
    pub(crate) fn abort(&self, connection: ConnectionId) {
        self.order(Order::Abort(connection));
    }

    /// Looks at the connections on `upstream` now, and tells the agent what they and the proxy's got.
    pub(crate) fn sample(&self, upstream: SocketAddr) {
        self.order(Order::Sample(upstream));
    }

    fn order(&self, order: Order) {
        if self.orders.send(order).is_err() {
            tracing::error!(?order, "guard has ended, an order is lost");
        }
    }

    /// The agent has settled.
    pub(crate) fn follow(&self, agent: &Agent) {
        let concern = Concern {
            addresses: agent.addresses().collect(),
            uneasy: agent.is_uneasy(),
        };
        self.concern.send_if_modified(|known| {
            let changed = *known != concern;
            *known = concern;
            changed
        });
    }

    /// What the guard sees.
    pub(crate) fn status(&self) -> GuardStatus {
        self.status.borrow().clone()
    }
}

/// The guard's thread.
struct Watchman {
    settings: Settings,
    fold: Guard,
    clients: Clients,
    places: Places,
    table: Arc<Table>,
    facts: mpsc::UnboundedSender<Input>,
    concerned: watch::Receiver<Concern>,
    status: watch::Sender<GuardStatus>,
    clock: Clock,
}

impl Watchman {
    fn watch(mut self, orders: &Receiver<Order>) {
        loop {
            self.look();
            let next = self.clock.now() + self.pause();
            loop {
                match orders.recv_timeout(next.since(self.clock.now())) {
                    Ok(Order::Abort(connection)) => self.abort(connection),
                    Ok(Order::Sample(upstream)) => self.sample(upstream),
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        }
    }

    fn pause(&self) -> Duration {
        let tense = self.fold.is_tense() || self.concerned.borrow().uneasy;
        if tense && !self.fold.is_empty() {
            self.settings.interval / TENSE
        } else {
            self.settings.interval
        }
    }

    /// One look at every place.
    fn look(&mut self) {
        let begun = self.clock.now();
        let addresses = self.concerned.borrow().addresses.clone();
        self.clients.refresh(begun);
        let mut facts = Vec::new();
        for gone in self.places.refresh(begun) {
            facts.extend(self.fold.leave(gone));
        }
        for place in self.places.iter_mut() {
            let Some(seen) = place.look(&addresses, &self.clients, &self.settings) else {
                continue;
            };
            let (now, number) = (self.clock.now(), || self.table.number());
            facts.extend(self.fold.look(now, place.number, seen, number));
        }
        self.tell(facts);
        self.publish(begun);
    }

    fn publish(&self, begun: Tick) {
        let now = self.clock.now();
        let mut unseen: Vec<String> = self.clients.unseen();
        unseen.extend(self.places.iter().filter_map(Place::trouble));
        if self.fold.left_out() > 0 {
            unseen.push(format!(
                "{} sockets more than are watched",
                self.fold.left_out()
            ));
        }
        self.status.send_replace(GuardStatus {
            dry_run: self.settings.dry_run,
            missing: self.places.iter().find_map(Place::missing),
            unseen,
            look_s: now.since(begun).as_secs_f64(),
            looked_at_s: now.since_start().as_secs_f64(),
            sockets: self.fold.status(now),
        });
    }

    fn tell(&self, facts: Vec<Input>) {
        for fact in facts {
            // Without a receiver the agent is stopping.
            drop(self.facts.send(fact));
        }
    }

    fn sample(&mut self, upstream: SocketAddr) {
        self.look();
        let mut traffic = self.table.traffic(upstream);
        traffic.extend(self.fold.traffic(upstream));
        self.tell(vec![Input::Sampled { upstream, traffic }]);
    }

    fn abort(&mut self, connection: ConnectionId) {
        let Some(key) = self.fold.key(connection) else {
            return;
        };
        if let Err(why) = self.places.abort(key) {
            self.tell(vec![Input::CutFailed { connection, why }]);
        }
    }
}
