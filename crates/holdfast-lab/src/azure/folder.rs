//! The folder of `az … -o json` files that the egress commands read: into documents and back.

use std::path::{Path, PathBuf};

use holdfast_cloud::azure::folder::{self, FolderError};
use holdfast_cloud::azure::{Id, Listing};
use serde_json::{Map, Value, json};

use super::kind::{Found, Kind};
use super::link::Links;
use super::scale_set;
use super::shape;
use super::store::{Store, id_of, key, set_state};

/// Why a folder can't be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It can't be read as such a folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A resource in it makes no sense.
    #[error("{listing}: {id:?}: {problem}")]
    Resource {
        /// In which list.
        listing: Listing,
        /// Which.
        id: String,
        /// What is wrong with it.
        problem: String,
    },
    /// It can't be written.
    #[error("write {}", path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Fields that stand beside `properties`; `az` has them all on one level.
const OUTER: [&str; 13] = [
    "id",
    "name",
    "type",
    "location",
    "tags",
    "etag",
    "sku",
    "zones",
    "identity",
    "plan",
    "extendedLocation",
    "instanceId",
    "properties",
];

/// Lists whose elements have `properties` too.
const NESTED: [&str; 17] = [
    "frontendIPConfigurations",
    "backendAddressPools",
    "loadBalancingRules",
    "outboundRules",
    "inboundNatRules",
    "inboundNatPools",
    "probes",
    "subnets",
    "virtualNetworkPeerings",
    "routes",
    "securityRules",
    "defaultSecurityRules",
    "ipConfigurations",
    "loadBalancerBackendAddresses",
    "networkInterfaceConfigurations",
    "networkInterfaces",
    "publicIPAddressConfiguration",
];

/// What `az` spells in more than one way, as ARM does.
const SPELLED: [&str; 12] = [
    "backendIPConfigurations",
    "disableBgpRoutePropagation",
    "frontendIPConfiguration",
    "loadBalancerBackendAddressPools",
    "privateIPAddress",
    "privateIPAddressVersion",
    "privateIPAllocationMethod",
    "publicIPAddress",
    "publicIPAddressVersion",
    "publicIPAllocationMethod",
    "publicIPPrefix",
    "virtualMachineScaleSet",
];

/// Lists of other programs: kept as they are.
pub(super) type Others = Vec<(Listing, Vec<Value>)>;

/// Fills a store from a folder.
pub(super) fn load(store: &mut Store, from: &Path) -> Result<Others, LoadError> {
    let mut others = Others::new();
    let mut attached = Vec::new();
    for (listing, resources) in folder::lists(from)? {
        if matches!(listing, Listing::Nodes | Listing::Services) {
            others.push((listing, resources));
            continue;
        }
        for resource in resources {
            attached.extend(add(store, listing, resource)?);
        }
    }
    // VMs may be listed after their NICs.
    for (vm, nic) in attached {
        attach(store, &vm, &nic);
    }
    complete(store);
    Ok(others)
}

/// Adds a resource; of a NIC, the VM that it says it belongs to.
fn add(
    store: &mut Store,
    listing: Listing,
    resource: Value,
) -> Result<Option<(String, String)>, LoadError> {
    let id = id_of(&resource).to_owned();
    let refused = |problem: &str| LoadError::Resource {
        listing,
        id: id.clone(),
        problem: problem.to_owned(),
    };
    let place = shape::place_of(&id).filter(super::place::Place::is_named);
    let place = place.ok_or_else(|| {
        refused("found no id of a resource, accepted: /subscriptions/…/providers/…")
    })?;
    let Some(Found { kind, part: None }) = Found::by_types(&place.types) else {
        return Err(refused("found a type that is not served"));
    };
    if let Some(group) = place.group() {
        let group_id = format!(
            "/subscriptions/{}/resourceGroups/{group}",
            place.subscription()
        );
        if store.group(&group_id).is_none() {
            let location = resource.get("location").cloned();
            store.put_group(&group_id, group_body(&group_id, location));
        }
    }
    let vm = resource
        .pointer("/properties/virtualMachine/id")
        .or_else(|| resource.pointer("/virtualMachine/id"))
        .and_then(Value::as_str)
        .map(str::to_owned);
    let mut body = shape::stored(kind, &id, nested(resource)).map_err(|it| refused(&it.message))?;
    set_state(&mut body, "Succeeded");
    store.put(&id, kind, body, false);
    Ok(vm.map(|vm| (vm, id.clone())))
}

