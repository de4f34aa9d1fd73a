"""Azure's own clients against `holdfast lab azure`: list, get, create, update with etag, delete, poll."""

import json
import sys

import requests
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.identity import ClientSecretCredential, ManagedIdentityCredential
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.network import NetworkManagementClient

told = json.loads(sys.argv[1])
endpoint, subscription = told["endpoint"], told["subscription"]
scope = f"{endpoint}/.default"
credential = ClientSecretCredential(
    told["tenant"], "client", "secret", authority=endpoint, disable_instance_discovery=True
)
# Whole seconds are the least that the service asks clients to wait; this is what they wait otherwise.
settings = {"base_url": endpoint, "credential_scopes": [scope], "polling_interval": 1}
network = NetworkManagementClient(credential, subscription, **settings)
compute = ComputeManagementClient(credential, subscription, **settings)

group = f"/subscriptions/{subscription}/resourceGroups/g"
of_network = f"{group}/providers/Microsoft.Network"
balancer_id = f"{of_network}/loadBalancers/kubernetes"
pool = {"id": f"{balancer_id}/backendAddressPools/kubernetes"}


def step(name):
    print(name, flush=True)


def refused(code, status, call):
    try:
        call()
    except HttpResponseError as error:
        assert (error.error.code, error.status_code) == (code, status), error
        return
    raise AssertionError(f"expected {code}")


def way(vm):
    exits = requests.get(f"{endpoint}/lab/egress").json()["exits"]
    return next(one["path"] for one in exits if one["vm"] == vm)


step("token of a managed identity")
token = ManagedIdentityCredential().get_token("https://management.azure.com/.default").token
made = requests.put(
    f"{endpoint}{group}?api-version=2024-03-01",
    json={"location": "westeurope"},
    headers={"Authorization": f"Bearer {token}"},
)
assert made.status_code == 201, made.text

step("create and poll")
vnet = network.virtual_networks.begin_create_or_update("g", "vnet", {
    "location": "westeurope",
    "properties": {
        "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
        "subnets": [{"name": "nodes", "properties": {"addressPrefix": "10.0.1.0/24"}}],
    },
}).result()
assert vnet.provisioning_state == "Succeeded"
subnet = {"id": vnet.subnets[0].id}
pollers = [
    network.public_ip_addresses.begin_create_or_update("g", f"ip{n}", {
        "location": "westeurope", "sku": {"name": "Standard"},
        "properties": {"publicIPAllocationMethod": "Static"},
    })
    for n in range(7)
]
addresses = [poller.result().ip_address for poller in pollers]
assert len(set(addresses)) == 7 and all(addresses), addresses

step("list in pages")
assert [one.name for one in network.public_ip_addresses.list_all()] == [f"ip{n}" for n in range(7)]
assert len(list(network.public_ip_addresses.list("g").by_page())) == 3

step("a load balancer and a NIC in its pool")
balancer = network.load_balancers.begin_create_or_update("g", "kubernetes", {
    "location": "westeurope", "sku": {"name": "Standard"},
    "properties": {
        "frontendIPConfigurations": [
            {"name": "f", "properties": {"publicIPAddress": {"id": f"{of_network}/publicIPAddresses/ip0"}}}
        ],
        "backendAddressPools": [{"name": "kubernetes"}],
        "loadBalancingRules": [{"name": "https", "properties": {
            "frontendIPConfiguration": {"id": f"{balancer_id}/frontendIPConfigurations/f"},
            "backendAddressPool": pool, "protocol": "Tcp", "frontendPort": 443, "backendPort": 443,
        }}],
    },
}).result()
nic = network.network_interfaces.begin_create_or_update("g", "nic", {
    "location": "westeurope",
    "properties": {"ipConfigurations": [{"name": "first", "properties": {
        "primary": True, "subnet": subnet, "loadBalancerBackendAddressPools": [pool],
    }}]},
}).result()
assert nic.ip_configurations[0].private_ip_address == "10.0.1.4"
current = network.load_balancers.get("g", "KUBERNETES")
members = current.backend_address_pools[0].backend_ip_configurations
assert [member.id for member in members] == [nic.ip_configurations[0].id]

step("update with etag, and a stale one")
refused("PreconditionFailed", 412, lambda: network.load_balancers.begin_create_or_update(
    "g", "kubernetes", current, headers={"If-Match": balancer.etag}).result())
current.tags = {"changed": "yes"}
current = network.load_balancers.begin_create_or_update(
    "g", "kubernetes", current, headers={"If-Match": current.etag}).result()
assert current.tags == {"changed": "yes"}
assert network.load_balancers.update_tags("g", "kubernetes", {"tags": {"changed": "twice"}}).tags == {"changed": "twice"}

step("a virtual machine")
vm = compute.virtual_machines.begin_create_or_update("g", "vm", {
    "location": "westeurope",
    "properties": {
        "hardwareProfile": {"vmSize": "Standard_D2s_v5"},
        "networkProfile": {"networkInterfaces": [{"id": nic.id, "properties": {"primary": True}}]},
    },
}).result()
assert network.network_interfaces.get("g", "nic").virtual_machine.id == vm.id
assert [one.name for one in compute.virtual_machines.list_all()] == ["vm"]
vm = compute.virtual_machines.begin_create_or_update(
    "g", "vm", vm, etag=vm.etag, match_condition=MatchConditions.IfNotModified).result()
refused("PreconditionFailed", 412, lambda: compute.virtual_machines.begin_create_or_update(
    "g", "vm", vm, etag='"1"', match_condition=MatchConditions.IfNotModified).result())
