//! A Terraform plan (`terraform show -json`) as changes of an inventory.
//!
//! Read are the resources of the azurerm provider that egress depends on, by the names of its own
//! documentation. A change of a resource that might matter and is not read is named, not skipped.

use serde::Deserialize;
use serde_json::Value;

use super::edit::Edit;
use super::id::Id;
use super::inventory::Inventory;

/// A plan, as far as it is read.
#[derive(Debug, Deserialize)]
pub struct Plan {
    resource_changes: Vec<ResourceChange>,
}

#[derive(Debug, Deserialize)]
struct ResourceChange {
    address: String,
    #[serde(rename = "type")]
    kind: String,
    change: Change,
}

#[derive(Debug, Deserialize)]
struct Change {
    actions: Vec<String>,
    #[serde(default)]
    before: Value,
    #[serde(default)]
    after: Value,
}

/// What a plan does.
#[derive(Debug, Default)]
pub struct Planned {
    /// In the plan's order; what is deleted comes first, as Terraform does it.
    pub edits: Vec<Edit>,
    /// The addresses of changes that may matter and could not be read.
    pub unread: Vec<String>,
}

/// Types whose changes may move egress; a change of these that isn't read is named.
const RELEVANT: [&str; 10] = [
    "azurerm_lb",
    "azurerm_nat_gateway",
    "azurerm_subnet",
    "azurerm_route",
    "azurerm_network_interface",
    "azurerm_virtual_network",
    "azurerm_virtual_hub",
    "azurerm_kubernetes_cluster",
    "azurerm_linux_virtual_machine_scale_set",
    "azurerm_orchestrated_virtual_machine_scale_set",
];

impl Plan {
    /// The changes of an inventory that this plan makes.
    pub fn edits(&self, inventory: &Inventory) -> Planned {
        let mut planned = Planned::default();
        let mut created = Vec::new();
        for one in &self.resource_changes {
            let does = |action: &str| one.change.actions.iter().any(|it| it == action);
            if !(does("create") || does("update") || does("delete")) {
                continue;
            }
            let Some(edits) = one.edits(inventory) else {
                if RELEVANT.iter().any(|prefix| one.kind.starts_with(prefix)) {
                    planned.unread.push(one.address.clone());
                }
                continue;
            };
            if does("delete") {
                planned.edits.extend(edits.gone);
            }
            created.extend(edits.come);
        }
        planned.edits.extend(created);
        planned
    }
}

/// What goes and what comes.
#[derive(Default)]
struct Edits {
    gone: Vec<Edit>,
    come: Vec<Edit>,
}

