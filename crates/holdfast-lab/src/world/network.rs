//! The network of a world: one router, and one link from it to each place.
//!
//! Every place has one address of its own, /32, and sends everything to the router, which knows where
//! each address is. So any address can be taken away in the router, in both directions, while sockets,
//! links and processes stay as they are: that is how a machine that died silently looks from afar.

use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::process::Stdio;

use holdfast_linux::netns::{self, Namespace};
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};

use crate::fault::NFT;
use crate::peer;

/// The router's namespace.
const ROUTER: &str = "rt";
/// The router's address on every link (RFC 3927 link-local: never routed).
pub(crate) const GATEWAY: &str = "169.254.1.1";

/// A network that has been built.
#[derive(Debug)]
pub(super) struct Network {
    _built: (),
}

/// Why the network is not as it should be.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The router can't forward.
    #[error("let the router forward packets")]
    Forward(#[source] io::Error),
    /// `ip` or `nft` refused.
    #[error("configure the network of {place}: {problem}")]
    Refused {
        /// Whose network.
        place: String,
        /// What it said.
        problem: String,
    },
    /// A namespace can't be entered.
    #[error(transparent)]
    Namespace(#[from] netns::NamespaceError),
    /// There is no `nft`.
    #[error("losing packets needs nft, and it is not installed (apt-get install nftables)")]
    NoNft,
    /// `ip` or `nft` can't be started or spoken to.
    #[error("run ip (iproute2) or nft (nftables)")]
    Start(#[source] io::Error),
}

impl Network {
    /// Makes a namespace for each name, with its address, and connects all of them.
    pub(super) async fn build(places: &BTreeMap<String, Ipv4Addr>) -> Result<Self, NetworkError> {
        let mut make = format!("netns add {ROUTER}\n");
        let mut route = "link set lo up\n".to_owned();
        for (name, address) in places {
            let link = link(name);
            say(&mut make, &format!("netns add {name}"));
            say(
                &mut make,
                &format!("link add eth0 netns {name} type veth peer name {link} netns {ROUTER}"),
            );
            say(&mut route, &format!("link set {link} up"));
            say(&mut route, &format!("address add {GATEWAY}/32 dev {link}"));
            say(&mut route, &format!("route add {address}/32 dev {link}"));
        }
        ip(None, &make).await?;
        for (name, address) in places {
            let own = format!(
                "link set lo up\nlink set eth0 up\naddress add {address}/32 dev eth0\n\
                 route add {GATEWAY} dev eth0 scope link\nroute add default via {GATEWAY}\n"
            );
            ip(Some(name), &own).await?;
        }
        ip(Some(ROUTER), &route).await?;
        Namespace::open(ROUTER)?
            .within(|| std::fs::write("/proc/sys/net/ipv4/ip_forward", "1"))?
            .map_err(NetworkError::Forward)?;
        Ok(Self { _built: () })
    }

    /// Makes packets from and to these addresses vanish.
    pub(super) async fn silence(&self, places: &[(&str, Ipv4Addr)]) -> Result<(), NetworkError> {
        let mut script = String::new();
        for (_, address) in places {
            say(
                &mut script,
                &format!("route replace blackhole {address}/32"),
            );
            say(&mut script, &format!("rule add from {address} blackhole"));
        }
        ip(Some(ROUTER), &script).await
    }

    /// Lets packets from and to these addresses pass again.
    pub(super) async fn restore(&self, places: &[(&str, Ipv4Addr)]) -> Result<(), NetworkError> {
        let mut script = String::new();
        for (name, address) in places {
            say(&mut script, &format!("rule del from {address} blackhole"));
            say(&mut script, &format!("route del blackhole {address}/32"));
            say(
                &mut script,
                &format!("route replace {address}/32 dev {}", link(name)),
            );
        }
        ip(Some(ROUTER), &script).await
    }

    /// Makes so many of a hundred packets vanish by chance, whichever way they go; none any more for 0.
    pub(super) async fn lose(&self, share: u8) -> Result<(), NetworkError> {
        // Adding a table that is there changes nothing, so that deleting it never fails (nft(8)).
        let mut script = "add table ip loss\ndelete table ip loss\n".to_owned();
        if share > 0 {
            say(&mut script, "add table ip loss");
            say(
                &mut script,
                "add chain ip loss forward { type filter hook forward priority 0; }",
            );
            // A random number from 0 to 99 is always below 100, which nft therefore refuses to compare with.
            let chance = match share {
                100.. => String::new(),
                _ => format!("numgen random mod 100 < {share} "),
            };
            say(
                &mut script,
                &format!("add rule ip loss forward {chance}drop"),
            );
        }
        let program = peer::find(NFT).ok_or(NetworkError::NoNft)?;
        let mut command = Command::new(program);
        command.args(["-f", "-"]);
        let runtime = tokio::runtime::Handle::current();
        let child = Namespace::open(ROUTER)?
            .within(|| {
                let _inside_runtime = runtime.enter();
                spawn(&mut command)
            })?
            .map_err(NetworkError::Start)?;
        talk(child, ROUTER, &script).await
    }

    /// Takes the links to these places down; their routes go with them.
    pub(super) async fn link_down(&self, places: &[(&str, Ipv4Addr)]) -> Result<(), NetworkError> {
        let script: String = places.iter().fold(String::new(), |mut script, (name, _)| {
            say(&mut script, &format!("link set {} down", link(name)));
            script
        });
        ip(Some(ROUTER), &script).await
    }

    /// Takes the links to these places up again.
    pub(super) async fn link_up(&self, places: &[(&str, Ipv4Addr)]) -> Result<(), NetworkError> {
        let mut script = String::new();
        for (name, address) in places {
            say(&mut script, &format!("link set {} up", link(name)));
            say(
                &mut script,
                &format!("route replace {address}/32 dev {}", link(name)),
            );
        }
        ip(Some(ROUTER), &script).await
    }
}

/// The router's end of the link to a place.
fn link(place: &str) -> String {
    format!("v{place}")
}

/// Adds a line to a script.
pub(crate) fn say(script: &mut String, line: &str) {
    script.push_str(line);
    script.push('\n');
}

/// Runs a script of `ip` commands in one process, all or nothing of each line (ip(8), `-batch`).
pub(crate) async fn ip(place: Option<&str>, script: &str) -> Result<(), NetworkError> {
    let mut command = Command::new("ip");
    if let Some(place) = place {
        command.args(["-netns", place]);
    }
    let child = spawn(command.args(["-batch", "-"])).map_err(NetworkError::Start)?;
    talk(child, place.unwrap_or("the world"), script).await
}

/// Starts a program that reads a script.
fn spawn(command: &mut Command) -> io::Result<Child> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}

/// Gives a program its script, and waits until it is done.
async fn talk(mut child: Child, place: &str, script: &str) -> Result<(), NetworkError> {
    if let Some(mut input) = child.stdin.take() {
        input
            .write_all(script.as_bytes())
            .await
            .map_err(NetworkError::Start)?;
    }
    let output = child
        .wait_with_output()
        .await
        .map_err(NetworkError::Start)?;
    if output.status.success() {
        return Ok(());
    }
    Err(NetworkError::Refused {
        place: place.to_owned(),
        problem: String::from_utf8_lossy(&output.stderr)
            .trim()
            .replace('\n', "; "),
    })
}
