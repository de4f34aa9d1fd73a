use hickory_resolver::proto::op::Message;
use hickory_resolver::proto::rr::rdata::{A, AAAA, CNAME, SOA};
use hickory_resolver::proto::rr::{Name, Record};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::*;
use crate::stage::{NAME, PATIENCE};

mod bind9;

const PORT: u16 = 6443;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Tcp,
    Udp,
}

/// A question that a resolver was asked: name, type, and how.
type Asked = (String, RecordType, Transport);

/// A resolver that answers as a closure wants; `None` is silence.
struct Resolver {
    address: SocketAddr,
    asked: mpsc::UnboundedReceiver<Asked>,
    _tasks: JoinSet<()>,
}

impl Resolver {
    /// The closure gets a response to fill, without records and with the code for no error.
    async fn start<F>(answer: F) -> Self
    where
        F: Fn(RecordType, Transport, Message) -> Option<Message> + Clone + Send + 'static,
    {
        let (udp, tcp) = listen().await;
        let address = udp.local_addr().unwrap();
        let (tell, asked) = mpsc::unbounded_channel();
        let reply = move |question: &[u8], transport| {
            let question = Message::from_vec(question).unwrap();
            let query = question.queries[0].clone();
            let kind = query.query_type();
            drop(tell.send((query.name().to_ascii(), kind, transport)));
            let mut response = Message::response(question.metadata.id, question.metadata.op_code);
            response.metadata.recursion_available = true;
            response.add_queries([query]);
            answer(kind, transport, response).map(|message| message.to_vec().unwrap())
        };
        let mut tasks = JoinSet::new();
        let by_udp = reply.clone();
        tasks.spawn(async move {
            let mut buffer = [0; 4096];
            loop {
                let (n, from) = udp.recv_from(&mut buffer).await.unwrap();
                if let Some(answer) = by_udp(&buffer[..n], Transport::Udp) {
                    udp.send_to(&answer, from).await.unwrap();
                }
            }
        });
        tasks.spawn(async move {
            loop {
                let (mut stream, _) = tcp.accept().await.unwrap();
                // One question per connection, behind its length (RFC 1035, section 4.2.2).
                let length = stream.read_u16().await.unwrap();
                let mut question = vec![0; length.into()];
                stream.read_exact(&mut question).await.unwrap();
                if let Some(answer) = reply(&question, Transport::Tcp) {
                    let length = u16::try_from(answer.len()).unwrap();
                    stream.write_u16(length).await.unwrap();
                    stream.write_all(&answer).await.unwrap();
                }
            }
        });
        Self {
            address,
            asked,
            _tasks: tasks,
        }
    }

    fn watch(&self) -> NameWatch {
        NameWatch::new(NAME, PORT, vec![self.address])
    }

    fn questions(&mut self) -> Vec<Asked> {
        let mut all = Vec::new();
        while let Ok(one) = self.asked.try_recv() {
            all.push(one);
        }
        all
    }
}

/// Both sockets on one port.
async fn listen() -> (UdpSocket, TcpListener) {
    loop {
        let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        // A port that the kernel chose for UDP may be taken for TCP.
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()).await {
            return (udp, tcp);
        }
    }
}

fn name(text: &str) -> Name {
    Name::from_ascii(text).unwrap()
}

fn address_record(owner: &str, ttl: u32, ip: &str) -> Record {
    let data = match ip.parse().unwrap() {
        IpAddr::V4(ip) => RData::A(A(ip)),
        IpAddr::V6(ip) => RData::AAAA(AAAA(ip)),
    };
    Record::from_rdata(name(owner), ttl, data)
}

fn alias(owner: &str, ttl: u32, target: &str) -> Record {
    Record::from_rdata(name(owner), ttl, RData::CNAME(CNAME(name(target))))
}

/// What a negative answer carries (RFC 2308, section 3).
fn authority() -> Record {
    authority_of(60, 60)
}

