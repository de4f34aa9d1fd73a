//! Replaces a file's content in one step, and notices if somebody else has written it meanwhile.
//!
//! The new content is written beside the file, with its owner, mode and extended attributes, and
//! exchanged with it (renameat2(2), `RENAME_EXCHANGE`): what was there comes out in the same step and
//! is compared with what was read. So no change of somebody else's is lost without a word, and a
//! reader sees the old file or the new one.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{
    CWD, Gid, RenameFlags, Uid, XattrFlags, fchown, fgetxattr, flistxattr, fsetxattr,
};
use rustix::io::Errno;

#[cfg(test)]
mod tests;

/// Why a file was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    /// Somebody else has written it since it was read.
    #[error("{path} was written by somebody else meanwhile, and is left as it is")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// Nobody may write it.
    #[error("{path} is marked as read-only (mode {mode:04o})")]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// It has other names, which would keep the old content.
    #[error("{path} has {names} names (hard links), and only this one would be changed")]
    Linked {
        /// The file.
        path: PathBuf,
        /// How many names.
        names: u64,
    },
    /// It is no file.
    #[error("{path} is not a regular file")]
    NotAFile {
        /// What was named.
        path: PathBuf,
    },
    /// The kernel's word.
    #[error("{what} {path}: {source}")]
    Io {
        /// What was attempted.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the kernel says.
        source: io::Error,
    },
}

/// A file as it was read.
#[derive(Clone, Debug)]
pub struct Snapshot {
    path: PathBuf,
    bytes: Vec<u8>,
    metadata: Metadata,
}

impl Snapshot {
    /// Reads the file that `path` leads to; symbolic links are followed.
    ///
    /// # Errors
    /// It can't be read, or is no file.
    pub fn read(path: &Path) -> Result<Self, ReplaceError> {
        let path = fs::canonicalize(path).map_err(failed("read", path))?;
        let metadata = fs::metadata(&path).map_err(failed("read", &path))?;
        if !metadata.is_file() {
            return Err(ReplaceError::NotAFile { path });
        }
        let bytes = fs::read(&path).map_err(failed("read", &path))?;
        Ok(Self {
            path,
            bytes,
            metadata,
        })
    }

    /// The file itself, behind all links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was in it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether it could be replaced, as far as that is seen beforehand.
    ///
    /// # Errors
    /// What stands against it.
    pub fn may_be_replaced(&self) -> Result<(), ReplaceError> {
        let path = self.path.clone();
        let mode = self.metadata.permissions().mode() & 0o7777;
        if mode & 0o222 == 0 {
            return Err(ReplaceError::ReadOnly { path, mode });
        }
        let names = self.metadata.nlink();
        if names > 1 {
            return Err(ReplaceError::Linked { path, names });
        }
        Ok(())
    }

    /// Puts `bytes` in its place, and gives the file as it is then.
    ///
    /// # Errors
    /// Nothing was changed.
    pub fn replace(&self, bytes: &[u8]) -> Result<Self, ReplaceError> {
        self.may_be_replaced()?;
        let beside = Beside::write(self, bytes)?;
        self.exchange(&beside)?;
        drop(beside);
        sync_folder(&self.path)?;
        Self::read(&self.path)
    }

