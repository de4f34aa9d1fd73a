use super::*;

#[tokio::test]
async fn a_taken_address_is_named_with_its_process() {
    for any in ["127.0.0.1:0", "[::1]:0"] {
        let first = listen(any.parse().unwrap()).unwrap();
        let address = first.local_addr().unwrap();
        let error = listen(address).unwrap_err();
        let owner = error.owner.clone().expect("our own process is visible");
        assert_eq!(owner.pid, std::process::id());
        let text = error.to_string();
        assert!(text.contains(&address.to_string()), "{text}");
        assert!(text.contains(&format!("process {}", owner.pid)), "{text}");
    }
}

#[tokio::test]
async fn an_address_of_another_host_is_an_error_without_owner() {
    let error = listen("192.0.2.1:6445".parse().unwrap()).unwrap_err();
    assert_eq!(error.owner, None);
}

#[test]
fn reads_the_kernels_table() {
    let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
        0: 0100007F:192D 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0\n\
        1: 0100007F:192D 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0\n\
        2: 00000000:192E 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0\n";
    let one = "127.0.0.1:6445".parse().unwrap();
    assert_eq!(listening_inodes(table, one), ["4711"]);
    let any = "127.0.0.1:6446".parse().unwrap();
    assert_eq!(listening_inodes(table, any), ["4713"]);
}

#[tokio::test]
async fn accepted_connections_do_not_wait_to_fill_a_segment() {
    for any in ["127.0.0.1:0", "[::1]:0"] {
        let listener = listen(any.parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let _client = tokio::net::TcpStream::connect(address).await.unwrap();
        let (accepted, _) = listener.accept().await.unwrap();
        assert!(accepted.nodelay().unwrap());
    }
}
