//! Against BIND 9: aliases, truncation and negative answers as a real server makes them.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use tokio::time::sleep;

use super::*;

/// A name server with one zone, in a process of its own.
struct Named {
    process: Child,
    address: SocketAddr,
    folder: TempDir,
}

impl Drop for Named {
    fn drop(&mut self) {
        // One that has ended already is none the worse.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn zone() -> String {
    let mut zone = "$ORIGIN example.test.\n$TTL 30\n\
                    @ SOA ns hostmaster 1 3600 600 86400 20\n@ NS ns\nns A 127.0.0.1\n\
                    chain 300 CNAME mid\nmid 7 CNAME end\nend 60 A 10.0.0.1\nend 60 AAAA fd00::1\n\
                    only4 A 10.0.0.2\n"
        .to_owned();
    // BIND takes at most 100 records of one name and type (`max-records-per-type`).
    for n in 1..=90 {
        writeln!(zone, "big A 10.0.1.{n}").unwrap();
    }
    zone
}

impl Named {
    /// `None` where it is not installed.
    async fn start() -> Option<Self> {
        let programs = ["/usr/sbin/named", "/usr/bin/named", "/usr/local/sbin/named"];
        let Some(program) = programs.into_iter().find(|path| Path::new(path).exists()) else {
            // This is not captured, as the print macros are.
            writeln!(
                std::io::stderr(),
                "SKIPPED: BIND 9 is not there; as root: apt-get install bind9"
            )
            .unwrap();
            return None;
        };
        let folder = TempDir::new().unwrap();
        let (udp, tcp) = listen().await;
        let address = udp.local_addr().unwrap();
        drop((udp, tcp));
        let path = folder.path().display();
        let config = format!(
            "options {{ directory \"{path}\"; listen-on port {port} {{ 127.0.0.1; }}; \
             listen-on-v6 {{ none; }}; pid-file none; session-keyfile none; recursion no; \
             dnssec-validation no; }};\ncontrols {{ }};\n\
             zone \"example.test\" {{ type primary; file \"zone\"; }};\n",
            port = address.port()
        );
        fs::write(folder.path().join("named.conf"), config).unwrap();
        fs::write(folder.path().join("zone"), zone()).unwrap();
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let process = Command::new(program)
            .args(["-g", "-n", "1", "-c"])
            .arg(folder.path().join("named.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut named = Self {
            process,
            address,
            folder,
        };
        let until = Instant::now() + PATIENCE;
        while !matches!(
            named.ask("only4", Source::DnsA).await,
            Answer::Addresses { .. }
        ) {
            let log = || fs::read_to_string(named.folder.path().join("log")).unwrap();
            assert!(Instant::now() < until, "it does not answer: {}", log());
            assert!(
                named.process.try_wait().unwrap().is_none(),
                "it ended: {}",
                log()
            );
            sleep(Duration::from_millis(50)).await;
        }
        Some(named)
    }

    async fn ask(&self, name: &str, source: Source) -> Answer {
        let watch = NameWatch::new(&format!("{name}.example.test"), PORT, vec![self.address]);
        ask(&watch, source).await
    }
}

#[tokio::test]
async fn peer_bind9_answers_are_understood() {
    let Some(named) = Named::start().await else {
        return;
    };
    // The shortest lifetime of the chain.
    assert_eq!(
        named.ask("chain", Source::DnsA).await,
        super::named(&["10.0.0.1:6443"], 7)
    );
    assert_eq!(
        named.ask("chain", Source::DnsAaaa).await,
        super::named(&["[fd00::1]:6443"], 7)
    );
    // Too long for a datagram of 1232 bytes: asked for again over TCP.
    let Answer::Addresses {
        addresses,
        lifetime,
    } = named.ask("big", Source::DnsA).await
    else {
        panic!("it has addresses");
    };
    assert_eq!(addresses.len(), 90);
    assert_eq!(lifetime, Some(Duration::from_secs(30)));
    // The SOA's minimum, 20 s, is less than its lifetime, 30 s.
    let negative = Some(Duration::from_secs(20));
    assert_eq!(
        named.ask("only4", Source::DnsAaaa).await,
        Answer::NoRecords { lifetime: negative }
    );
    let Answer::Failed { why, lifetime } = named.ask("nobody", Source::DnsA).await else {
        panic!("it does not exist");
    };
    assert_eq!(why, "nobody.example.test. does not exist (NXDOMAIN)");
    assert_eq!(lifetime, negative);
}
