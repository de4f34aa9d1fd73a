//! Reporting to systemd on behalf of another unit's main process (`sd_notify(3)`, `sd_pid_notify(3)`).
//!
//! systemd takes the sender from the credentials of the datagram; root (`CAP_SYS_ADMIN`) may write
//! another process's number there (unix(7), `SCM_CREDENTIALS`). systemd then applies that unit's
//! `NotifyAccess`, which a watchdog or `Type=notify` raises to `main` at least.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use rustix::net::{
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, UCred, sendmsg_addr,
};
use rustix::process::{Pid, getgid, getuid};

/// Where every unit of the system's manager reports.
const SOCKET: &str = "/run/systemd/notify";

/// A sign of life.
pub const ALIVE: &str = "WATCHDOG=1";

/// The watchdog's interval is over, as if no sign of life had come (`sd_notify(3)`, since systemd 243).
pub const HANGS: &str = "WATCHDOG=trigger";

/// Sends `state` as if the process `pid` had sent it.
///
/// # Errors
/// `EPERM` without `CAP_SYS_ADMIN`, `ESRCH` when there is no such process; `ENOENT` where systemd does
/// not run. What systemd does with the message it does not say.
pub fn report_for(pid: u32, state: &str) -> io::Result<()> {
    report_to(Path::new(SOCKET), pid, state)
}

fn report_to(socket: &Path, pid: u32, state: &str) -> io::Result<()> {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let sender = UCred {
        pid,
        uid: getuid(),
        gid: getgid(),
    };
    let line = UnixDatagram::unbound()?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmCredentials(sender)) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    sendmsg_addr(
        &line,
        &SocketAddrUnix::new(socket)?,
        &[IoSlice::new(state.as_bytes())],
        &mut control,
        SendFlags::empty(),
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::net::sockopt::set_socket_passcred;
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

    use super::*;

    /// What arrived, and from whom.
    fn receive(line: &UnixDatagram) -> (String, Option<u32>) {
        let mut text = [0; 64];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut slices = [io::IoSliceMut::new(&mut text)];
        let received = recvmsg(line, &mut slices, &mut control, RecvFlags::empty()).unwrap();
        let sender = control.drain().find_map(|message| {
            let RecvAncillaryMessage::ScmCredentials(from) = message else {
                return None;
            };
            u32::try_from(from.pid.as_raw_pid()).ok()
        });
        let text = String::from_utf8_lossy(&text[..received.bytes]).into_owned();
        (text, sender)
    }

    #[test]
    fn a_report_bears_the_number_of_the_process_it_is_for() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("notify");
        let line = UnixDatagram::bind(&socket).unwrap();
        set_socket_passcred(&line, true).unwrap();
        report_to(&socket, std::process::id(), ALIVE).unwrap();
        assert_eq!(
            receive(&line),
            ("WATCHDOG=1".to_owned(), Some(std::process::id()))
        );
        let mut other = Command::new("sleep")
            .arg("60")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let sent = report_to(&socket, other.id(), HANGS);
        if getuid().is_root() {
            sent.unwrap();
            assert_eq!(
                receive(&line),
                ("WATCHDOG=trigger".to_owned(), Some(other.id()))
            );
        } else {
            assert_eq!(sent.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        }
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(
            report_to(&socket, 0, ALIVE).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
    }
}