    fn exchange(&self, beside: &Beside) -> Result<(), ReplaceError> {
        match swap(&beside.path, &self.path) {
            Ok(()) => {}
            // A file system without it (renameat2(2)): looked at once more, then renamed.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                if !self.is_still(&self.path) {
                    return Err(self.changed());
                }
                return fs::rename(&beside.path, &self.path).map_err(failed("write", &self.path));
            }
            Err(Errno::NOENT) => return Err(self.changed()),
            Err(errno) => return Err(failed("write", &self.path)(errno.into())),
        }
        if self.is_still(&beside.path) {
            return Ok(());
        }
        // What came out is not what was read: it goes back.
        swap(&beside.path, &self.path)
            .map_err(|errno| failed("restore", &self.path)(errno.into()))?;
        Err(self.changed())
    }

    /// Whether the file at `path` is the one that was read, with the same content.
    fn is_still(&self, path: &Path) -> bool {
        let same =
            |now: Metadata| (now.dev(), now.ino()) == (self.metadata.dev(), self.metadata.ino());
        fs::metadata(path).is_ok_and(same) && fs::read(path).is_ok_and(|bytes| bytes == self.bytes)
    }

    fn changed(&self) -> ReplaceError {
        ReplaceError::Changed {
            path: self.path.clone(),
        }
    }

    /// Writes a file beside it, for the same readers: a copy of it, or notes about it.
    ///
    /// # Errors
    /// The kernel's word; a file of that name may be there as before.
    pub fn write_companion(&self, suffix: &str, bytes: &[u8]) -> Result<(), ReplaceError> {
        let companion = self.companion(suffix);
        let beside = Beside::write(self, bytes)?;
        fs::rename(&beside.path, &companion).map_err(failed("write", &companion))?;
        sync_folder(&companion)
    }

    /// Removes such a file; one that is not there is none the worse.
    ///
    /// # Errors
    /// The kernel's word.
    pub fn remove_companion(&self, suffix: &str) -> Result<(), ReplaceError> {
        let companion = self.companion(suffix);
        match fs::remove_file(&companion) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(failed("remove", &companion)(error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// What is in such a file, if there is one.
    ///
    /// # Errors
    /// The kernel's word.
    pub fn read_companion(&self, suffix: &str) -> Result<Option<Vec<u8>>, ReplaceError> {
        let companion = self.companion(suffix);
        match fs::read(&companion) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("read", &companion)(error)),
        }
    }

    /// The path of a file beside it: its own with `suffix`.
    pub fn companion(&self, suffix: &str) -> PathBuf {
        let mut path = OsString::from(&self.path);
        path.push(suffix);
        path.into()
    }
}

/// A file in the same folder that goes away when dropped.
struct Beside {
    path: PathBuf,
}

impl Beside {
    /// Writes it to the disk, for the same owner, with the same mode and attributes.
    fn write(like: &Snapshot, bytes: &[u8]) -> Result<Self, ReplaceError> {
        let path = like.companion(&format!(".{}.tmp", std::process::id()));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed("create", &path))?;
        let beside = Self { path };
        Self::fill(file, like, bytes).map_err(failed("write", &beside.path))?;
        Ok(beside)
    }

    fn fill(mut file: File, like: &Snapshot, bytes: &[u8]) -> io::Result<()> {
        let (own, wanted) = (file.metadata()?, &like.metadata);
        file.write_all(bytes)?;
        if (own.uid(), own.gid()) != (wanted.uid(), wanted.gid()) {
            let (uid, gid) = (Uid::from_raw(wanted.uid()), Gid::from_raw(wanted.gid()));
            fchown(&file, Some(uid), Some(gid))?;
        }
        // After the owner: a change of owner takes mode bits away (chown(2)).
        file.set_permissions(wanted.permissions())?;
        copy_attributes(&File::open(&like.path)?, &file)?;
        file.sync_all()
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // Renamed away, it is there no more.
        drop(fs::remove_file(&self.path));
    }
}

/// Access lists and security labels are extended attributes (xattr(7)).
fn copy_attributes(from: &File, to: &File) -> io::Result<()> {
    let mut names = vec![0; MOST_ATTRIBUTES];
    let length = match flistxattr(from, &mut names[..]) {
        Ok(length) => length,
        // A file system without them.
        Err(Errno::OPNOTSUPP) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    };
    let names = names.get(..length).unwrap_or_default();
    for name in names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
    {
        let mut value = vec![0; MOST_ATTRIBUTES];
        let length = fgetxattr(from, name, &mut value[..])?;
        let value = value.get(..length).unwrap_or_default();
        let mut present = vec![0; MOST_ATTRIBUTES];
        let same = fgetxattr(to, name, &mut present[..])
            .is_ok_and(|length| present.get(..length) == Some(value));
        if !same {
            fsetxattr(to, name, value, XattrFlags::empty())?;
        }
    }
    Ok(())
}

/// No list of names and no value is longer (xattr(7), `XATTR_SIZE_MAX`).
const MOST_ATTRIBUTES: usize = 65_536;

fn swap(one: &Path, other: &Path) -> Result<(), Errno> {
    rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)
}

/// A rename is on the disk when its folder is (fsync(2)).
fn sync_folder(path: &Path) -> Result<(), ReplaceError> {
    let folder = path.parent().unwrap_or_else(|| Path::new("/"));
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(failed("write", folder))
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ReplaceError {
    let path = path.to_owned();
    move |source| ReplaceError::Io { what, path, source }
}
