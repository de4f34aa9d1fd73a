//! `holdfast lab azure` as it ships: served over TLS, used by Azure's own clients, read and written as
//! a folder.

#[cfg(test)]
mod client;
#[cfg(test)]
mod folder;
#[cfg(test)]
mod live;
#[cfg(test)]
mod plane;
#[cfg(test)]
mod sdk;
#[cfg(test)]
mod stage;
