use super::*;

/// As Azure Resource Manager writes it.
const ARM: &str = r#"{"id": "/x/loadBalancers/lb", "sku": {"name": "Standard", "tier": "Regional"},
    "etag": "W/\"1\"", "properties": {"provisioningState": "Succeeded",
    "frontendIPConfigurations": [{"id": "/x/f", "properties": {"publicIPAddress": {"id": "/x/ip"}}}],
    "backendAddressPools": [{"id": "/x/p", "properties": {"syncMode": "Automatic",
        "backendIPConfigurations": [{"id": "/x/c"}],
        "loadBalancerBackendAddresses": [{"name": "a", "properties": {"ipAddress": "10.0.0.4"}}]}}],
    "loadBalancingRules": [{"id": "/x/r", "properties": {"protocol": "Tcp", "futureField": [1, {}],
        "backendAddressPool": {"id": "/x/p"}, "disableOutboundSnat": true, "probe": null}}]}}"#;

/// As `az network lb list` of version 2.40 writes it.
const AZ: &str = r#"{"etag": "W/\"1\"", "frontendIpConfigurations": [{"id": "/x/f",
    "publicIpAddress": {"id": "/x/ip", "resourceGroup": "g"}, "subnet": null}],
    "backendAddressPools": [{"backendIpConfigurations": [{"id": "/x/c"}], "id": "/x/p",
        "loadBalancerBackendAddresses": [{"ipAddress": "10.0.0.4", "name": "a"}],
        "syncMode": "Automatic"}],
    "id": "/x/loadBalancers/lb", "inboundNatRules": [], "loadBalancingRules": [{"id": "/x/r",
        "backendAddressPool": {"id": "/x/p"}, "disableOutboundSnat": true, "protocol": "Tcp"}],
    "sku": {"name": "Standard"}}"#;

#[test]
fn what_arm_nests_and_az_flattens_is_the_same() {
    let arm: LoadBalancer = serde_json::from_str(ARM).unwrap();
    let az: LoadBalancer = serde_json::from_str(AZ).unwrap();
    assert_eq!(arm, az);
    assert_eq!(arm.sku.name, "Standard");
    assert_eq!(arm.pools[0].members[0].id, Id::from("/X/C"));
    assert_eq!(arm.pools[0].addresses[0].address, "10.0.0.4");
    assert!(arm.rules[0].disable_outbound_snat && arm.rules[0].probe.is_none());
    assert!(arm.frontends[0].public_address.is_some() && arm.frontends[0].subnet.is_none());
}

#[test]
fn a_document_in_memory_reads_the_same() {
    let value: serde_json::Value = serde_json::from_str(ARM).unwrap();
    let from_value: LoadBalancer = serde_json::from_value(value).unwrap();
    assert_eq!(from_value, serde_json::from_str(AZ).unwrap());
}

#[test]
fn a_field_of_another_type_is_an_error_that_says_where() {
    let error = serde_json::from_str::<Nic>(r#"{"ipConfigurations": {"id": "x"}}"#).unwrap_err();
    assert!(error.to_string().contains("expected a sequence"), "{error}");
}
