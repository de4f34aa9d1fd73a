//! A world: servers, balancers, a DNS server and nodes, each in a network namespace of its own.

mod control_plane;
pub(crate) mod network;
mod part;
mod resolving;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};

use holdfast_linux::netns::{self, Namespace};
use rustix::process::Signal;

pub use self::control_plane::{ControlPlane, OBSERVER, etcd_member};
use self::network::Network;
pub use self::network::NetworkError;
pub use self::part::PartError;
use self::part::{Actor, Call, Readiness};
use crate::certificates::{self, Certificates};
use crate::fault::Verb;
use crate::kubernetes::Real;
use crate::measure::{Part, PartKind};
use crate::process::{self, Process};
use crate::scenario::{ENDPOINT, Scenario};
use crate::span::Span;
use crate::subject::{API_PORT, Subject};

/// What every other file of a world is below; private to it.
const DIRECTORY: &str = "/run/holdfast-lab";
/// Address of the DNS server.
const DNS: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 99, 0, 53), 53);
/// The name that owns the addresses when the endpoint's name is an alias.
const BEHIND: &str = "front.api.lab.test";

/// A world that runs.
#[derive(Debug)]
pub struct World {
    program: PathBuf,
    network: Network,
    certificates: Certificates,
    places: BTreeMap<String, Place>,
    actors: BTreeMap<String, Actor>,
    /// What is real in it, if anything is.
    plane: Option<ControlPlane>,
    scale: f64,
    aliased: bool,
    lifetime: Span,
}

/// Somewhere in the network.
#[derive(Debug)]
struct Place {
    address: Ipv4Addr,
    namespace: Namespace,
}

