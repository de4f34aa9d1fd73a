//! The network namespaces that the guard sees, and the sockets in each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use holdfast_core::agent::Power;
use holdfast_core::config::Guard as Settings;
use holdfast_core::guard::{Key, Seen};
use holdfast_core::machine::Tick;
use holdfast_linux::netns::{self, Namespace};
use holdfast_linux::sock_diag::{
    DiagError, Filter, Missing, SockDiag, Socket, State, TcpInfo, try_destroy,
};

use super::clients::{Clients, Owner, own_sockets};

/// The namespaces that `ip netns` knows are read this often.
const SEARCH_EVERY: Duration = Duration::from_secs(5);

/// Namespaces that are watched at most.
const MOST: usize = 256;

/// All places.
#[derive(Debug)]
pub(super) struct Places {
    /// Its own namespace first.
    all: Vec<Place>,
    named: Vec<String>,
    found: bool,
    searched: Option<Tick>,
    next: u32,
}

/// One network namespace.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) number: u32,
    /// Its name; none for the namespace of this process.
    name: Option<String>,
    line: Option<SockDiag>,
    /// The sockets of the last look, by cookie.
    sockets: BTreeMap<u64, Socket>,
    missing: Option<Missing>,
    trouble: Option<String>,
}

impl Places {
    pub(super) fn new(settings: &Settings) -> Self {
        let mut places = Self {
            all: Vec::new(),
            named: settings.namespaces.clone(),
            found: settings.found_namespaces,
            searched: None,
            next: 0,
        };
        places.enter(None);
        places
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Place> {
        self.all.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Place> {
        self.all.iter_mut()
    }

    /// Follows the namespaces as they come and go; gives the numbers of those that went.
    pub(super) fn refresh(&mut self, now: Tick) -> Vec<u32> {
        let others = !self.named.is_empty() || self.found;
        if !others || self.searched.is_some_and(|at| now < at + SEARCH_EVERY) {
            return Vec::new();
        }
        self.searched = Some(now);
        let mut wanted: BTreeSet<String> = self.named.iter().cloned().collect();
        if self.found {
            let known = fs::read_dir(netns::DIRECTORY)
                .into_iter()
                .flatten()
                .flatten();
            wanted.extend(known.filter_map(|entry| entry.file_name().into_string().ok()));
        }
        let mut gone = Vec::new();
        self.all.retain(|place| {
            let stays = place.name.as_ref().is_none_or(|name| wanted.contains(name));
            if !stays {
                gone.push(place.number);
            }
            stays
        });
        for name in wanted {
            let known = |place: &Place| place.name.as_ref() == Some(&name);
            if self.all.len() < MOST && !self.all.iter().any(known) {
                self.enter(Some(name));
            }
        }
        gone
    }

    fn enter(&mut self, name: Option<String>) {
        self.all.push(Place {
            number: self.next,
            name,
            line: None,
            sockets: BTreeMap::new(),
            missing: None,
            trouble: None,
        });
        self.next += 1;
    }

    /// Aborts a socket of the last look.
    ///
    /// # Errors
    /// The kernel's reason, in words.
    pub(super) fn abort(&mut self, key: Key) -> Result<(), String> {
        let Some(place) = self.all.iter_mut().find(|p| p.number == key.place) else {
            return Ok(());
        };
        let (Some(line), Some(socket)) = (&mut place.line, place.sockets.get(&key.cookie)) else {
            return Ok(());
        };
        match line.destroy(socket) {
            Ok(_) => Ok(()),
            Err(error) => {
                place.line = None;
                Err(error.to_string())
            }
        }
    }
}

impl Place {
    /// What keeps sockets here from being aborted, if anything does.
    pub(super) fn missing(&self) -> Option<String> {
        self.missing.map(|missing| missing.to_string())
    }

    /// Why it can't be seen now, if it can't.
    pub(super) fn trouble(&self) -> Option<String> {
        self.trouble.clone()
    }

    /// The sockets of chosen clients that lead to `addresses`; `None` if it can't be said.
    pub(super) fn look(
        &mut self,
        addresses: &BTreeSet<SocketAddr>,
        clients: &Clients,
        settings: &Settings,
    ) -> Option<Vec<Seen>> {
        match self.list(addresses, clients) {
            Ok(sockets) => {
                self.trouble = None;
                let seen = sockets
                    .iter()
                    .filter_map(|(whose, s)| {
                        let power = self.power(settings, whose);
                        Some(self.seen(whose, power, s, s.info.as_ref()?))
                    })
                    .collect();
                self.sockets = sockets.into_iter().map(|(_, s)| (s.cookie, s)).collect();
                Some(seen)
            }
            Err(error) => {
                if self.trouble.as_ref() != Some(&error) {
                    tracing::warn!(error, "guard can't see connections");
                }
                self.trouble = Some(error);
                self.line = None;
                None
            }
        }
    }

    fn list(
        &mut self,
        addresses: &BTreeSet<SocketAddr>,
        clients: &Clients,
    ) -> Result<Vec<(Owner, Socket)>, String> {
        if self.line.is_none() {
            let (line, missing) = open(self.name.as_deref())?;
            if let Some(missing) = missing
                && self.missing != Some(missing)
            {
                tracing::warn!(%missing, "guard can't abort connections and only reports");
            }
            self.missing = missing;
            self.line = Some(line);
        }
        let Some(line) = &mut self.line else {
            return Ok(Vec::new());
        };
        if addresses.is_empty() {
            return Ok(Vec::new());
        }
        let filter = Filter {
            states: vec![State::Established, State::SynSent],
            remotes: Some(addresses.clone()),
        };
        let all = line.list(&filter).map_err(|error| error.to_string())?;
        if clients.needs_cgroups() && all.iter().any(|s| s.cgroup.is_none()) {
            return Err(
                "this kernel does not tell a socket's cgroup (Linux 5.8 does): choose clients by \
                 user, or everyone"
                    .to_owned(),
            );
        }
        let mut chosen: Vec<_> = all
            .into_iter()
            .filter_map(|socket| Some((clients.of(&socket)?, socket)))
            .collect();
        if !chosen.is_empty() && self.name.is_none() {
            // Read after the list: what this process opened before it is among them.
            let own = own_sockets().map_err(|e| format!("read this process's sockets: {e}"))?;
            chosen.retain(|(_, socket)| !own.contains(&socket.inode));
        }
        Ok(chosen)
    }

    /// What can be done to a connection of that owner's here.
    fn power(&self, settings: &Settings, whose: &Owner) -> Power {
        let cure = settings.fallback.and_then(|_| whose.service());
        match (settings.dry_run, self.missing, cure) {
            (true, ..) | (false, Some(_), None) => Power::Report,
            (false, Some(_), Some(unit)) => Power::Restart(unit.to_owned()),
            (false, None, _) => Power::Abort,
        }
    }

    fn seen(&self, whose: &Owner, power: Power, socket: &Socket, info: &TcpInfo) -> Seen {
        let client = match &self.name {
            Some(name) => format!("{whose} in {name}"),
            None => whose.to_string(),
        };
        let acked = info.bytes_acked.unwrap_or(0);
        Seen {
            cookie: socket.cookie,
            local: socket.local,
            remote: socket.remote,
            client,
            power,
            established: socket.state == State::Established,
            written: acked + u64::from(socket.unacknowledged),
            received: info.bytes_received.unwrap_or(0),
            sent_ago: info.last_data_sent,
            received_ago: info.last_data_received,
            acked_ago: info.last_ack_received,
            unacknowledged: info.unacked,
            retransmits: info.retransmits,
            questions: info.probes,
            window_closed: info.send_window == Some(0),
            timer: info.rto,
        }
    }
}

/// Opens a line in a namespace and tries what may be done there.
fn open(name: Option<&str>) -> Result<(SockDiag, Option<Missing>), String> {
    let work = || -> Result<_, DiagError> {
        let line = SockDiag::open()?;
        match try_destroy() {
            Ok(()) => Ok((line, None)),
            Err(error) => match error.missing() {
                Some(missing) => Ok((line, Some(missing))),
                None => Err(error),
            },
        }
    };
    let opened = match name {
        None => work(),
        Some(name) => Namespace::open(name)
            .and_then(|namespace| namespace.within(work))
            .map_err(|error| {
                let why = std::error::Error::source(&error).map(ToString::to_string);
                format!("{error}: {}", why.unwrap_or_default())
            })?,
    };
    opened.map_err(|error| match name {
        Some(name) => format!("{name}: {error}"),
        None => error.to_string(),
    })
}
