//! A connection whose packets go nowhere, between two network namespaces of the test's own.

use std::process::Command;

use super::*;
use crate::netns::Namespace;

const NEAR: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 1);
const FAR: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 2);
const FAR_MAC: &str = "02:00:00:00:00:02";

/// A network namespace of the test's own; removed at its end.
struct Own(String);

impl Own {
    fn make(name: &str) -> Self {
        let own = Self(format!("hf-{name}-{}", std::process::id()));
        ip(&format!("netns add {}", own.0));
        own
    }

    /// Runs `ip` in it.
    fn ip(&self, arguments: &str) {
        ip(&format!("-n {} {arguments}", self.0));
    }

    fn open(&self) -> Namespace {
        Namespace::open(&self.0).unwrap()
    }

    /// Gives its `eth0` an address, and no need to ask for FAR's hardware address: a loss would
    /// be noticed by that.
    fn address(&self, address: Ipv4Addr) {
        self.ip(&format!("address add {address}/24 dev eth0"));
        self.ip("link set eth0 up");
        if address == NEAR {
            self.ip(&format!("neighbour add {FAR} lladdr {FAR_MAC} dev eth0"));
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let delete = ["netns", "delete", &self.0];
        drop(Command::new("ip").args(delete).output());
    }
}

fn ip(arguments: &str) {
    let done = Command::new("ip")
        .args(arguments.split_whitespace())
        .output()
        .expect("ip(8) of iproute2");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "ip {arguments}: {said}");
}

#[test]
fn a_black_holed_connection_shows_its_retransmissions_and_is_aborted() {
    if !can_abort_sockets() {
        return;
    }
    let (near_side, far_side) = (Own::make("near"), Own::make("far"));
    near_side.ip(&format!(
        "link add eth0 type veth peer name eth0 netns {} address {FAR_MAC}",
        far_side.0
    ));
    near_side.address(NEAR);
    far_side.address(FAR);
    let (near, far) = (near_side.open(), far_side.open());
    let listener = far
        .within(|| TcpListener::bind((FAR, 6443)))
        .unwrap()
        .unwrap();
    let remote = listener.local_addr().unwrap();
    let mut client = near.within(|| TcpStream::connect(remote)).unwrap().unwrap();
    let (_server, _) = listener.accept().unwrap();

    let mut here = SockDiag::open().unwrap();
    let filter = Filter::established([remote]);
    assert_eq!(
        here.list(&filter).unwrap(),
        [],
        "another namespace's sockets"
    );
    // The line keeps the namespace that it was opened in, on whichever thread it is used.
    let mut diag = near.within(SockDiag::open).unwrap().unwrap();
    assert_eq!(diag.list(&filter).unwrap().len(), 1);

    // The wire stays up, and FAR is nobody's address any more.
    far_side.ip("address flush dev eth0");
    client.write_all(&[1; 77]).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let socket = loop {
        let [socket] = diag
            .list(&filter)
            .unwrap()
            .try_into()
            .expect("it still stands");
        if socket.info.unwrap().retransmits >= 2 {
            break socket;
        }
        assert!(Instant::now() < deadline, "{socket:#?}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let info = socket.info.unwrap();
    assert_eq!(socket.unacknowledged, 77);
    assert!(info.unacked >= 1 && info.backoff >= 1, "{info:#?}");
    assert_eq!(
        info.bytes_sent.unwrap() - info.bytes_retransmitted.unwrap(),
        77
    );
    assert_eq!(diag.destroy(&socket).unwrap(), Destroyed::Aborted);
    let error = client.read(&mut [0; 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionAborted);
}

#[test]
fn an_attempt_that_nobody_answers_is_seen_and_aborted() {
    if !can_abort_sockets() {
        return;
    }
    let alone = Own::make("alone");
    alone.ip("link add eth0 type veth peer name void");
    alone.ip("link set void up");
    alone.address(NEAR);
    let namespace = alone.open();
    let remote = SocketAddr::from((FAR, 6443));
    let socket = namespace
        .within(|| socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None))
        .unwrap()
        .unwrap();
    let waiting = std::thread::spawn(move || socket.connect(&remote.into()).unwrap_err().kind());
    let mut diag = namespace.within(SockDiag::open).unwrap().unwrap();
    let filter = Filter {
        states: vec![State::SynSent],
        remotes: Some(BTreeSet::from([remote])),
    };
    let deadline = Instant::now() + Duration::from_secs(20);
    let attempt = loop {
        if let Some(found) = diag.list(&filter).unwrap().pop() {
            break found;
        }
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(diag.destroy(&attempt).unwrap(), Destroyed::Aborted);
    assert_eq!(waiting.join().unwrap(), ErrorKind::ConnectionAborted);
}