/// Why a world could not be built or changed.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// The balancers of a real world are `haproxy`.
    #[error("start a balancer: haproxy is not installed (apt-get install haproxy)")]
    Balancer,
    /// Its certificates could not be made.
    #[error(transparent)]
    Certificates(#[from] certificates::CertificateError),
    /// A place could not be entered.
    #[error(transparent)]
    Namespace(#[from] netns::NamespaceError),
    /// The network could not be built or changed.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A part did not come up or did not stop.
    #[error(transparent)]
    Part(#[from] PartError),
    /// A process could not be started or did not obey.
    #[error(transparent)]
    Process(#[from] process::ProcessError),
    /// Names can't be resolved as the nodes' own programs resolve them.
    #[error("let the nodes resolve names through the lab's DNS server: {0}")]
    Resolving(String),
    /// A verb was aimed at something that is not there, or at the wrong kind of thing.
    #[error("{verb} {target}: there is no such part of this world")]
    Target {
        /// The verb.
        verb: &'static str,
        /// What it was aimed at.
        target: String,
    },
}

impl World {
    /// Builds the world of a scenario: everything but the subjects runs when this returns. With
    /// `real` components its API servers are real.
    pub async fn build(
        scenario: &Scenario,
        subjects: &[Subject],
        program: &Path,
        real: Option<&Real>,
    ) -> Result<Self, WorldError> {
        let mut addresses = BTreeMap::from([("dns".to_owned(), *DNS.ip())]);
        addresses.extend(numbered(1, scenario.balancers.keys().cloned()));
        addresses.extend(numbered(2, scenario.servers.iter().cloned()));
        addresses.extend(numbered(
            3,
            subjects.iter().map(|subject| subject.node().to_owned()),
        ));
        if real.is_some() {
            addresses.extend(numbered(4, std::iter::once(OBSERVER.to_owned())));
        }
        let network = Network::build(&addresses).await?;
        let directory = Path::new(DIRECTORY);
        let reachable: Vec<Ipv4Addr> = addresses.values().copied().collect();
        let mut plane = real.map(ControlPlane::prepare).transpose()?;
        let certificates = match &plane {
            Some(plane) => plane.certificates(&reachable)?,
            None => Certificates::make(directory, ENDPOINT, &reachable)?,
        };
        let mut places = BTreeMap::new();
        for (name, address) in addresses {
            let namespace = Namespace::open(&name)?;
            places.insert(name, Place { address, namespace });
        }
        let mut world = Self {
            program: program.to_owned(),
            network,
            certificates,
            places,
            actors: BTreeMap::new(),
            plane: None,
            scale: scenario.time_scale,
            aliased: scenario.alias_lifetime.is_some(),
            lifetime: scenario.lifetime,
        };
        world.start_dns()?;
        match &mut plane {
            Some(plane) => {
                world.start_control_plane(scenario, plane)?;
                world.resolve_as_nodes().await?;
            }
            None => world.start_actors(scenario)?,
        }
        world.plane = plane;
        for (name, actor) in &mut world.actors {
            let place = world.places.get(&actor.call.place);
            let place = place.ok_or_else(|| missing("start", name))?;
            part::await_readiness(name, actor, &place.namespace).await?;
        }
        if let Some(lifetime) = scenario.alias_lifetime {
            let alias = format!(
                "cname {ENDPOINT} ttl={}s {BEHIND}",
                world.record_lifetime(lifetime)
            );
            world.tell("dns", &alias).await?;
        }
        world.name(&scenario.addresses, scenario.lifetime).await?;
        Ok(world)
    }

    /// The DNS server's address.
    pub const fn dns(&self) -> SocketAddrV4 {
        DNS
    }

    /// The file with the CA's certificate.
    pub fn ca(&self) -> String {
        self.certificates.ca.display().to_string()
    }

    /// The API addresses of servers or balancers.
    pub fn api_addresses(&self, names: &[String]) -> Vec<SocketAddrV4> {
        names
            .iter()
            .filter_map(|name| self.places.get(name))
            .map(|place| SocketAddrV4::new(place.address, API_PORT))
            .collect()
    }

    /// The real components, if this world has them.
    pub const fn plane(&self) -> Option<&ControlPlane> {
        self.plane.as_ref()
    }

    /// Where files of this world may be written.
    pub fn directory(&self) -> &'static Path {
        Path::new(DIRECTORY)
    }

    /// The servers and balancers by their API address, as text.
    pub fn parts_by_address(&self) -> BTreeMap<String, String> {
        self.actors
            .iter()
            .filter(|(_, actor)| actor.kind.is_some())
            .flat_map(|(name, _)| {
                let addresses = self.api_addresses(std::slice::from_ref(name));
                addresses
                    .into_iter()
                    .map(|address| (address.to_string(), name.clone()))
            })
            .collect()
    }

    /// A part by its name.
    pub fn part(&self, name: &str) -> Option<Part> {
        let kind = self.actors.get(name)?.kind?;
        Some(Part {
            name: name.to_owned(),
            kind,
        })
    }

    /// The namespace of a place.
    pub fn namespace(&self, name: &str) -> Option<&Namespace> {
        self.places.get(name).map(|place| &place.namespace)
    }

    /// Starts another program at a place.
    pub fn start_other(
        &self,
        name: &str,
        place: &str,
        program: &Path,
        arguments: &[String],
    ) -> Result<Process, WorldError> {
        let namespace = self
            .namespace(place)
            .ok_or_else(|| missing("start", place))?;
        Ok(Process::start(name, namespace, program, arguments)?)
    }

    /// The lab's own program, which is also Holdfast.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Starts the lab's own program with such arguments at a place.
    pub fn start(
        &self,
        name: &str,
        place: &str,
        arguments: &[String],
    ) -> Result<Process, WorldError> {
        self.start_other(name, place, &self.program, arguments)
    }

    /// Carries out a verb on its targets.
    pub async fn carry_out(&mut self, verb: &Verb, targets: &[String]) -> Result<(), WorldError> {
        match verb {
            // These are done on nodes, by the stage.
            Verb::Feed | Verb::Starve(_) | Verb::StopReading => Ok(()),
            Verb::Lose(share) => Ok(self.network.lose(*share).await?),
            Verb::GiveAway(_) => {
                self.signal(verb, targets, Signal::KILL)?;
                let stranger = self.strangers()?;
                for target in targets {
                    let actor = self.actor(verb.word(), target)?;
                    actor.process.kill().await?;
                    let arguments = stranger.instead_of(&actor.call.arguments);
                    let mut process = self.start(target, target, &arguments)?;
                    process.ready().await?;
                    self.actor(verb.word(), target)?.process = process;
                }
                Ok(())
            }
            Verb::FailName(how) => self.tell("dns", &format!("fail {ENDPOINT} {how}")).await,
            Verb::HealName => self.tell("dns", &format!("heal {ENDPOINT}")).await,
            Verb::RotateName(show) => {
                let order = format!("rotate {} {show}", self.owner());
                self.tell("dns", &order).await
            }
            Verb::SetName(to, lifetime) => {
                self.lifetime = lifetime.unwrap_or(self.lifetime);
                self.name(to, self.lifetime).await
            }
            // The network changes for all targets at once, so that they meet the fault together.
            Verb::Drop(_) => Ok(self.network.silence(&self.located(verb, targets)?).await?),
            Verb::Restore(_) => Ok(self.network.restore(&self.located(verb, targets)?).await?),
            Verb::LinkDown(_) => Ok(self
                .network
                .link_down(&self.located(verb, targets)?)
                .await?),
            Verb::LinkUp(_) => Ok(self.network.link_up(&self.located(verb, targets)?).await?),
            Verb::Stop(_) => self.signal(verb, targets, Signal::STOP),
            Verb::Continue(_) => self.signal(verb, targets, Signal::CONT),
            Verb::Kill(_) => {
                self.signal(verb, targets, Signal::KILL)?;
                for target in targets {
                    self.actor(verb.word(), target)?.process.kill().await?;
                }
                Ok(())
            }
            Verb::Terminate(_) => self.signal(verb, targets, Signal::TERM),
            Verb::Start(_) => {
                for target in targets {
                    self.restart_part(target).await?;
                }
                Ok(())
            }
            Verb::NotReady(_) => self.tell_each(targets, "not-ready").await,
            Verb::Ready(_) => self.tell_each(targets, "ready").await,
            Verb::Delay(_, by) => {
                let order = format!("delay {:.0}ms", by.seconds_at(self.scale) * 1000.0);
                self.tell_each(targets, &order).await
            }
            Verb::Forward(_, to) => {
                let order = format!("to {}", joined(&self.api_addresses(to)));
                self.tell_each(targets, &order).await
            }
        }
    }

    /// Certificates of another CA.
    fn strangers(&self) -> Result<Certificates, WorldError> {
        let addresses: Vec<Ipv4Addr> = self.places.values().map(|place| place.address).collect();
        Ok(Certificates::make(
            &self.directory().join("stranger"),
            ENDPOINT,
            &addresses,
        )?)
    }

    /// The targets with their addresses.
    fn located<'t>(
        &self,
        verb: &Verb,
        targets: &'t [String],
    ) -> Result<Vec<(&'t str, Ipv4Addr)>, WorldError> {
        targets
            .iter()
            .map(|target| {
                let place = self.places.get(target);
                let place = place.ok_or_else(|| missing(verb.word(), target))?;
                Ok((target.as_str(), place.address))
            })
            .collect()
    }

    fn signal(
        &mut self,
        verb: &Verb,
        targets: &[String],
        signal: Signal,
    ) -> Result<(), WorldError> {
        for target in targets {
            self.actor(verb.word(), target)?.process.signal(signal)?;
        }
        Ok(())
    }

    fn actor(&mut self, verb: &'static str, name: &str) -> Result<&mut Actor, WorldError> {
        self.actors.get_mut(name).ok_or_else(|| missing(verb, name))
    }

    async fn tell_each(&mut self, names: &[String], order: &str) -> Result<(), WorldError> {
        for name in names {
            self.tell(name, order).await?;
        }
        Ok(())
    }

    /// Gives the endpoint's name these addresses.
    async fn name(&mut self, to: &[String], lifetime: Span) -> Result<(), WorldError> {
        let addresses: Vec<String> = to
            .iter()
            .filter_map(|name| self.places.get(name))
            .map(|place| place.address.to_string())
            .collect();
        let (owner, lifetime) = (self.owner(), self.record_lifetime(lifetime));
        let order = format!("set {owner} ttl={lifetime}s A {}", addresses.join(" "));
        self.tell("dns", &order).await
    }

    /// The name that owns the address records.
    const fn owner(&self) -> &'static str {
        if self.aliased { BEHIND } else { ENDPOINT }
    }

    /// A scaled lifetime in whole seconds, as records count it (RFC 1035 section 3.2.1).
    fn record_lifetime(&self, lifetime: Span) -> String {
        format!("{:.0}", lifetime.seconds_at(self.scale).max(1.0))
    }

    async fn tell(&mut self, name: &str, order: &str) -> Result<(), WorldError> {
        self.actor("tell", name)?.process.order(order).await?;
        Ok(())
    }

    fn start_dns(&mut self) -> Result<(), WorldError> {
        let dns = vec![
            "dns".to_owned(),
            "--listen".to_owned(),
            DNS.to_string(),
            "--zone-name".to_owned(),
            ENDPOINT.to_owned(),
        ];
        self.start_actor("dns", None, dns)
    }

    fn start_actors(&mut self, scenario: &Scenario) -> Result<(), WorldError> {
        let endpoints = joined(&self.api_addresses(&scenario.servers));
        for server in &scenario.servers {
            let listen = joined(&self.api_addresses(std::slice::from_ref(server)));
            let arguments = [
                "api-server",
                "--name",
                server,
                "--listen",
                &listen,
                "--cert",
                &self.certificates.server.display().to_string(),
                "--key",
                &self.certificates.key.display().to_string(),
                "--endpoints",
                &endpoints,
            ];
            let arguments = arguments.map(str::to_owned).to_vec();
            self.start_actor(server, Some(PartKind::Server), arguments)?;
        }
        for (balancer, targets) in &scenario.balancers {
            let listen = joined(&self.api_addresses(std::slice::from_ref(balancer)));
            let to = joined(&self.api_addresses(targets));
            let arguments = ["balancer", "--listen", &listen, "--to", &to]
                .map(str::to_owned)
                .to_vec();
            self.start_actor(balancer, Some(PartKind::Balancer), arguments)?;
        }
        Ok(())
    }

    fn start_actor(
        &mut self,
        name: &str,
        kind: Option<PartKind>,
        own: Vec<String>,
    ) -> Result<(), WorldError> {
        let mut arguments = vec!["lab".to_owned(), "actor".to_owned()];
        arguments.extend(own);
        let call = Call {
            place: name.to_owned(),
            program: self.program.clone(),
            arguments,
            readiness: Readiness::Said,
        };
        self.start_part(name, kind, call)
    }
}

/// Addresses 10.99.`net`.1, .2, … in turn.
fn numbered(
    net: u8,
    names: impl Iterator<Item = String>,
) -> impl Iterator<Item = (String, Ipv4Addr)> {
    names
        .zip(1..=u8::MAX)
        .map(move |(name, host)| (name, Ipv4Addr::new(10, 99, net, host)))
}

fn joined(addresses: &[SocketAddrV4]) -> String {
    addresses
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

fn missing(verb: &'static str, target: &str) -> WorldError {
    WorldError::Target {
        verb,
        target: target.to_owned(),
    }
}
