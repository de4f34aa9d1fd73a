//! A generated subscription of any size, as a folder of what `az … -o json` and `kubectl` print.
//!
//! A fourth of the nodes each: standalone VMs that live on the managed pool, instances of a Uniform
//! scale set with an outbound rule, VMs behind a NAT gateway, and VMs on default outbound access.
//! Objects are as large as real ones.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

const NETWORK: &str = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/cluster/providers/Microsoft.Network";
const COMPUTE: &str = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/cluster/providers/Microsoft.Compute";
const TAG: &str = r#"W/"7b1c3ad5-0000-0000-0000-000000000000""#;

/// A subscription with that many nodes, one of which is at Amazon.
pub(crate) fn folder(nodes: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let kinds = |kind: usize| (0..nodes).filter(move |n| n % 4 == kind);
    let of_vms = || (0..nodes).filter(|n| n % 4 != 1);
    write(at, "lb.json", balancers(nodes));
    write(at, "nic.json", of_vms().map(nic));
    write(at, "vmss-nic.json", kinds(1).map(nic));
    write(at, "vnet.json", [network()]);
    write(at, "nat-gateway.json", [gateway()]);
    write(
        at,
        "public-ip.json",
        [address("front"), address("egress"), address("gateway")],
    );
    write(at, "route-table.json", []);
    write(at, "vm.json", of_vms().map(vm));
    write(at, "vmss.json", [scale_set()]);
    let foreign = [node_object("at-amazon", "aws:///eu-west-1a/i-0", "True")];
    write(at, "nodes.json", (0..nodes).map(node).chain(foreign));
    folder
}

/// The name of a node.
pub(crate) fn name(n: usize) -> String {
    format!("node-{n:05}")
}

/// Takes one list away.
pub(crate) fn forget(folder: &TempDir, file: &str) {
    fs::remove_file(folder.path().join(file)).unwrap();
}

/// One object at a time: the whole of it need not fit into the memory of a test.
fn write(folder: &Path, name: &str, objects: impl IntoIterator<Item = Value>) {
    let mut file = BufWriter::new(File::create(folder.join(name)).unwrap());
    let mut separator = "[\n";
    for object in objects {
        write!(file, "{separator}{object:#}").unwrap();
        separator = ",\n";
    }
    let end = if separator == "[\n" { "[]\n" } else { "\n]\n" };
    file.write_all(end.as_bytes()).unwrap();
    file.flush().unwrap();
}

fn to(id: impl Into<String>) -> Value {
    let id: String = id.into();
    json!({"id": id, "resourceGroup": "cluster"})
}

fn pool(balancer: &str, name: &str) -> Value {
    to(format!(
        "{NETWORK}/loadBalancers/{balancer}/backendAddressPools/{name}"
    ))
}

fn vm_id(n: usize) -> String {
    if n % 4 == 1 {
        format!("{COMPUTE}/virtualMachineScaleSets/workers/virtualMachines/{n}")
    } else {
        format!("{COMPUTE}/virtualMachines/{}", name(n))
    }
}

fn nic_id(n: usize) -> String {
    if n % 4 == 1 {
        format!("{}/networkInterfaces/workers", vm_id(n))
    } else {
        format!("{NETWORK}/networkInterfaces/{}-nic", name(n))
    }
}

