//! `holdfast lab actor`: the processes of a world. For the lab itself; their flags are not for people.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use holdfast_lab::actor::{StartError, api_server, balancer, client, dns, observer};
use holdfast_lab::span::Span;

#[derive(Debug, Args)]
pub(super) struct Actor {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Subcommand)]
enum Kind {
    /// A stand-in for a Kubernetes API server
    ApiServer {
        #[arg(long)]
        name: String,
        #[arg(long)]
        listen: SocketAddr,
        #[arg(long)]
        cert: PathBuf,
        #[arg(long)]
        key: PathBuf,
        #[arg(long, value_delimiter = ',')]
        endpoints: Vec<SocketAddr>,
        #[arg(long, value_parser = duration)]
        bookmark_every: Option<Duration>,
    },
    /// A layer-4 balancer
    Balancer {
        #[arg(long)]
        listen: SocketAddr,
        #[arg(long, value_delimiter = ',')]
        to: Vec<SocketAddr>,
    },
    /// A client that behaves as a kubelet does
    Client {
        #[arg(long)]
        server: String,
        #[arg(long)]
        resolve_with: Option<SocketAddr>,
        #[arg(long)]
        ca: PathBuf,
        #[arg(long)]
        tls_name: String,
        #[arg(long)]
        node: String,
        #[arg(long, default_value_t = 1.0)]
        time_scale: f64,
        #[arg(long, default_value_t = 1)]
        heartbeats: usize,
        #[arg(long, default_value_t = 0)]
        idle: usize,
        #[arg(long, default_value_t = 0)]
        readers: usize,
        #[arg(long, default_value_t = 0)]
        active: usize,
        #[arg(long, value_parser = duration)]
        fresh: Option<Duration>,
    },
    /// Tells what a real cluster's API says of its nodes
    Observer {
        #[arg(long, required = true)]
        kubeconfig: Vec<PathBuf>,
        #[arg(long, value_parser = duration, default_value = "500ms")]
        every: Duration,
    },
    /// A DNS server whose answers are scripted
    Dns {
        #[arg(long)]
        listen: SocketAddr,
        #[arg(long)]
        zone_name: String,
    },
}

/// Is that actor until its input ends.
pub(super) async fn run(actor: Actor) -> Result<(), StartError> {
    match actor.kind {
        Kind::ApiServer {
            name,
            listen,
            cert,
            key,
            endpoints,
            bookmark_every,
        } => {
            let options = api_server::ApiServer {
                name,
                listen,
                cert,
                key,
                endpoints,
                bookmark_every,
            };
            api_server::run(options).await
        }
        Kind::Balancer { listen, to } => balancer::run(balancer::Balancer { listen, to }).await,
        Kind::Client {
            server,
            resolve_with,
            ca,
            tls_name,
            node,
            time_scale,
            heartbeats,
            idle,
            readers,
            active,
            fresh,
        } => {
            let options = client::Client {
                server,
                resolve_with,
                ca,
                tls_name,
                node,
                time_scale,
                heartbeats,
                idle,
                readers,
                active,
                fresh,
            };
            client::run(options).await
        }
        Kind::Observer { kubeconfig, every } => {
            observer::run(observer::Observer {
                kubeconfigs: kubeconfig,
                every,
            })
            .await
        }
        Kind::Dns { listen, zone_name } => {
            dns::run(dns::DnsServer {
                listen,
                zone: zone_name,
            })
            .await
        }
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    text.parse::<Span>()
        .map(Span::duration)
        .map_err(|error| error.to_string())
}