routes = network.network_interfaces.begin_get_effective_route_table("g", "nic").result().value
assert any(route.address_prefix == ["0.0.0.0/0"] and route.next_hop_type == "Internet" for route in routes)

step("membership carries egress")
assert way("vm") == "lb_snat"
nic = network.network_interfaces.get("g", "nic")
nic.ip_configurations[0].load_balancer_backend_address_pools = []
network.network_interfaces.begin_create_or_update("g", "nic", nic, headers={"If-Match": nic.etag}).result()
assert way("vm") == "default_outbound"
private = network.subnets.get("g", "vnet", "nodes")
private.default_outbound_access = False
network.subnets.begin_create_or_update("g", "vnet", "nodes", private).result()
assert way("vm") == "none_private_subnet"
gateway = network.nat_gateways.begin_create_or_update("g", "gateway", {
    "location": "westeurope", "sku": {"name": "Standard"},
    "properties": {"publicIpAddresses": [{"id": f"{of_network}/publicIPAddresses/ip1"}]},
}).result()
private = network.subnets.get("g", "vnet", "nodes")
private.nat_gateway = {"id": gateway.id}
network.subnets.begin_create_or_update("g", "vnet", "nodes", private).result()
assert way("vm") == "natgw"
table = network.route_tables.begin_create_or_update("g", "table", {"location": "westeurope", "properties": {
    "routes": [{"name": "all", "properties": {"addressPrefix": "0.0.0.0/0", "nextHopType": "None"}}]}}).result()
private = network.subnets.get("g", "vnet", "nodes")
private.route_table = {"id": table.id}
network.subnets.begin_create_or_update("g", "vnet", "nodes", private).result()
assert way("vm") == "udr_drop"

step("a pool by address")
network.load_balancer_backend_address_pools.begin_create_or_update("g", "kubernetes", "by-address", {"properties": {
    "loadBalancerBackendAddresses": [
        {"name": "one", "properties": {"ipAddress": "10.0.1.9", "virtualNetwork": {"id": vnet.id}}}]}}).result()
names = [one.name for one in network.load_balancer_backend_address_pools.list("g", "kubernetes")]
assert names == ["by-address", "kubernetes"], names

step("a scale set")
scale_set = compute.virtual_machine_scale_sets.begin_create_or_update("g", "workers", {
    "location": "westeurope", "sku": {"name": "Standard_D2s_v5", "capacity": 4},
    "properties": {
        "orchestrationMode": "Uniform", "upgradePolicy": {"mode": "Manual"},
        "virtualMachineProfile": {"networkProfile": {"networkInterfaceConfigurations": [{
            "name": "nic", "properties": {"primary": True, "ipConfigurations": [
                {"name": "first", "properties": {"primary": True, "subnet": subnet}}]}}]}},
    },
}).result()
instances = list(compute.virtual_machine_scale_set_vms.list("g", "workers"))
assert [one.instance_id for one in instances] == ["0", "1", "2", "3"]
first = instances[0].network_profile_configuration.network_interface_configurations[0].ip_configurations[0]
first.load_balancer_backend_address_pools = [pool]
changed = compute.virtual_machine_scale_set_vms.begin_update(
    "g", "workers", "0", instances[0], etag=instances[0].etag,
    match_condition=MatchConditions.IfNotModified).result()
refused("PreconditionFailed", 412, lambda: compute.virtual_machine_scale_set_vms.begin_update(
    "g", "workers", "0", changed, etag=instances[0].etag,
    match_condition=MatchConditions.IfNotModified).result())
members = network.load_balancers.get("g", "kubernetes").backend_address_pools
assert any("/virtualMachineScaleSets/workers/virtualMachines/0/" in member.id
           for one in members for member in one.backend_ip_configurations or [])
compute.virtual_machine_scale_sets.begin_update("g", "workers", {"sku": {"capacity": 2}}).result()
assert len(list(compute.virtual_machine_scale_set_vms.list("g", "workers"))) == 2

step("delete and poll")
refused("NicInUse", 400, lambda: network.network_interfaces.begin_delete("g", "nic").result())
compute.virtual_machines.begin_delete("g", "vm").result()
network.network_interfaces.begin_delete("g", "nic").result()
compute.virtual_machine_scale_sets.begin_delete("g", "workers").result()
network.load_balancers.begin_delete("g", "kubernetes").result()
for look in (lambda: network.network_interfaces.get("g", "nic"), lambda: compute.virtual_machines.get("g", "vm")):
    try:
        look()
    except ResourceNotFoundError:
        continue
    raise AssertionError("it is still there")
assert list(compute.virtual_machine_scale_sets.list_all()) == []

step("faults")
requests.post(f"{endpoint}/lab/faults", json=[
    {"method": "GET", "path": "loadBalancers", "meets": "throttled", "retryAfter": 1},
    {"method": "PUT", "path": "publicIPAddresses/ip6", "meets": "operation-fails"},
    {"method": "DELETE", "path": "publicIPAddresses/ip5", "meets": "scope-locked"},
]).raise_for_status()
assert list(network.load_balancers.list_all()) == []
asked = requests.get(f"{endpoint}/lab/requests").json()["requests"]
assert [one["status"] for one in asked][-2:] == [429, 200], "the client waits and asks again"
last = network.public_ip_addresses.get("g", "ip6")
refused("InternalServerError", 200, lambda: network.public_ip_addresses.begin_create_or_update("g", "ip6", last).result())
refused("ScopeLocked", 409, lambda: network.public_ip_addresses.begin_delete("g", "ip5").result())
print("done", flush=True)