fn authority_of(ttl: u32, minimum: u32) -> Record {
    let zone = name("example.test.");
    let soa = SOA::new(zone.clone(), zone.clone(), 1, 3600, 600, 86_400, minimum);
    Record::from_rdata(zone, ttl, RData::SOA(soa))
}

fn coded(mut response: Message, code: ResponseCode) -> Message {
    response.metadata.response_code = code;
    response
}

async fn ask(watch: &NameWatch, source: Source) -> Answer {
    timeout(PATIENCE, watch.ask(source)).await.unwrap()
}

fn failure(answer: Answer) -> String {
    let Answer::Failed { why, .. } = answer else {
        panic!("{answer:?} is no failure");
    };
    why
}

fn named(addresses: &[&str], lifetime: u64) -> Answer {
    Answer::Addresses {
        addresses: addresses.iter().map(|a| a.parse().unwrap()).collect(),
        lifetime: Some(Duration::from_secs(lifetime)),
    }
}

#[tokio::test]
async fn a_and_aaaa_are_asked_apart_and_get_the_endpoints_port() {
    let mut resolver = Resolver::start(|kind, _, mut response| {
        let ips: &[_] = if kind == RecordType::A {
            &["10.0.0.1", "10.0.0.2"]
        } else {
            &["fd00::1"]
        };
        response.add_answers(
            ips.iter()
                .map(|ip| address_record("api.example.test.", 30, ip)),
        );
        Some(response)
    })
    .await;
    let watch = resolver.watch();
    assert_eq!(
        ask(&watch, Source::DnsA).await,
        named(&["10.0.0.1:6443", "10.0.0.2:6443"], 30)
    );
    let full_name = "api.example.test.".to_owned();
    assert_eq!(
        resolver.questions(),
        [(full_name.clone(), RecordType::A, Transport::Udp)]
    );
    assert_eq!(
        ask(&watch, Source::DnsAaaa).await,
        named(&["[fd00::1]:6443"], 30)
    );
    assert_eq!(
        resolver.questions(),
        [(full_name, RecordType::AAAA, Transport::Udp)]
    );
}

#[tokio::test]
async fn every_question_reaches_the_resolver_since_nothing_is_cached() {
    let mut resolver = Resolver::start(|_, _, mut response| {
        response.add_answer(address_record("api.example.test.", 3600, "10.0.0.1"));
        Some(response)
    })
    .await;
    let watch = resolver.watch();
    for _ in 0..3 {
        assert_eq!(
            ask(&watch, Source::DnsA).await,
            named(&["10.0.0.1:6443"], 3600)
        );
    }
    assert_eq!(resolver.questions().len(), 3);
}