/// A resource group's own body.
pub(super) fn group_body(id: &str, location: Option<Value>) -> Value {
    json!({"id": id, "name": id.rsplit('/').next(), "type": "Microsoft.Resources/resourceGroups",
        "location": location.unwrap_or_else(|| "westeurope".into()),
        "properties": {"provisioningState": "Succeeded"}})
}

/// Remembers that a NIC is a VM's, though the VM's own file may not say so.
fn attach(store: &mut Store, vm: &str, nic: &str) {
    let Some(kind) = Kind::of(&["virtualMachines"]) else {
        return;
    };
    if Id::from(vm).has("virtualMachineScaleSets") {
        return;
    }
    let mut body = store.find(vm).map_or_else(
        || json!({"id": vm, "name": vm.rsplit('/').next(), "type": kind.type_name(), "properties": {}}),
        |found| found.body.clone(),
    );
    let Some(properties) = body.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    let profile = properties
        .entry("networkProfile")
        .or_insert_with(|| json!({}));
    let nics = profile
        .as_object_mut()
        .map(|it| it.entry("networkInterfaces").or_insert_with(|| json!([])));
    if let Some(nics) = nics.and_then(Value::as_array_mut)
        && !nics.iter().any(|it| key(id_of(it)) == key(nic))
    {
        nics.push(json!({"id": nic, "properties": {}}));
        store.put(vm, kind, body, false);
    }
}

/// Instances of Uniform scale sets are in no list: their NICs tell of them.
fn complete(store: &mut Store) {
    let (Some(instance_nics), Some(instances)) = (
        Kind::of(&[
            "virtualMachineScaleSets",
            "virtualMachines",
            "networkInterfaces",
        ]),
        Kind::of(&["virtualMachineScaleSets", "virtualMachines"]),
    ) else {
        return;
    };
    let found: Vec<(String, Value)> = store
        .all()
        .filter(|document| std::ptr::eq(document.kind, instance_nics))
        .map(|document| (document.id.clone(), document.body.clone()))
        .collect();
    for (id, nic) in found {
        let (Some(instance), Some(set)) = (
            Id::from(id.as_str()).before("networkInterfaces"),
            Id::from(id.as_str()).before("virtualMachines"),
        ) else {
            continue;
        };
        let known = store.find(instance.as_str());
        let mut configurations = known
            .and_then(|it| {
                it.body.pointer(
                    "/properties/networkProfileConfiguration/networkInterfaceConfigurations",
                )
            })
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        configurations.push(configuration(&nic));
        let set_body = store
            .find(set.as_str())
            .map_or_else(|| json!({"name": set.name()}), |it| it.body.clone());
        let number = instance.name().parse().unwrap_or_default();
        let body = scale_set::uniform(instance.as_str(), &set_body, number, &configurations.into());
        store.put(instance.as_str(), instances, body, false);
    }
}

/// A NIC as its instance's body has it.
fn configuration(nic: &Value) -> Value {
    let mut properties = nic.get("properties").cloned().unwrap_or_default();
    if let Some(list) = properties
        .get_mut("ipConfigurations")
        .and_then(Value::as_array_mut)
    {
        for one in list {
            if let Some(own) = one.as_object_mut() {
                own.retain(|field, _| field == "name" || field == "properties");
            }
        }
    }
    if let Some(properties) = properties.as_object_mut() {
        properties.retain(|field, _| {
            matches!(
                field.as_str(),
                "primary" | "ipConfigurations" | "enableIPForwarding" | "networkSecurityGroup"
            )
        });
    }
    json!({"name": nic.get("name"), "properties": properties})
}

