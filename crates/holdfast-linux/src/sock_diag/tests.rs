//! Against this machine's kernel, on connections of the test's own.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

use super::*;

mod black_hole;

/// A connection over loopback: the client's end, the server's end.
fn connect(to: IpAddr) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((to, 0)).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    (client, server)
}

fn loopback() -> (TcpStream, TcpStream) {
    connect(Ipv4Addr::LOCALHOST.into())
}

fn socket_of(diag: &mut SockDiag, stream: &TcpStream) -> Socket {
    diag.find(stream.local_addr().unwrap(), stream.peer_addr().unwrap())
        .unwrap()
        .expect("the kernel knows its own socket")
}

fn inode(stream: &TcpStream) -> u32 {
    u32::try_from(rustix::fs::fstat(stream).unwrap().st_ino).unwrap()
}

fn is_root() -> bool {
    capabilities(None)
        .unwrap()
        .effective
        .contains(CapabilitySet::NET_ADMIN | CapabilitySet::SYS_ADMIN)
}

/// Whether this test may do what needs root. If not, says so where nobody overlooks it.
fn can_abort_sockets() -> bool {
    if !is_root() {
        writeln!(
            std::io::stderr(),
            "SKIPPED: aborting sockets needs CAP_NET_ADMIN\n  hint: run the tests as root"
        )
        .unwrap();
    }
    is_root()
}

#[test]
fn a_list_shows_whose_a_connection_is_and_what_passed_over_it() {
    let (mut client, mut server) = loopback();
    client.write_all(&[7; 300]).unwrap();
    server.read_exact(&mut [0; 100]).unwrap();
    server.write_all(&[8; 50]).unwrap();
    client.read_exact(&mut [0; 50]).unwrap();

    let filter = Filter::established([client.peer_addr().unwrap()]);
    let found = SockDiag::open().unwrap().list(&filter).unwrap();
    let [socket] = found.as_slice() else {
        panic!("only the client is connected to that port: {found:#?}");
    };
    assert_eq!(socket.local, client.local_addr().unwrap());
    assert_eq!(socket.remote, client.peer_addr().unwrap());
    assert_eq!(socket.state, State::Established);
    assert_eq!(socket.inode, inode(&client));
    assert_eq!(socket.uid, rustix::process::getuid().as_raw());
    assert_eq!(socket.unread, 0);
    assert_eq!(socket.unacknowledged, 0);
    let info = socket.info.unwrap();
    assert_eq!(info.bytes_received, Some(50));
    assert_eq!(info.bytes_sent, Some(300));
    assert_eq!(info.bytes_retransmitted, Some(0));
    assert_eq!((info.retransmits, info.backoff, info.unacked), (0, 0, 0));
    assert!(info.rto >= Duration::from_millis(1));
    assert!(info.last_data_sent < Duration::from_mins(1));
    assert!(info.send_window.unwrap() > 0);

    let server_side = socket_of(&mut SockDiag::open().unwrap(), &server);
    assert_eq!(server_side.unread, 200);
    assert_ne!(server_side.cookie, socket.cookie);
}

#[test]
fn ipv4_over_an_ipv6_socket_is_listed_as_ipv4() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let remote = listener.local_addr().unwrap();
    let mapped = Ipv4Addr::LOCALHOST.to_ipv6_mapped();
    let Ok(mut client) = TcpStream::connect((mapped, remote.port())) else {
        writeln!(std::io::stderr(), "SKIPPED: this kernel has no IPv6").unwrap();
        return;
    };
    let mut diag = SockDiag::open().unwrap();
    let found = diag.list(&Filter::established([remote])).unwrap();
    let [socket] = found.as_slice() else {
        panic!("{found:#?}");
    };
    assert_eq!(socket.inode, inode(&client));
    assert_eq!(socket.local.ip(), Ipv4Addr::LOCALHOST);
    assert_eq!(socket.family, AF_INET6);
    let looked_up = socket_of(&mut diag, &client);
    assert_eq!(looked_up.cookie, socket.cookie);
    if can_abort_sockets() {
        assert_eq!(diag.destroy(socket).unwrap(), Destroyed::Aborted);
        let error = client.read(&mut [0; 1]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionAborted);
    }
}

#[test]
fn ipv6_is_listed_beside_ipv4() {
    let Ok(listener) = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)) else {
        writeln!(std::io::stderr(), "SKIPPED: this kernel has no IPv6").unwrap();
        return;
    };
    let over_6 = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (over_4, _server) = loopback();
    let remotes = [over_6.peer_addr().unwrap(), over_4.peer_addr().unwrap()];
    let mut diag = SockDiag::open().unwrap();
    let found = diag.list(&Filter::established(remotes)).unwrap();
    let mut inodes: Vec<u32> = found.iter().map(|s| s.inode).collect();
    inodes.sort_unstable();
    let mut expected = vec![inode(&over_6), inode(&over_4)];
    expected.sort_unstable();
    assert_eq!(inodes, expected);
}