#[tokio::test]
async fn the_lifetime_is_the_shortest_of_the_whole_chain_of_aliases() {
    for lifetimes in [[7, 300, 60], [300, 7, 60], [300, 60, 7]] {
        let [first, second, last] = lifetimes;
        let resolver = Resolver::start(move |_, _, mut response| {
            response.add_answers([
                alias("api.example.test.", first, "lb.cloud.test."),
                alias("lb.cloud.test.", second, "zone-a.lb.cloud.test."),
                address_record("zone-a.lb.cloud.test.", last, "10.0.0.1"),
                address_record("zone-a.lb.cloud.test.", last, "10.0.0.2"),
            ]);
            Some(response)
        })
        .await;
        assert_eq!(
            ask(&resolver.watch(), Source::DnsA).await,
            named(&["10.0.0.1:6443", "10.0.0.2:6443"], 7),
            "{lifetimes:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_without_records_is_no_failure_and_stands_as_long_as_the_authority_says() {
    let none = |seconds: Option<u64>| Answer::NoRecords {
        lifetime: seconds.map(Duration::from_secs),
    };
    // The smaller one of the SOA record's lifetime and its minimum (RFC 2308, section 5).
    for (ttl, minimum, expected) in [(60, 300, 60), (300, 20, 20)] {
        let resolver = Resolver::start(move |_, _, mut response| {
            response.add_authority(authority_of(ttl, minimum));
            Some(response)
        })
        .await;
        assert_eq!(
            ask(&resolver.watch(), Source::DnsAaaa).await,
            none(Some(expected))
        );
    }
    // Some resolvers leave the authority out.
    let resolver = Resolver::start(|_, _, response| Some(response)).await;
    assert_eq!(ask(&resolver.watch(), Source::DnsAaaa).await, none(None));
    // The name is an alias of one that has other records.
    let resolver = Resolver::start(|_, _, mut response| {
        response.add_answer(alias("api.example.test.", 60, "lb.cloud.test."));
        response.add_authority(authority());
        Some(response)
    })
    .await;
    assert!(matches!(
        ask(&resolver.watch(), Source::DnsAaaa).await,
        Answer::NoRecords { .. }
    ));
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_a_failure_that_stands_as_long_as_the_authority_says() {
    let resolver = Resolver::start(|_, _, mut response| {
        response.add_authority(authority_of(600, 45));
        Some(coded(response, ResponseCode::NXDomain))
    })
    .await;
    let answer = ask(&resolver.watch(), Source::DnsA).await;
    let Answer::Failed { why, lifetime } = answer else {
        panic!("{answer:?} is no failure");
    };
    assert_eq!(why, "api.example.test. does not exist (NXDOMAIN)");
    assert_eq!(lifetime, Some(Duration::from_secs(45)));
    // A failure to answer says nothing about how long it lasts.
    let resolver =
        Resolver::start(|_, _, response| Some(coded(response, ResponseCode::ServFail))).await;
    let answer = ask(&resolver.watch(), Source::DnsA).await;
    assert!(
        matches!(answer, Answer::Failed { lifetime: None, .. }),
        "{answer:?}"
    );
}

/// A resolv.conf that is replaced by renaming, as its owners do it.
struct ResolvConf(tempfile::TempDir);

impl ResolvConf {
    fn new() -> Self {
        Self(tempfile::TempDir::new().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("resolv.conf")
    }

    fn replace(&self, text: &str) {
        let beside = self.0.path().join("new");
        fs::write(&beside, text).unwrap();
        fs::rename(beside, self.path()).unwrap();
    }

    fn watch(&self) -> NameWatch {
        NameWatch {
            resolv_conf: self.path(),
            ..NameWatch::new(NAME, PORT, Vec::new())
        }
    }
}

/// The servers that a watch would ask. Port 53 can't be listened on everywhere.
fn servers(watch: &NameWatch) -> Result<Vec<IpAddr>, String> {
    watch.resolvers()?;
    let (config, _) = watch.settings()?;
    let servers = config.name_servers().iter();
    Ok(servers.map(|server| server.ip).collect())
}

#[tokio::test]
async fn resolv_conf_is_followed_and_an_odd_moment_of_it_is_not() {
    let file = ResolvConf::new();
    let watch = file.watch();
    let missing = failure(ask(&watch, Source::DnsA).await);
    assert!(
        missing.starts_with("read ") && missing.contains("No such file"),
        "{missing}"
    );
    file.replace("# nothing yet\n");
    let none = failure(ask(&watch, Source::DnsA).await);
    assert!(none.ends_with("no nameservers found in config"), "{none}");

    file.replace("nameserver 127.0.0.2\n");
    let first = watch.resolvers().unwrap();
    assert_eq!(
        servers(&watch).unwrap(),
        ["127.0.0.2".parse::<IpAddr>().unwrap()]
    );
    assert!(
        Arc::ptr_eq(&first, &watch.resolvers().unwrap()),
        "unchanged: not read again"
    );
    file.replace("search x.test\nnameserver 127.0.0.3\nnameserver ::1\n");
    let second = watch.resolvers().unwrap();
    assert_eq!(second.len(), 2);
    // Gone or empty for a moment: those of before are asked.
    fs::remove_file(file.path()).unwrap();
    assert!(Arc::ptr_eq(&second, &watch.resolvers().unwrap()));
    file.replace("");
    assert!(Arc::ptr_eq(&second, &watch.resolvers().unwrap()));
    file.replace("nameserver 127.0.0.4\n");
    assert_eq!(watch.resolvers().unwrap().len(), 1);
}

#[tokio::test]
async fn each_failure_names_the_endpoint_and_its_cause() {
    let cases = [
        (ResponseCode::NXDomain, "NXDOMAIN"),
        (ResponseCode::ServFail, "Server Failure"),
        (ResponseCode::Refused, "Refused"),
    ];
    for (code, words) in cases {
        let resolver = Resolver::start(move |_, _, mut response| {
            if code == ResponseCode::NXDomain {
                response.add_authority(authority());
            }
            Some(coded(response, code))
        })
        .await;
        let why = failure(ask(&resolver.watch(), Source::DnsA).await);
        assert!(why.contains("api.example.test"), "{why}");
        assert!(
            why.to_lowercase().contains(&words.to_lowercase()),
            "{code}: {why}"
        );
    }
}

#[tokio::test]
async fn a_resolver_that_stays_silent_is_a_failure_within_seconds() {
    let mut resolver = Resolver::start(|_, _, _| None).await;
    let started = Instant::now();
    let why = failure(ask(&resolver.watch(), Source::DnsA).await);
    assert!(started.elapsed() >= TIMEOUT);
    assert!(
        why.contains("api.example.test. A:") && why.contains("timed out"),
        "{why}"
    );
    // A datagram may be lost: it was asked more than once.
    assert!(resolver.questions().len() > 1);
}

#[tokio::test]
async fn a_resolver_that_is_not_there_is_a_failure() {
    let resolver = Resolver::start(|_, _, response| Some(response)).await;
    let watch = resolver.watch();
    drop(resolver);
    let why = failure(ask(&watch, Source::DnsA).await);
    assert!(why.contains("api.example.test"), "{why}");
}

#[tokio::test]
async fn the_next_resolver_is_asked_when_the_first_is_silent_or_fails() {
    for code in [
        None,
        Some(ResponseCode::ServFail),
        Some(ResponseCode::Refused),
    ] {
        let mut bad = Resolver::start(move |_, _, response| code.map(|c| coded(response, c))).await;
        let good = Resolver::start(|_, _, mut response| {
            response.add_answer(address_record("api.example.test.", 30, "10.0.0.1"));
            Some(response)
        })
        .await;
        let servers = vec![bad.address, good.address];
        let watch = NameWatch::new(NAME, PORT, servers);
        let expected = named(&["10.0.0.1:6443"], 30);
        assert_eq!(ask(&watch, Source::DnsA).await, expected, "{code:?}");
        assert!(!bad.questions().is_empty());
        // The one that answered is asked first from now on.
        assert_eq!(ask(&watch, Source::DnsA).await, expected, "{code:?}");
        assert_eq!(bad.questions(), []);
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_asked_for_again_over_tcp() {
    let mut resolver = Resolver::start(|_, transport, mut response| {
        if transport == Transport::Udp {
            return Some(response.truncate());
        }
        response.add_answers(
            (1..=100).map(|n| address_record("api.example.test.", 30, &format!("10.0.0.{n}"))),
        );
        Some(response)
    })
    .await;
    let answer = ask(&resolver.watch(), Source::DnsA).await;
    let Answer::Addresses { addresses, .. } = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(addresses.len(), 100);
    let transports: Vec<_> = resolver.questions().into_iter().map(|q| q.2).collect();
    assert_eq!(transports, [Transport::Udp, Transport::Tcp]);
}
