//! Instances of scale sets: made from the model, up to the capacity, with their NICs.

use serde_json::{Value, json};

use super::json::{set, set_property};
use super::kind::Kind;
use super::store::{Document, Key, Store, elements, id_of, key};

/// What a write leads to besides itself.
#[derive(Debug, Default)]
pub(super) struct Change {
    /// Documents to be stored.
    pub(super) put: Vec<(String, &'static Kind, Value)>,
    /// Ids of documents to be removed.
    pub(super) remove: Vec<String>,
}

const SET: &[&str] = &["virtualMachineScaleSets"];
const INSTANCE: &[&str] = &["virtualMachineScaleSets", "virtualMachines"];
const INSTANCE_NIC: &[&str] = &[
    "virtualMachineScaleSets",
    "virtualMachines",
    "networkInterfaces",
];

/// Whether this is a Flexible scale set; one that doesn't say is Uniform.
pub(super) fn is_flexible(set: &Value) -> bool {
    let mode = set.pointer("/properties/orchestrationMode");
    mode.and_then(Value::as_str)
        .is_some_and(|it| it.eq_ignore_ascii_case("flexible"))
}

/// The NICs that a model gives each instance.
fn model(set: &Value) -> Option<&Value> {
    set.pointer("/properties/virtualMachineProfile/networkProfile/networkInterfaceConfigurations")
}

/// The instances of a scale set, of either kind.
pub(super) fn instances<'a>(store: &'a Store, id: &str, set: &Value) -> Vec<&'a Document> {
    let own = key(id);
    if is_flexible(set) {
        let belongs = |vm: &&Document| {
            let of = vm.body.pointer("/properties/virtualMachineScaleSet/id");
            of.and_then(Value::as_str).is_some_and(|it| key(it) == own)
        };
        return store
            .all()
            .filter(|document| document.kind.types == ["virtualMachines"])
            .filter(belongs)
            .collect();
    }
    let Some(kind) = Kind::of(INSTANCE) else {
        return Vec::new();
    };
    let prefix = format!("{own}/");
    let mut found: Vec<_> = store.listed(kind, &prefix).map(|(_, one)| one).collect();
    found.sort_by_key(|one| number(&one.id));
    found
}

fn number(id: &str) -> u64 {
    let last = id.rsplit('/').next().unwrap_or_default();
    last.parse().unwrap_or_default()
}

/// What a scale set's new body means for its instances.
pub(super) fn follow(store: &mut Store, id: &str, set: &Value) -> Change {
    let mut change = Change::default();
    let present: Vec<Document> = instances(store, id, set).into_iter().cloned().collect();
    let capacity = set.pointer("/sku/capacity").and_then(Value::as_u64);
    let wanted = capacity.map_or(present.len(), |it| usize::try_from(it).unwrap_or_default());
    for surplus in present.iter().skip(wanted) {
        change.remove.extend(whole(store, surplus));
    }
    if is_automatic(set) {
        for one in present.iter().take(wanted) {
            upgrade(store, set, one, &mut change);
        }
    }
    let first = present.last().map_or(0, |last| number(&last.id) + 1);
    let missing = wanted.saturating_sub(present.len());
    for n in (first..).take(missing) {
        if is_flexible(set) {
            add_flexible(store, id, set, &mut change);
        } else {
            add_uniform(id, set, n, &mut change);
        }
    }
    change
}

fn is_automatic(set: &Value) -> bool {
    let mode = set.pointer("/properties/upgradePolicy/mode");
    mode.and_then(Value::as_str)
        .is_some_and(|it| !it.eq_ignore_ascii_case("manual"))
}

/// An instance with all that goes with it.
pub(super) fn whole(store: &Store, instance: &Document) -> Vec<String> {
    let nics = instance
        .body
        .pointer("/properties/networkProfile/networkInterfaces");
    let nics = nics.and_then(Value::as_array).into_iter().flatten();
    let mut ids: Vec<String> = nics.map(|nic| id_of(nic).to_owned()).collect();
    ids.retain(|id| store.find(id).is_some());
    ids.push(instance.id.clone());
    ids
}

fn add_uniform(id: &str, set: &Value, n: u64, change: &mut Change) {
    let (Some(kind), Some(nic_kind)) = (Kind::of(INSTANCE), Kind::of(INSTANCE_NIC)) else {
        return;
    };
    let instance = format!("{id}/virtualMachines/{n}");
    let configurations = model(set).cloned().unwrap_or_else(|| json!([]));
    let body = uniform(&instance, set, n, &configurations);
    for (nic, nic_body) in nics_of(&instance, &body, None) {
        change.put.push((nic, nic_kind, nic_body));
    }
    change.put.push((instance, kind, body));
}

/// An instance's body around its NICs' configurations.
pub(super) fn uniform(instance: &str, set: &Value, n: u64, configurations: &Value) -> Value {
    let name = set.get("name").and_then(Value::as_str).unwrap_or_default();
    let nics: Vec<_> = configurations
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| {
            let name = one.get("name").and_then(Value::as_str).unwrap_or("nic");
            let primary = one.pointer("/properties/primary").cloned();
            json!({"id": format!("{instance}/networkInterfaces/{name}"),
                "properties": {"primary": primary.unwrap_or(Value::Bool(true))}})
        })
        .collect();
    json!({
        "id": instance, "name": format!("{name}_{n}"), "instanceId": n.to_string(),
        "type": "Microsoft.Compute/virtualMachineScaleSets/virtualMachines",
        "location": set.get("location"), "sku": set.get("sku"),
        "properties": {
            "latestModelApplied": true,
            "networkProfile": {"networkInterfaces": nics},
            "networkProfileConfiguration": {"networkInterfaceConfigurations": configurations},
        },
    })
}

