//! Asks resolvers for the endpoint's addresses: A and AAAA apart, no cache, no /etc/hosts.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ProtocolConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::{RData, RecordType};
use hickory_resolver::system_conf::parse_resolv_conf;
use holdfast_core::sources::Answer;
use holdfast_core::status::Source;
use parking_lot::Mutex;

#[cfg(test)]
mod tests;

/// Time for one question to one server; two tries each (resolv.conf(5) has 5 s and 2).
const TIMEOUT: Duration = Duration::from_millis(1500);

/// One for each server, in the order of the configuration.
type Resolvers = Arc<[TokioResolver]>;

const RESOLV_CONF: &str = "/etc/resolv.conf";

/// The endpoint's name, and who knows about it.
#[derive(Debug)]
pub(crate) struct NameWatch {
    name: String,
    port: u16,
    servers: Vec<SocketAddr>,
    resolv_conf: PathBuf,
    answered: AtomicUsize,
    current: Mutex<Option<(Option<Version>, Resolvers)>>,
}

/// A file as it was: one that is replaced has another time, length or inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version {
    modified: SystemTime,
    length: u64,
    inode: u64,
}

impl Version {
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            modified: metadata.modified().ok()?,
            length: metadata.len(),
            inode: metadata.ino(),
        })
    }
}

impl NameWatch {
    /// Watches `name`; with no `servers` those of /etc/resolv.conf are asked, which is read again
    /// when it changes.
    pub(crate) fn new(name: &str, port: u16, servers: Vec<SocketAddr>) -> Self {
        Self {
            // With a dot it is a full name: a search domain must not answer for it.
            name: if name.contains('.') {
                format!("{name}.")
            } else {
                name.to_owned()
            },
            port,
            servers,
            resolv_conf: PathBuf::from(RESOLV_CONF),
            answered: AtomicUsize::new(0),
            current: Mutex::new(None),
        }
    }

    /// Asks once. Never fails: a failure is an answer too.
    pub(crate) async fn ask(&self, source: Source) -> Answer {
        let kind = if source == Source::DnsAaaa {
            RecordType::AAAA
        } else {
            RecordType::A
        };
        let resolvers = match self.resolvers() {
            Ok(resolvers) => resolvers,
            Err(why) => {
                return Answer::Failed {
                    why,
                    lifetime: None,
                };
            }
        };
        // The one that answered last is asked first: one that is down would cost its time each time.
        let first = self.answered.load(Ordering::Relaxed);
        let mut answer = Answer::Failed {
            why: format!("{} names no resolver", self.resolv_conf.display()),
            lifetime: None,
        };
        for place in (first..resolvers.len()).chain(0..first) {
            let Some(resolver) = resolvers.get(place) else {
                continue;
            };
            let asked = resolver.lookup(self.name.as_str(), kind).await;
            let usable = asked.as_ref().map_or_else(is_final, |_| true);
            answer = match asked {
                Ok(lookup) => self.answer(lookup.answers()),
                Err(error) => self.failure(&error, kind),
            };
            if usable {
                self.answered.store(place, Ordering::Relaxed);
                break;
            }
        }
        answer
    }

    fn answer(&self, records: &[hickory_resolver::proto::rr::Record]) -> Answer {
        let addresses: BTreeSet<SocketAddr> = records
            .iter()
            .filter_map(|record| ip(&record.data))
            .map(|ip| SocketAddr::new(ip, self.port))
            .collect();
        // The whole chain counts: an alias that ends sooner may point elsewhere then.
        let lifetime = records.iter().map(|r| r.ttl).min();
        let lifetime = lifetime.map(|ttl| Duration::from_secs(ttl.into()));
        if addresses.is_empty() {
            return Answer::NoRecords { lifetime };
        }
        Answer::Addresses {
            addresses,
            lifetime,
        }
    }

    fn failure(&self, error: &NetError, kind: RecordType) -> Answer {
        let name = &self.name;
        if error.is_nx_domain() {
            return Answer::Failed {
                why: format!("{name} does not exist (NXDOMAIN)"),
                lifetime: negative_lifetime(error),
            };
        }
        if error.is_no_records_found() {
            return match rcode(error) {
                None | Some(ResponseCode::NoError) => Answer::NoRecords {
                    lifetime: negative_lifetime(error),
                },
                Some(code) => Answer::Failed {
                    why: format!("{name} {kind}: {code}"),
                    lifetime: None,
                },
            };
        }
        Answer::Failed {
            why: format!("{name} {kind}: {error}"),
            lifetime: None,
        }
    }

