//! The service as its clients meet it, without sockets and clocks.

mod faults;
mod folder;
mod scale_sets;
mod world;
mod writing;