/// The lists of a store, as files of such a folder.
pub(super) fn dumped(store: &Store, others: &Others) -> Vec<(&'static str, Value)> {
    let links = Links::now(store);
    let lists: [(Listing, &[&str]); 9] = [
        (Listing::LoadBalancers, &["loadBalancers"]),
        (Listing::Nics, &["networkInterfaces"]),
        (
            Listing::InstanceNics,
            &[
                "virtualMachineScaleSets",
                "virtualMachines",
                "networkInterfaces",
            ],
        ),
        (Listing::Networks, &["virtualNetworks"]),
        (Listing::NatGateways, &["natGateways"]),
        (Listing::PublicAddresses, &["publicIPAddresses"]),
        (Listing::RouteTables, &["routeTables"]),
        (Listing::Vms, &["virtualMachines"]),
        (Listing::ScaleSets, &["virtualMachineScaleSets"]),
    ];
    let mut files: Vec<(&'static str, Value)> = Vec::new();
    for (listing, types) in lists {
        let kind = Kind::of(types);
        let of_kind = store
            .all()
            .filter(|document| kind.is_some_and(|kind| std::ptr::eq(document.kind, kind)));
        let list: Vec<Value> = of_kind
            .map(|document| flat(links.rendered(document, &document.body)))
            .collect();
        files.push((listing.file(), list.into()));
    }
    for (listing, objects) in others {
        files.push((listing.file(), objects.clone().into()));
    }
    files
}

/// Writes them.
pub(super) fn write(to: &Path, files: &[(&'static str, Value)]) -> Result<(), LoadError> {
    let failed = |path: &Path, source| LoadError::Write {
        path: path.to_owned(),
        source,
    };
    std::fs::create_dir_all(to).map_err(|source| failed(to, source))?;
    for (name, list) in files {
        let path = to.join(name);
        std::fs::write(&path, format!("{list:#}\n")).map_err(|source| failed(&path, source))?;
    }
    Ok(())
}

/// From `az`'s spelling to ARM's; ARM's own stays as it is.
fn nested(resource: Value) -> Value {
    let Value::Object(mut object) = resource else {
        return resource;
    };
    object.remove("resourceGroup");
    let mut outer = Map::new();
    let mut properties = match object.remove("properties") {
        Some(Value::Object(properties)) => inner(properties),
        _ => Map::new(),
    };
    for (name, value) in object {
        if OUTER.iter().any(|it| it.eq_ignore_ascii_case(&name)) {
            outer.insert(name, value);
        } else {
            let name = spelled(&name);
            let value = inside(&name, value);
            properties.insert(name, value);
        }
    }
    outer.insert("properties".to_owned(), Value::Object(properties));
    Value::Object(outer)
}

fn inner(properties: Map<String, Value>) -> Map<String, Value> {
    let spelt = properties.into_iter().map(|(name, value)| {
        let name = spelled(&name);
        let value = inside(&name, value);
        (name, value)
    });
    spelt.collect()
}

fn spelled(name: &str) -> String {
    let mut known = NESTED.iter().chain(&SPELLED);
    known
        .find(|it| it.eq_ignore_ascii_case(name))
        .map_or_else(|| name.to_owned(), |it| (*it).to_owned())
}

fn inside(name: &str, value: Value) -> Value {
    let of_part = |value: Value| {
        let is_part = value.as_object().is_some_and(|it| !is_reference(it));
        if is_part && NESTED.contains(&name) {
            nested(value)
        } else {
            deeper(value)
        }
    };
    if let Value::Array(list) = value {
        return list.into_iter().map(of_part).collect();
    }
    of_part(value)
}

/// What has nothing but an id refers to a resource.
fn is_reference(object: &Map<String, Value>) -> bool {
    object.contains_key("id")
        && object
            .keys()
            .all(|name| name == "id" || name == "resourceGroup")
}

fn deeper(value: Value) -> Value {
    let Value::Object(object) = value else {
        return value;
    };
    let mut object = inner(object);
    if object.contains_key("id") {
        object.remove("resourceGroup");
    }
    Value::Object(object)
}

/// From ARM's spelling to `az`'s.
fn flat(value: Value) -> Value {
    if let Value::Array(list) = value {
        return list.into_iter().map(flat).collect();
    }
    let Value::Object(mut object) = value else {
        return value;
    };
    let inner = object.remove("properties");
    let mut flattened: Map<String, Value> = object
        .into_iter()
        .map(|(name, value)| (name, flat(value)))
        .collect();
    if let Some(Value::Object(properties)) = inner {
        for (name, value) in properties {
            flattened.entry(name).or_insert_with(|| flat(value));
        }
    }
    let id = flattened.get("id").and_then(Value::as_str);
    let group = id.and_then(|id| Some(Id::from(id).after("resourceGroups")?.to_owned()));
    if let Some(group) = group {
        flattened.insert("resourceGroup".to_owned(), group.into());
    }
    Value::Object(flattened)
}