fn nic(n: usize) -> Value {
    let subnet = if n % 4 == 2 {
        "behind-gateway"
    } else {
        "nodes"
    };
    let pools = match n % 4 {
        0 => vec![
            pool("kubernetes", "kubernetes"),
            pool("kubernetes-internal", "kubernetes"),
        ],
        1 => vec![
            pool("kubernetes", "kubernetes"),
            pool("kubernetes", "egress"),
        ],
        2 => vec![
            pool("KUBERNETES", "Kubernetes"),
            pool("kubernetes-internal", "kubernetes"),
        ],
        _ => Vec::new(),
    };
    json!({
        "auxiliaryMode": "None", "auxiliarySku": "None", "disableTcpStateTracking": false,
        "dnsSettings": {"appliedDnsServers": [], "dnsServers": [], "internalDomainNameSuffix": "x.internal.cloudapp.net"},
        "enableAcceleratedNetworking": true, "enableIPForwarding": true, "etag": TAG,
        "hostedWorkloads": [], "id": nic_id(n), "location": "westeurope", "name": format!("{}-nic", name(n)),
        "ipConfigurations": [{
            "etag": TAG, "id": format!("{}/ipConfigurations/first", nic_id(n)), "name": "first",
            "loadBalancerBackendAddressPools": pools, "primary": true,
            "privateIPAddress": format!("10.{}.{}.{}", n >> 16, n >> 8 & 255, n & 255),
            "privateIPAddressVersion": "IPv4", "privateIPAllocationMethod": "Dynamic",
            "provisioningState": "Succeeded", "resourceGroup": "cluster",
            "subnet": to(format!("{NETWORK}/virtualNetworks/vnet/subnets/{subnet}")),
            "type": "Microsoft.Network/networkInterfaces/ipConfigurations",
        }],
        "macAddress": "00-0D-3A-00-00-00", "nicType": "Standard", "primary": true,
        "networkSecurityGroup": to(format!("{NETWORK}/networkSecurityGroups/nsg")),
        "provisioningState": "Succeeded", "resourceGroup": "cluster", "tags": {"kubernetes.io_cluster": "owned"},
        "type": "Microsoft.Network/networkInterfaces", "virtualMachine": to(vm_id(n)),
        "vnetEncryptionSupported": false,
    })
}

fn vm(n: usize) -> Value {
    json!({
        "hardwareProfile": {"vmSize": "Standard_D4s_v5"}, "id": vm_id(n), "location": "westeurope", "name": name(n),
        "networkProfile": {"networkInterfaces": [{"id": nic_id(n), "primary": true, "resourceGroup": "cluster"}]},
        "osProfile": {"adminUsername": "core", "computerName": name(n), "linuxConfiguration": {"disablePasswordAuthentication": true}},
        "provisioningState": "Succeeded", "resourceGroup": "cluster",
        "storageProfile": {"osDisk": {"caching": "ReadOnly", "diskSizeGB": 128, "name": format!("{}-disk", name(n))}},
        "type": "Microsoft.Compute/virtualMachines", "vmId": "00000000-0000-0000-0000-000000000000",
    })
}

fn node(n: usize) -> Value {
    let ready = if n.is_multiple_of(10) {
        "Unknown"
    } else {
        "True"
    };
    let vm = vm_id(n).replace("resourceGroups", "resourcegroups");
    node_object(&name(n), &format!("azure://{vm}"), ready)
}

fn node_object(name: &str, provider_id: &str, ready: &str) -> Value {
    let image = |n: usize| json!({"names": [format!("registry.example/team/image-{n}@sha256:{n:064}"), format!("registry.example/team/image-{n}:v1.2.3")], "sizeBytes": 123_456_789});
    let condition = |kind: &str, status: &str| {
        json!({"type": kind, "status": status,
        "lastHeartbeatTime": "2026-11-30T23:59:50Z", "lastTransitionTime": "2026-11-01T00:00:00Z",
        "reason": "KubeletReady", "message": "kubelet is posting ready status"})
    };
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "uid": "00000000-0000-0000-0000-000000000000",
            "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "topology.kubernetes.io/zone": "westeurope-1"}},
        "spec": {"podCIDR": "10.244.0.0/24", "providerID": provider_id},
        "status": {"capacity": {"cpu": "4", "memory": "16Gi", "pods": "110"},
            "conditions": [condition("MemoryPressure", "False"), condition("DiskPressure", "False"),
                condition("PIDPressure", "False"), condition("Ready", ready)],
            "images": (0..20).map(image).collect::<Vec<_>>()},
    })
}

