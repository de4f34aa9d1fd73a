//! Many clients at once, on one thread with one epoll set.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddrV4, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{Timespec, epoll};
use socket2::{Domain, Socket, Type};

use super::super::backend::{SMALL, SMALL_AND_CLOSE, small_answer};
use super::{PATIENCE, check, real};

/// Answers per second to clients that keep their connections.
pub(super) fn requests(to: SocketAddrV4, clients: usize, each: Duration) -> io::Result<f64> {
    Swarm::new(to, SMALL, Habit::Stay)?.run(clients, each)
}

/// Answers per second to clients that connect anew for each.
pub(super) fn connects(to: SocketAddrV4, clients: usize, each: Duration) -> io::Result<f64> {
    Swarm::new(to, SMALL_AND_CLOSE, Habit::Leave)?.run(clients, each)
}

/// What a client does when it has its answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Habit {
    /// Asks again on the same connection.
    Stay,
    /// Waits for the end of the connection, as it asked for, and makes another one.
    Leave,
}

struct Swarm {
    to: SocketAddrV4,
    request: &'static [u8],
    habit: Habit,
    epoll: OwnedFd,
    clients: Vec<Client>,
    buffer: Vec<u8>,
    /// Bytes of a whole answer.
    whole: usize,
    answers: u64,
}

struct Client {
    stream: TcpStream,
    /// Whether the request is on its way; before that the connection is being made.
    asked: bool,
    /// Bytes of the answer so far.
    got: usize,
}

impl Swarm {
    fn new(to: SocketAddrV4, request: &'static [u8], habit: Habit) -> io::Result<Self> {
        let answer = small_answer(habit == Habit::Leave);
        Ok(Self {
            to,
            request,
            habit,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            clients: Vec::new(),
            whole: answer.len(),
            // One byte more, so that an answer that is too long shows.
            buffer: vec![0; answer.len() + 1],
            answers: 0,
        })
    }

    fn run(mut self, clients: usize, each: Duration) -> io::Result<f64> {
        for name in 0..clients {
            let client = self.dial(name)?;
            self.clients.push(client);
        }
        let patience = Timespec::try_from(PATIENCE).map_err(io::Error::other)?;
        let mut events: Vec<epoll::Event> = Vec::with_capacity(clients);
        let start = Instant::now();
        loop {
            events.clear();
            let room = rustix::buffer::spare_capacity(&mut events);
            if epoll::wait(&self.epoll, room, Some(&patience))? == 0 {
                return Err(io::ErrorKind::TimedOut.into());
            }
            for event in &events {
                let data = event.data;
                self.attend(usize::try_from(data.u64()).unwrap_or(usize::MAX))?;
            }
            let passed = start.elapsed();
            if passed >= each {
                return Ok(real(self.answers) / passed.as_secs_f64());
            }
        }
    }

    /// Begins a connection; the kernel says when it can be written to.
    fn dial(&self, name: usize) -> io::Result<Client> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        socket.set_tcp_nodelay(true)?;
        match socket.connect(&self.to.into()) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(in_progress()) => {}
            Err(error) => return Err(error),
        }
        let stream = TcpStream::from(socket);
        let name = epoll::EventData::new_u64(name as u64);
        epoll::add(&self.epoll, &stream, name, epoll::EventFlags::OUT)?;
        Ok(Client {
            stream,
            asked: false,
            got: 0,
        })
    }

    fn attend(&mut self, name: usize) -> io::Result<()> {
        let Some(client) = self.clients.get_mut(name) else {
            return Ok(());
        };
        if !client.asked {
            client.stream.write_all(self.request)?;
            client.asked = true;
            let name = epoll::EventData::new_u64(name as u64);
            return Ok(epoll::modify(
                &self.epoll,
                &client.stream,
                name,
                epoll::EventFlags::IN,
            )?);
        }
        let n = match client.stream.read(&mut self.buffer) {
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        };
        if client.got == 0 {
            check(self.buffer.get(..n).unwrap_or_default())?;
        }
        client.got += n;
        match (self.habit, client.got.cmp(&self.whole), n) {
            (_, std::cmp::Ordering::Greater, _) => {
                Err(io::Error::other("an answer is longer than it should be"))
            }
            (Habit::Stay, std::cmp::Ordering::Equal, _) => {
                self.answers += 1;
                client.got = 0;
                client.stream.write_all(self.request)
            }
            (Habit::Leave, std::cmp::Ordering::Equal, 0) => {
                self.answers += 1;
                let next = self.dial(name)?;
                if let Some(client) = self.clients.get_mut(name) {
                    // The old connection leaves the epoll set as it is closed.
                    *client = next;
                }
                Ok(())
            }
            (_, _, 0) => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// What a connection that is not made at once says (connect(2)).
const fn in_progress() -> i32 {
    rustix::io::Errno::INPROGRESS.raw_os_error()
}
