//! Reads a folder with what `az … list -o json`, `kubectl get … -o json` and ARM's own lists print.
//!
//! A file is told by its content: the type in the id of its first resource. Only an empty list is
//! told by its name. Several files of one kind are joined, for several subscriptions or scale sets;
//! a resource that comes twice is kept once.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::id::Id;
use super::inventory::{Inventory, Listing};
use super::kubernetes::Object;

/// Why a folder can't be read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder or a file in it.
    #[error("read {}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is no such JSON.
    #[error("{}: {source}; accepted: what {accepted} prints", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// What it should be.
        accepted: &'static str,
        /// Where and why it isn't.
        source: serde_json::Error,
    },
    /// A file's content is of no kind that is known.
    #[error("{}: found {found}, accepted: what one of these prints: {accepted}", path.display())]
    Unknown {
        /// Which.
        path: PathBuf,
        /// What stands there.
        found: String,
        /// What may.
        accepted: String,
    },
    /// No file at all.
    #[error("{}: no .json file in it; accepted: {accepted}", path.display())]
    Empty {
        /// Which folder.
        path: PathBuf,
        /// What may be there.
        accepted: String,
    },
}

/// The lists of a folder.
pub fn read(folder: &Path) -> Result<Inventory, FolderError> {
    let mut inventory = Inventory::default();
    for path in &paths(folder)? {
        read_file(path, &mut inventory)?;
    }
    Ok(inventory)
}

/// Lists that came another way, as Resource Manager prints them; each is named for errors as its file is.
pub fn from_lists(lists: &[(Listing, Vec<Value>)]) -> Result<Inventory, FolderError> {
    let mut inventory = Inventory::default();
    for (listing, list) in lists {
        let path = Path::new(listing.file());
        let bytes = serde_json::to_vec(list).map_err(|source| FolderError::Content {
            path: path.to_owned(),
            accepted: listing.command(),
            source,
        })?;
        take(path, &bytes, *listing, &mut inventory)?;
    }
    Ok(inventory)
}

/// The files of a folder, in order, so that the same folder always gives the same inventory.
pub fn paths(folder: &Path) -> Result<Vec<PathBuf>, FolderError> {
    let unreadable = |source| FolderError::Read {
        path: folder.to_owned(),
        source,
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path
            .extension()
            .is_some_and(|it| it.eq_ignore_ascii_case("json"))
        {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(FolderError::Empty {
            path: folder.to_owned(),
            accepted: Listing::ALL.map(Listing::file).join(", "),
        });
    }
    paths.sort();
    Ok(paths)
}

/// The lists of a folder as they are, for who keeps every field.
pub fn lists(folder: &Path) -> Result<Vec<(Listing, Vec<Value>)>, FolderError> {
    let files = paths(folder)?;
    let read = files.iter().map(|path| {
        let bytes = contents(path)?;
        let listing = recognise(path, &bytes)?;
        let file = File {
            path,
            bytes: &bytes,
        };
        Ok((listing, file.list(listing)?))
    });
    read.collect()
}

fn contents(path: &Path) -> Result<Vec<u8>, FolderError> {
    fs::read(path).map_err(|source| FolderError::Read {
        path: path.to_owned(),
        source,
    })
}

fn read_file(path: &Path, inventory: &mut Inventory) -> Result<(), FolderError> {
    let bytes = contents(path)?;
    let found = recognise(path, &bytes)?;
    take(path, &bytes, found, inventory)
}

/// Takes in one list.
fn take(
    path: &Path,
    bytes: &[u8],
    found: Listing,
    inventory: &mut Inventory,
) -> Result<(), FolderError> {
    let file = File { path, bytes };
    match found {
        Listing::LoadBalancers => file.add(&mut inventory.load_balancers, found, |it| &it.id),
        Listing::Nics => file.add(&mut inventory.nics, found, |it| &it.id),
        Listing::InstanceNics => file.add(&mut inventory.instance_nics, found, |it| &it.id),
        Listing::Networks => file.add(&mut inventory.networks, found, |it| &it.id),
        Listing::NatGateways => file.add(&mut inventory.nat_gateways, found, |it| &it.id),
        Listing::PublicAddresses => file.add(&mut inventory.public_addresses, found, |it| &it.id),
        Listing::RouteTables => file.add(&mut inventory.route_tables, found, |it| &it.id),
        Listing::Vms => file.add(&mut inventory.vms, found, |it| &it.id),
        Listing::ScaleSets => file.add(&mut inventory.scale_sets, found, |it| &it.id),
        Listing::Nodes | Listing::Services => {
            let objects: Vec<Object> = file.list(found)?;
            // `kubectl get nodes,services` prints both in one list.
            let (nodes, others): (Vec<_>, Vec<_>) = objects
                .into_iter()
                .partition(|object| object.kind == "Node");
            let services: Vec<_> = others
                .into_iter()
                .filter(|object| object.kind == "Service")
                .collect();
            if !nodes.is_empty() || found == Listing::Nodes {
                inventory.nodes.get_or_insert_default().extend(nodes);
            }
            if !services.is_empty() || found == Listing::Services {
                inventory.services.get_or_insert_default().extend(services);
            }
            Ok(())
        }
    }
}

/// A file whose kind is known.
struct File<'a> {
    path: &'a Path,
    bytes: &'a [u8],
}