fn balancers(nodes: usize) -> [Value; 2] {
    let frontend = |name: &str| {
        to(format!(
            "{NETWORK}/loadBalancers/kubernetes/frontendIPConfigurations/{name}"
        ))
    };
    let members = |wanted: fn(usize) -> bool| {
        let members = (0..nodes).filter(|n| wanted(*n));
        members
            .map(|n| to(format!("{}/ipConfigurations/first", nic_id(n))))
            .collect::<Vec<_>>()
    };
    let rule = |name: &str, protocol: &str, probe: bool| {
        let mut rule = json!({
            "backendAddressPool": pool("kubernetes", "kubernetes"), "backendPort": 443, "disableOutboundSnat": false,
            "enableFloatingIP": true, "enableTcpReset": true, "etag": TAG, "frontendIPConfiguration": frontend("front"),
            "frontendPort": 443, "id": format!("{NETWORK}/loadBalancers/kubernetes/loadBalancingRules/{name}"),
            "idleTimeoutInMinutes": 4, "name": name, "protocol": protocol, "resourceGroup": "cluster",
        });
        if probe {
            rule["probe"] = to(format!("{NETWORK}/loadBalancers/kubernetes/probes/{name}"));
        }
        rule
    };
    [
        json!({
            "backendAddressPools": [
                {"backendIPConfigurations": members(|n| n % 4 != 3), "id": pool("kubernetes", "kubernetes")["id"], "name": "kubernetes"},
                {"backendIPConfigurations": members(|n| n % 4 == 1), "id": pool("kubernetes", "egress")["id"], "name": "egress"},
            ],
            "etag": TAG, "id": format!("{NETWORK}/loadBalancers/kubernetes"), "name": "kubernetes",
            "frontendIPConfigurations": [
                {"id": frontend("front")["id"], "publicIPAddress": to(format!("{NETWORK}/publicIPAddresses/front"))},
                {"id": frontend("egress")["id"], "publicIPAddress": to(format!("{NETWORK}/publicIPAddresses/egress"))},
            ],
            "inboundNatRules": [], "loadBalancingRules": [rule("https", "Tcp", true), rule("quic", "Udp", false)],
            "outboundRules": [{
                "allocatedOutboundPorts": 0, "backendAddressPool": pool("kubernetes", "egress"), "enableTcpReset": true,
                "frontendIPConfigurations": [frontend("egress")], "protocol": "All",
                "id": format!("{NETWORK}/loadBalancers/kubernetes/outboundRules/egress"), "name": "egress"}],
            "sku": {"name": "Standard", "tier": "Regional"}, "type": "Microsoft.Network/loadBalancers",
        }),
        json!({
            "backendAddressPools": [{"backendIPConfigurations": members(|n| n % 2 == 0),
                "id": pool("kubernetes-internal", "kubernetes")["id"], "name": "kubernetes"}],
            "frontendIPConfigurations": [{"id": "internal", "subnet": to(format!("{NETWORK}/virtualNetworks/vnet/subnets/nodes"))}],
            "id": format!("{NETWORK}/loadBalancers/kubernetes-internal"), "sku": {"name": "Standard"}, "loadBalancingRules": [],
        }),
    ]
}

fn network() -> Value {
    let subnet = |name: &str| format!("{NETWORK}/virtualNetworks/vnet/subnets/{name}");
    json!({"id": format!("{NETWORK}/virtualNetworks/vnet"), "name": "vnet", "subnets": [
        {"id": subnet("nodes"), "name": "nodes", "addressPrefix": "10.0.0.0/16"},
        {"id": subnet("behind-gateway"), "name": "behind-gateway", "natGateway": to(format!("{NETWORK}/natGateways/gateway"))},
    ], "virtualNetworkPeerings": []})
}

fn gateway() -> Value {
    json!({"id": format!("{NETWORK}/natGateways/gateway"), "name": "gateway", "sku": {"name": "Standard"},
        "publicIpAddresses": [to(format!("{NETWORK}/publicIPAddresses/gateway"))]})
}

fn address(name: &str) -> Value {
    json!({"id": format!("{NETWORK}/publicIPAddresses/{name}"), "ipAddress": "192.0.2.1", "sku": {"name": "Standard"}})
}

fn scale_set() -> Value {
    let pools = [
        pool("kubernetes", "kubernetes"),
        pool("kubernetes", "egress"),
    ];
    json!({"id": format!("{COMPUTE}/virtualMachineScaleSets/workers"), "orchestrationMode": "Uniform",
        "virtualMachineProfile": {"networkProfile": {"networkInterfaceConfigurations": [
            {"name": "workers", "ipConfigurations": [{"name": "first", "loadBalancerBackendAddressPools": pools}]}]}}})
}
