use serde_json::json;

use super::*;
use crate::azure::sample::{id, inventory};

fn planned(changes: &Value) -> Planned {
    let plan: Plan = serde_json::from_value(json!({
        "format_version": "1.2", "resource_changes": changes,
    }))
    .unwrap();
    plan.edits(&inventory())
}

fn change(
    kind: &str,
    actions: &[&str],
    before: impl Into<Value>,
    after: impl Into<Value>,
) -> Value {
    let (before, after): (Value, Value) = (before.into(), after.into());
    json!({"address": format!("{kind}.it"), "mode": "managed", "type": kind, "name": "it",
        "change": {"actions": actions, "before": before, "after": after, "after_unknown": {}}})
}

const GONE: Value = Value::Null;

#[test]
fn each_resource_that_is_read_becomes_its_edit() {
    let pool = id("loadBalancers/kubernetes/backendAddressPools/kubernetes");
    let nic = id("networkInterfaces/snat");
    let association = json!({"network_interface_id": nic, "backend_address_pool_id": pool});
    let subnet = id("virtualNetworks/vnet/subnets/nodes");
    let open = json!({"id": subnet, "default_outbound_access_enabled": true, "name": "nodes"});
    let mut private = open.clone();
    private["default_outbound_access_enabled"] = false.into();
    let rule = json!({"id": "/rule", "disable_outbound_snat": false, "protocol": "Tcp"});
    let mut quiet = rule.clone();
    quiet["disable_outbound_snat"] = true.into();
    let gateway = json!({"subnet_id": subnet, "nat_gateway_id": "/gateway"});
    let route = json!({"resource_group_name": "G", "route_table_name": "table",
        "address_prefix": "0.0.0.0/0", "next_hop_type": "None"});
    let on = "azurerm_network_interface_backend_address_pool_association";
    let cases = [
        (
            change(on, &["delete"], association.clone(), GONE),
            Edit::Leave {
                nic: nic.clone(),
                pool: pool.clone(),
            },
        ),
        (
            change(on, &["create"], GONE, association),
            Edit::Join { nic, pool },
        ),
        (
            change("azurerm_subnet", &["update"], open, private),
            Edit::MakePrivate(subnet.clone()),
        ),
        (
            change("azurerm_lb_rule", &["update"], rule.clone(), quiet),
            Edit::DisableSnatOf(Id::from("/rule")),
        ),
        (
            change("azurerm_lb_rule", &["delete"], rule, GONE),
            Edit::DropRule(Id::from("/rule")),
        ),
        (
            change(
                "azurerm_subnet_nat_gateway_association",
                &["delete"],
                gateway,
                GONE,
            ),
            Edit::NatGateway {
                subnet,
                gateway: None,
            },
        ),
        (
            change("azurerm_route", &["create"], GONE, route),
            Edit::Route {
                table: id("routeTables/table"),
                prefix: "0.0.0.0/0".to_owned(),
                next_hop: Some("None".to_owned()),
            },
        ),
    ];
    for (change, edit) in cases {
        let planned = planned(&json!([change.clone()]));
        assert_eq!(
            (planned.edits, planned.unread),
            (vec![edit], Vec::new()),
            "{change}"
        );
    }
}

#[test]
fn what_may_matter_and_is_not_read_is_named() {
    let planned = planned(&json!([
        change("azurerm_lb_rule", &["create"], GONE, json!({"name": "new"})),
        change(
            "azurerm_subnet",
            &["update"],
            json!({"id": "/s", "name": "a"}),
            json!({"id": "/s", "name": "b"})
        ),
        change(
            "azurerm_storage_account",
            &["delete"],
            json!({"id": "/x"}),
            GONE
        ),
        change(
            "azurerm_lb",
            &["no-op"],
            json!({"id": "/x"}),
            json!({"id": "/x"})
        ),
    ]));
    assert_eq!(planned.unread, ["azurerm_lb_rule.it", "azurerm_subnet.it"]);
    assert_eq!(planned.edits, []);
}

#[test]
fn what_goes_goes_before_what_comes() {
    let associate = |gateway: &str| json!({"subnet_id": "/subnet", "nat_gateway_id": gateway});
    let kind = "azurerm_subnet_nat_gateway_association";
    let planned = planned(&json!([change(
        kind,
        &["delete", "create"],
        associate("/old"),
        associate("/new")
    )]));
    let edit = |gateway: Option<&str>| Edit::NatGateway {
        subnet: Id::from("/subnet"),
        gateway: gateway.map(Id::from),
    };
    assert_eq!(planned.edits, [edit(None), edit(Some("/new"))]);
}