#[test]
fn many_ports_and_any_remote_are_filtered_as_well() {
    let pairs: Vec<_> = (0..6).map(|_| loopback()).collect();
    let remotes: BTreeSet<_> = pairs.iter().map(|(c, _)| c.peer_addr().unwrap()).collect();
    let mut diag = SockDiag::open().unwrap();
    let found = diag.list(&Filter::established(remotes.clone())).unwrap();
    let seen: BTreeSet<_> = found.iter().map(|s| s.remote).collect();
    assert_eq!((found.len(), seen), (6, remotes));

    let everybody = Filter {
        states: vec![State::Established],
        remotes: None,
    };
    let all = diag.list(&everybody).unwrap();
    for (client, server) in &pairs {
        for end in [client, server] {
            assert!(all.iter().any(|s| s.inode == inode(end)));
        }
    }
}

#[test]
fn a_connection_that_is_not_there_is_not_found() {
    let (client, server) = loopback();
    let (local, remote) = (client.local_addr().unwrap(), client.peer_addr().unwrap());
    let mut diag = SockDiag::open().unwrap();
    assert!(diag.find(local, remote).unwrap().is_some());
    reset(client);
    drop(server);
    assert_eq!(diag.find(local, remote).unwrap(), None);
}

/// Closes with a reset, so that nothing stays in `TIME_WAIT`.
fn reset(stream: TcpStream) {
    socket2::SockRef::from(&stream)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    drop(stream);
}

#[test]
fn an_aborted_connection_tells_its_owner_and_its_peer_at_once() {
    if !can_abort_sockets() {
        return;
    }
    let (mut client, mut server) = loopback();
    let mut diag = SockDiag::open().unwrap();
    let socket = socket_of(&mut diag, &client);
    let reader = std::thread::spawn(move || client.read(&mut [0; 1]).unwrap_err().kind());
    assert_eq!(diag.destroy(&socket).unwrap(), Destroyed::Aborted);
    assert_eq!(reader.join().unwrap(), ErrorKind::ConnectionAborted);
    let error = server.read(&mut [0; 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(diag.destroy(&socket).unwrap(), Destroyed::Gone);
}

#[test]
fn s7_a_wrong_cookie_hits_nobody() {
    let (mut client, mut server) = loopback();
    let mut diag = SockDiag::open().unwrap();
    let mut socket = socket_of(&mut diag, &client);
    socket.id.cookie[0] ^= 1;
    assert_eq!(diag.destroy(&socket).unwrap(), Destroyed::Gone);
    server.write_all(b"x").unwrap();
    client.read_exact(&mut [0; 1]).unwrap();
}

#[test]
fn s7_a_connection_that_took_over_the_ports_is_not_hit() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let remote = listener.local_addr().unwrap();
    let first = TcpStream::connect(remote).unwrap();
    let (first_server, local) = listener.accept().unwrap();
    let mut diag = SockDiag::open().unwrap();
    let old = socket_of(&mut diag, &first);
    reset(first);
    drop(first_server);

    let second = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    second.bind(&local.into()).unwrap();
    second.connect(&remote.into()).unwrap();
    let mut second = TcpStream::from(second);
    let (mut second_server, again) = listener.accept().unwrap();
    assert_eq!(again, local, "the same ends, another connection");
    assert_eq!(diag.destroy(&old).unwrap(), Destroyed::Gone);
    second_server.write_all(b"x").unwrap();
    second.read_exact(&mut [0; 1]).unwrap();
}

#[test]
fn s7_time_wait_is_listed_on_demand_and_never_touched() {
    let (client, server) = loopback();
    let remote = client.peer_addr().unwrap();
    drop(client);
    drop(server);
    let waiting = |diag: &mut SockDiag| {
        let filter = Filter {
            states: vec![State::TimeWait],
            remotes: Some(BTreeSet::from([remote])),
        };
        diag.list(&filter).unwrap()
    };
    let mut diag = SockDiag::open().unwrap();
    let found = waiting(&mut diag);
    let [socket] = found.as_slice() else {
        panic!("the end that closed first waits: {found:#?}");
    };
    assert_eq!(diag.list(&Filter::established([remote])).unwrap(), []);
    assert_eq!(diag.destroy(socket).unwrap(), Destroyed::Gone);
    assert_eq!(waiting(&mut diag).len(), 1);
}

#[test]
fn without_the_capability_listing_works_and_aborting_says_what_is_missing() {
    let (client, mut server) = loopback();
    // Capabilities belong to a thread (capabilities(7)).
    let (found, destroyed, tried) = std::thread::scope(|scope| {
        let without = || {
            let mut sets = capabilities(None).unwrap();
            sets.effective.remove(CapabilitySet::NET_ADMIN);
            set_capabilities(None, sets).unwrap();
            let mut diag = SockDiag::open().unwrap();
            let found = socket_of(&mut diag, &client);
            let destroyed = diag.destroy(&found);
            (found, destroyed, try_destroy())
        };
        scope.spawn(without).join().unwrap()
    });
    assert_eq!(found.inode, inode(&client));
    let error = destroyed.unwrap_err();
    assert_eq!(error.missing(), Some(Missing::Capability), "{error}");
    let error = tried.unwrap_err();
    assert_eq!(error.missing(), Some(Missing::Capability), "{error}");
    let mut client = client;
    server.write_all(b"x").unwrap();
    client.read_exact(&mut [0; 1]).unwrap();
}

#[test]
fn the_right_to_abort_is_tried_on_nobody_elses_socket() {
    if !can_abort_sockets() {
        return;
    }
    try_destroy().unwrap();
}