impl ResourceChange {
    fn edits(&self, inventory: &Inventory) -> Option<Edits> {
        let (before, after) = (&self.change.before, &self.change.after);
        let mut edits = Edits::default();
        match self.kind.as_str() {
            "azurerm_network_interface_backend_address_pool_association" => {
                edits.gone.extend(
                    pair(before, "network_interface_id", "backend_address_pool_id")
                        .map(|(nic, pool)| Edit::Leave { nic, pool }),
                );
                edits.come.extend(
                    pair(after, "network_interface_id", "backend_address_pool_id")
                        .map(|(nic, pool)| Edit::Join { nic, pool }),
                );
                return (after.is_null() || !edits.come.is_empty()).then_some(edits);
            }
            "azurerm_lb" if after.is_null() => {
                edits.gone.push(Edit::DeleteBalancer(id(before, "id")?));
            }
            "azurerm_lb_backend_address_pool" if after.is_null() => {
                edits.gone.push(Edit::DeletePool(id(before, "id")?));
            }
            "azurerm_lb_outbound_rule" | "azurerm_lb_rule" if after.is_null() => {
                edits.gone.push(Edit::DropRule(id(before, "id")?));
            }
            "azurerm_lb_rule" if is_only(before, after, "disable_outbound_snat") => {
                if after.get("disable_outbound_snat")? != &Value::Bool(true) {
                    return None;
                }
                edits.come.push(Edit::DisableSnatOf(id(before, "id")?));
            }
            "azurerm_nat_gateway" if after.is_null() => {
                edits.gone.push(Edit::DeleteNatGateway(id(before, "id")?));
            }
            "azurerm_nat_gateway_public_ip_association" if after.is_null() => {
                let (gateway, address) = pair(before, "nat_gateway_id", "public_ip_address_id")?;
                edits.gone.push(Edit::DetachNatAddress {
                    gateway,
                    address: Some(address),
                });
            }
            "azurerm_nat_gateway_public_ip_prefix_association" if after.is_null() => {
                let (gateway, address) = pair(before, "nat_gateway_id", "public_ip_prefix_id")?;
                edits.gone.push(Edit::DetachNatAddress {
                    gateway,
                    address: Some(address),
                });
            }
            "azurerm_subnet_nat_gateway_association" => {
                edits
                    .gone
                    .extend(id(before, "subnet_id").map(|subnet| Edit::NatGateway {
                        subnet,
                        gateway: None,
                    }));
                if !after.is_null() {
                    let (subnet, gateway) = pair(after, "subnet_id", "nat_gateway_id")?;
                    edits.come.push(Edit::NatGateway {
                        subnet,
                        gateway: Some(gateway),
                    });
                }
            }
            "azurerm_subnet_route_table_association" => {
                edits
                    .gone
                    .extend(id(before, "subnet_id").map(|subnet| Edit::RouteTable {
                        subnet,
                        table: None,
                    }));
                if !after.is_null() {
                    let (subnet, table) = pair(after, "subnet_id", "route_table_id")?;
                    edits.come.push(Edit::RouteTable {
                        subnet,
                        table: Some(table),
                    });
                }
            }
            "azurerm_subnet" if is_only(before, after, "default_outbound_access_enabled") => {
                if after.get("default_outbound_access_enabled")? != &Value::Bool(false) {
                    return None;
                }
                edits.come.push(Edit::MakePrivate(id(before, "id")?));
            }
            "azurerm_route" => {
                edits.gone.extend(route(before, inventory, false));
                if !after.is_null() {
                    edits.come.push(route(after, inventory, true)?);
                }
            }
            "azurerm_network_interface" if is_only(before, after, "ip_configuration") => {
                let has_address = |value: &Value| value.to_string().contains("/publicIPAddresses/");
                if has_address(after) || !has_address(before) {
                    return None;
                }
                edits.come.push(Edit::DetachAddress(id(before, "id")?));
            }
            _ => return None,
        }
        Some(edits)
    }
}

fn id(object: &Value, field: &str) -> Option<Id> {
    let text = object.get(field)?.as_str()?;
    Some(Id::from(text))
}

fn pair(object: &Value, one: &str, other: &str) -> Option<(Id, Id)> {
    Some((id(object, one)?, id(object, other)?))
}

/// Whether an update changes this field and no other.
fn is_only(before: &Value, after: &Value, field: &str) -> bool {
    let (Some(before), Some(after)) = (before.as_object(), after.as_object()) else {
        return false;
    };
    let same = |name: &String| name == field || before.get(name) == after.get(name);
    before.keys().chain(after.keys()).all(same) && before.get(field) != after.get(field)
}

/// A route names its table by group and name only.
fn route(object: &Value, inventory: &Inventory, comes: bool) -> Option<Edit> {
    let text = |field: &str| object.get(field).and_then(Value::as_str);
    let group = text("resource_group_name")?;
    let name = text("route_table_name")?;
    let table = inventory.route_tables.iter().flatten().find(|table| {
        let in_group = table.id.after("resourceGroups");
        table.id.is_called(name) && in_group.is_some_and(|it| it.eq_ignore_ascii_case(group))
    })?;
    Some(Edit::Route {
        table: table.id.clone(),
        prefix: text("address_prefix")?.to_owned(),
        next_hop: comes.then(|| text("next_hop_type").unwrap_or_default().to_owned()),
    })
}

#[cfg(test)]
mod tests;
