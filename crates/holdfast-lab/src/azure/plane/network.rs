//! The namespaces and the router's rules, kept as they are wanted.
//!
//! Whether a VM's packets reach the internet is one rule of the router per address and protocol: with
//! it they find the route there, without it they end in a black hole, as Azure drops what has no way
//! out. Packets of open connections meet the same.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use holdfast_core::egress::facts::Family;
use holdfast_linux::netns::Namespace;
use serde::{Deserialize, Serialize};

use super::Protocol;
use crate::azure::egress::Exit;
use crate::world::network::{GATEWAY, NetworkError, ip, say};

/// The router's namespace.
const ROUTER: &str = "rt";
/// The internet's.
pub(super) const INTERNET: &str = "internet";
/// The internet's only address (RFC 5737: for documentation).
pub(super) const ADDRESS: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 1);
/// The table with the way to the internet.
const OUT: u32 = 100;

/// A VM's place in the network, and what gets out of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    vm: String,
    address: Ipv4Addr,
    tcp: bool,
    udp: bool,
}

impl Place {
    /// That of an exit; there is none for IPv6 yet.
    pub(super) fn of(exit: &Exit) -> Option<Self> {
        (exit.family == Family::V4).then_some(())?;
        Some(Self {
            vm: exit.vm.clone(),
            address: exit.address.parse().ok()?,
            tcp: exit.reach.tcp,
            udp: exit.reach.udp,
        })
    }

    fn lets_out(&self) -> impl Iterator<Item = (Ipv4Addr, Protocol)> {
        let tcp = self.tcp.then_some(Protocol::Tcp);
        let udp = self.udp.then_some(Protocol::Udp);
        let address = self.address;
        tcp.into_iter().chain(udp).map(move |it| (address, it))
    }
}

impl Protocol {
    const fn word(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }
}

/// What has been built.
#[derive(Debug, Default)]
pub(super) struct Network {
    vms: BTreeMap<String, Ipv4Addr>,
    rules: BTreeSet<(Ipv4Addr, Protocol)>,
    links: u32,
}

/// The namespace of a VM.
pub(super) fn namespace(vm: &str) -> String {
    format!("vm-{vm}")
}

impl Network {
    /// Makes the router and the internet.
    pub(super) async fn build() -> Result<Self, NetworkError> {
        ip(None, &format!("netns add {ROUTER}\n")).await?;
        Namespace::open(ROUTER)?
            .within(forward)?
            .map_err(NetworkError::Forward)?;
        let mut network = Self::default();
        let link = network.connect(INTERNET, ADDRESS).await?;
        let mut script = String::new();
        // The way there is in a table that rules lead to; everybody else's way ends.
        say(&mut script, &format!("route del {ADDRESS}/32 dev {link}"));
        say(&mut script, &format!("route add blackhole {ADDRESS}/32"));
        say(
            &mut script,
            &format!("route add {ADDRESS}/32 dev {link} table {OUT}"),
        );
        ip(Some(ROUTER), &script).await?;
        Ok(network)
    }

    /// A namespace with one address and everything else behind the router. The router's end of its link.
    async fn connect(&mut self, name: &str, address: Ipv4Addr) -> Result<String, NetworkError> {
        self.links += 1;
        let link = format!("l{}", self.links);
        let mut make = format!("netns add {name}\n");
        say(
            &mut make,
            &format!("link add eth0 netns {name} type veth peer name {link} netns {ROUTER}"),
        );
        ip(None, &make).await?;
        let own = format!(
            "link set lo up\nlink set eth0 up\naddress add {address}/32 dev eth0\n\
             route add {GATEWAY} dev eth0 scope link\nroute add default via {GATEWAY}\n"
        );
        ip(Some(name), &own).await?;
        let mut route = format!("link set {link} up\n");
        say(&mut route, &format!("address add {GATEWAY}/32 dev {link}"));
        say(
            &mut route,
            &format!("route replace {address}/32 dev {link}"),
        );
        ip(Some(ROUTER), &route).await?;
        Ok(link)
    }

    /// Whether this VM has a place.
    pub(super) fn has(&self, vm: &str) -> bool {
        self.vms.contains_key(vm)
    }

    /// Makes the network as it is wanted: what is closed first, what is opened last.
    pub(super) async fn follow(&mut self, places: &[Place]) -> Result<(), NetworkError> {
        let wanted: BTreeSet<_> = places.iter().flat_map(Place::lets_out).collect();
        let mut script = String::new();
        for (address, protocol) in self.rules.difference(&wanted) {
            say(&mut script, &rule("del", *address, *protocol));
        }
        self.run(&script).await?;
        let stays = |vm: &String, address: &Ipv4Addr| {
            places
                .iter()
                .any(|it| it.vm == *vm && it.address == *address)
        };
        let mut gone = String::new();
        for (vm, _) in self.vms.iter().filter(|(vm, address)| !stays(vm, address)) {
            say(&mut gone, &format!("netns del {}", namespace(vm)));
        }
        ip(None, &gone).await?;
        self.vms.retain(|vm, address| stays(vm, address));
        for place in places {
            if !self.has(&place.vm) {
                self.connect(&namespace(&place.vm), place.address).await?;
                self.vms.insert(place.vm.clone(), place.address);
            }
        }
        let mut script = String::new();
        for (address, protocol) in wanted.difference(&self.rules) {
            say(&mut script, &rule("add", *address, *protocol));
        }
        self.run(&script).await?;
        self.rules = wanted;
        Ok(())
    }

    async fn run(&self, script: &str) -> Result<(), NetworkError> {
        if script.is_empty() {
            return Ok(());
        }
        ip(Some(ROUTER), script).await
    }
}

fn rule(verb: &str, address: Ipv4Addr, protocol: Protocol) -> String {
    let protocol = protocol.word();
    format!("rule {verb} from {address} ipproto {protocol} lookup {OUT} priority {OUT}")
}

/// The router forwards, and asks nobody for the way back: it differs from the way there.
fn forward() -> std::io::Result<()> {
    for (setting, value) in [
        ("ip_forward", "1"),
        ("conf/all/rp_filter", "0"),
        ("conf/default/rp_filter", "0"),
    ] {
        std::fs::write(format!("/proc/sys/net/ipv4/{setting}"), value)?;
    }
    Ok(())
}