/// The NICs that an instance's body asks for, each with the addresses that it had.
pub(super) fn nics_of(instance: &str, body: &Value, store: Option<&Store>) -> Vec<(String, Value)> {
    let configurations =
        body.pointer("/properties/networkProfileConfiguration/networkInterfaceConfigurations");
    let configurations = configurations
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    configurations
        .map(|one| {
            let name = one.get("name").and_then(Value::as_str).unwrap_or("nic");
            let id = format!("{instance}/networkInterfaces/{name}");
            let old = store.and_then(|store| store.find(&id));
            let nic = nic(&id, one, body.get("location"), old);
            (id, nic)
        })
        .collect()
}

fn nic(id: &str, configuration: &Value, location: Option<&Value>, old: Option<&Document>) -> Value {
    let mut properties = configuration.get("properties").cloned().unwrap_or_default();
    let mut configurations: Vec<Value> = elements(configuration, "ipConfigurations").to_vec();
    for one in &mut configurations {
        let name = one.get("name").and_then(Value::as_str).unwrap_or_default();
        let part_id = format!("{id}/ipConfigurations/{name}");
        let known =
            old.and_then(|old| super::shape::find_part(&old.body, "ipConfigurations", &part_id));
        if let Some(address) = known.and_then(|it| it.pointer("/properties/privateIPAddress"))
            && let Some(own) = one.get_mut("properties").filter(|it| it.is_object())
        {
            set(own, "privateIPAddress", address.clone());
        }
    }
    if !properties.is_object() {
        properties = json!({});
    }
    set(&mut properties, "ipConfigurations", configurations);
    if properties.get("primary").is_none() {
        set(&mut properties, "primary", true);
    }
    json!({"location": location, "properties": properties})
}

fn add_flexible(store: &mut Store, id: &str, set: &Value, change: &mut Change) {
    let (Some(vm_kind), Some(nic_kind)) = (
        Kind::of(&["virtualMachines"]),
        Kind::of(&["networkInterfaces"]),
    ) else {
        return;
    };
    let suffix: String = store.guid().chars().take(8).collect();
    let name = id.rsplit('/').next().unwrap_or_default();
    let compute = id
        .split("/virtualMachineScaleSets/")
        .next()
        .unwrap_or_default();
    let network = compute.replace("Microsoft.Compute", "Microsoft.Network");
    let configurations = model(set).and_then(Value::as_array).into_iter().flatten();
    let mut nics = Vec::new();
    for one in configurations {
        let own = one.get("name").and_then(Value::as_str).unwrap_or("nic");
        let nic_id = format!("{network}/networkInterfaces/{own}-{suffix}");
        let primary = one.pointer("/properties/primary").cloned();
        nics.push(
            json!({"id": nic_id, "properties": {"primary": primary.unwrap_or(Value::Bool(true))}}),
        );
        let body = nic(&nic_id, one, set.get("location"), None);
        change.put.push((nic_id, nic_kind, body));
    }
    let vm = format!("{compute}/virtualMachines/{name}_{suffix}");
    let body = json!({"location": set.get("location"), "properties": {
        "virtualMachineScaleSet": {"id": id}, "networkProfile": {"networkInterfaces": nics}}});
    change.put.push((vm, vm_kind, body));
}

/// Gives an instance the model of today.
pub(super) fn upgrade(store: &Store, set: &Value, instance: &Document, change: &mut Change) {
    let (Some(nic_kind), Some(model)) = (Kind::of(INSTANCE_NIC), model(set)) else {
        return;
    };
    if instance.kind.types != INSTANCE {
        return;
    }
    let mut body = instance.body.clone();
    let configuration = json!({"networkInterfaceConfigurations": model});
    set_property(&mut body, "networkProfileConfiguration", configuration);
    set_property(&mut body, "latestModelApplied", true);
    for (id, nic) in nics_of(&instance.id, &body, Some(store)) {
        change.put.push((id, nic_kind, nic));
    }
    change.put.push((instance.id.clone(), instance.kind, body));
}

/// Whether an instance is as the model of today says.
pub(super) fn is_latest(store: &Store, instance: &Document) -> bool {
    let set = instance
        .id
        .split("/virtualMachines/")
        .next()
        .unwrap_or_default();
    let Some(set) = store.find(set).filter(|it| it.kind.types == SET) else {
        return true;
    };
    let own = instance
        .body
        .pointer("/properties/networkProfileConfiguration/networkInterfaceConfigurations");
    own.map(ToString::to_string) == model(&set.body).map(ToString::to_string)
}

/// The keys of what is stored below a scale set.
pub(super) fn below(store: &Store, id: &str) -> Vec<Key> {
    let prefix = format!("{}/", key(id));
    let below = store.all().map(|document| key(&document.id));
    below.filter(|it| it.starts_with(&prefix)).collect()
}
