//! An actor's listening TCP socket.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::StartError;

/// Opens the socket and tells where it is, which the kernel chose if the port was 0.
pub(crate) async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), StartError> {
    let listener = TcpListener::bind(address).await;
    listener
        .and_then(|listener| {
            let address = listener.local_addr()?;
            Ok((listener, address))
        })
        .map_err(|source| StartError::Listen { address, source })
}

/// Gives each connection a task of its own. All of them end with this one.
pub(crate) async fn accept<F>(listener: TcpListener, converse: impl Fn(TcpStream) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            // A connection that broke before it was accepted is nobody's.
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                drop(stream.set_nodelay(true));
                connections.spawn(converse(stream));
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