impl File<'_> {
    fn list<T: DeserializeOwned>(&self, listing: Listing) -> Result<Vec<T>, FolderError> {
        parse(self.bytes).map_err(|source| FolderError::Content {
            path: self.path.to_owned(),
            accepted: listing.command(),
            source,
        })
    }

    /// Adds the resources of this file that the list doesn't have yet.
    fn add<T: DeserializeOwned>(
        &self,
        list: &mut Option<Vec<T>>,
        listing: Listing,
        id: impl Fn(&T) -> &Id,
    ) -> Result<(), FolderError> {
        let found = self.list(listing)?;
        let Some(list) = list else {
            *list = Some(found);
            return Ok(());
        };
        let known: HashSet<_> = list.iter().map(|one| id(one).clone()).collect();
        list.extend(found.into_iter().filter(|one| !known.contains(id(one))));
        Ok(())
    }
}

/// A list as `az` prints it, or in the envelope of ARM (`value`) or of Kubernetes (`items`).
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<T>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Envelope<T> {
        #[serde(alias = "value")]
        items: Vec<T>,
    }
    if bytes.trim_ascii_start().starts_with(b"{") {
        serde_json::from_slice::<Envelope<T>>(bytes).map(|envelope| envelope.items)
    } else {
        serde_json::from_slice(bytes)
    }
}

/// What tells the kind of a list.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Glance {
    id: String,
    kind: String,
}

fn recognise(path: &Path, bytes: &[u8]) -> Result<Listing, FolderError> {
    let name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    let list: Vec<Glance> = parse(bytes).map_err(|source| FolderError::Content {
        path: path.to_owned(),
        accepted: named(&name).map_or("az … list -o json", Listing::command),
        source,
    })?;
    let found = match list.first() {
        None => named(&name),
        Some(first) => kind_of(first),
    };
    found.ok_or_else(|| FolderError::Unknown {
        path: path.to_owned(),
        found: list.first().map_or_else(
            || "an empty list, which says nothing about its kind".to_owned(),
            |first| {
                format!(
                    "a list of {:?}",
                    if first.id.is_empty() {
                        &first.kind
                    } else {
                        &first.id
                    }
                )
            },
        ),
        accepted: Listing::ALL.map(Listing::command).join("; "),
    })
}

/// The kind of list that a file of this name keeps: its documented name, alone or with something
/// behind it, as in `nic-westeurope`.
fn named(stem: &str) -> Option<Listing> {
    let fits = |listing: &Listing| {
        let own = listing.file().trim_end_matches(".json");
        stem == own
            || stem
                .strip_prefix(own)
                .is_some_and(|rest| rest.starts_with(['-', '.', '_']))
    };
    // The longest name wins: `vmss-nic` is no `vmss`.
    Listing::ALL
        .into_iter()
        .filter(fits)
        .max_by_key(|it| it.file().len())
}

fn kind_of(first: &Glance) -> Option<Listing> {
    match first.kind.as_str() {
        "Node" => return Some(Listing::Nodes),
        "Service" => return Some(Listing::Services),
        _ => {}
    }
    let id = Id::from(first.id.as_str());
    [
        (
            "networkInterfaces",
            if id.has("virtualMachineScaleSets") {
                Listing::InstanceNics
            } else {
                Listing::Nics
            },
        ),
        ("loadBalancers", Listing::LoadBalancers),
        ("virtualNetworks", Listing::Networks),
        ("natGateways", Listing::NatGateways),
        ("publicIPAddresses", Listing::PublicAddresses),
        ("routeTables", Listing::RouteTables),
        ("virtualMachineScaleSets", Listing::ScaleSets),
        ("virtualMachines", Listing::Vms),
    ]
    .into_iter()
    .find_map(|(segment, listing)| id.has(segment).then_some(listing))
}

#[cfg(test)]
mod tests;
