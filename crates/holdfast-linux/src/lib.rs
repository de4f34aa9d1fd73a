//! What only Linux can do for Holdfast: sockets, network namespaces, processes, files.

pub mod activation;
pub mod capability;
pub mod cgroup;
pub mod descriptors;
pub mod dial;
pub mod listen;
pub mod netns;
pub mod pump;
pub mod replace;
pub mod sock_diag;
pub mod systemd;