    /// The resolvers of the moment. A resolv.conf that is being replaced, or is empty for a moment,
    /// leaves those of before.
    fn resolvers(&self) -> Result<Resolvers, String> {
        let written = if self.servers.is_empty() {
            Version::of(&self.resolv_conf)
        } else {
            None
        };
        let mut current = self.current.lock();
        if let Some((from, resolvers)) = current.as_ref()
            && *from == written
        {
            return Ok(Arc::clone(resolvers));
        }
        let fresh: Resolvers = match (self.build(), current.as_ref()) {
            (Err(_), Some((_, old))) => Arc::clone(old),
            (Ok(fresh), _) => fresh.into(),
            (Err(why), None) => return Err(why),
        };
        *current = Some((written, Arc::clone(&fresh)));
        Ok(fresh)
    }

    /// Who is asked, and how.
    fn settings(&self) -> Result<(ResolverConfig, ResolverOpts), String> {
        let (config, mut options) = if self.servers.is_empty() {
            let path = self.resolv_conf.display();
            let text = fs::read(&self.resolv_conf).map_err(|e| format!("read {path}: {e}"))?;
            parse_resolv_conf(text).map_err(|e| format!("{path}: {e}"))?
        } else {
            let servers = self.servers.iter().copied().map(name_server).collect();
            (
                ResolverConfig::from_parts(None, Vec::new(), servers),
                ResolverOpts::default(),
            )
        };
        options.cache_size = 0;
        options.use_hosts_file = ResolveHosts::Never;
        options.num_concurrent_reqs = 1;
        options.timeout = TIMEOUT;
        options.attempts = 1;
        options.edns0 = true;
        Ok((config, options))
    }

    /// One resolver for each server: the library gives up at the first error that a server answers
    /// with, and prefers the quickest, which a server that only fails may well be.
    fn build(&self) -> Result<Vec<TokioResolver>, String> {
        let (config, options) = self.settings()?;
        let (domain, search) = (config.domain(), config.search());
        let one = |server: &NameServerConfig| {
            let alone = vec![server.clone()];
            let config = ResolverConfig::from_parts(domain.cloned(), search.to_vec(), alone);
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
                .with_options(options.clone())
                .build()
                .map_err(|e| format!("set up the resolver: {e}"))
        };
        config.name_servers().iter().map(one).collect()
    }
}

/// Whether the next resolver would say the same. What a server could not answer (SERVFAIL, REFUSED,
/// a timeout) another one may, as with the C library's resolver.
fn is_final(error: &NetError) -> bool {
    error.is_nx_domain()
        || (error.is_no_records_found()
            && matches!(rcode(error), None | Some(ResponseCode::NoError)))
}

fn ip(data: &RData) -> Option<IpAddr> {
    if let RData::A(a) = data {
        Some(IpAddr::V4(a.0))
    } else if let RData::AAAA(aaaa) = data {
        Some(IpAddr::V6(aaaa.0))
    } else {
        None
    }
}

/// How long it stands that there is nothing: the smaller one of the SOA record's own lifetime and its
/// `MINIMUM` (RFC 2308, section 5).
fn negative_lifetime(error: &NetError) -> Option<Duration> {
    let NetError::Dns(DnsError::NoRecordsFound(no)) = error else {
        return None;
    };
    let of_record = no.soa.as_ref().map(|soa| soa.ttl.min(soa.data.minimum));
    let seconds = no.negative_ttl.or(of_record)?;
    Some(Duration::from_secs(seconds.into()))
}

fn rcode(error: &NetError) -> Option<ResponseCode> {
    if let NetError::Dns(DnsError::NoRecordsFound(no)) = error {
        Some(no.response_code)
    } else {
        None
    }
}

fn name_server(server: SocketAddr) -> NameServerConfig {
    let connections = [ProtocolConfig::Udp, ProtocolConfig::Tcp]
        .into_iter()
        .map(|protocol| {
            let mut connection = ConnectionConfig::new(protocol);
            connection.port = server.port();
            connection
        })
        .collect();
    NameServerConfig::new(server.ip(), true, connections)
}
