//! The resources that egress depends on, with the fields that matter.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::id::Id;

/// A resource whose fields are set one by one, by their names in lower case.
trait Fields: Default {
    /// Sets the field of this name; false if there is none, and then no value was taken.
    fn set<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<bool, A::Error>;
}

/// Reads an object into a resource, with `properties` as if its fields stood one level up.
struct Into<'a, T>(&'a mut T);

impl<'de, T: Fields> DeserializeSeed<'de> for Into<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Fields> Visitor<'de> for Into<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut name = String::new();
        while map.next_key_seed(Lower(&mut name))?.is_some() {
            if name == "properties" {
                map.next_value_seed(Into(&mut *self.0))?;
            } else if !self.0.set(&name, &mut map)? {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Reads a key into a buffer, in lower case.
struct Lower<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Lower<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Lower<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<(), E> {
        self.0.clear();
        self.0.extend(name.chars().map(|c| c.to_ascii_lowercase()));
        Ok(())
    }
}

/// The visitor of a whole resource.
struct Whole<T>(PhantomData<T>);

impl<'de, T: Fields> Visitor<'de> for Whole<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        let mut resource = T::default();
        Into(&mut resource).visit_map(map)?;
        Ok(resource)
    }
}

/// Declares a resource: its fields, and by which names in lower case they are read. `null` and
/// absence leave the default.
macro_rules! resource {
    ($(#[$about:meta])* $name:ident {
        $($(#[$meaning:meta])* $field:ident: $type:ty = $key:literal,)+
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            $($(#[$meaning])* pub $field: $type,)+
        }

        impl Fields for $name {
            fn set<'de, A: MapAccess<'de>>(
                &mut self,
                name: &str,
                map: &mut A,
            ) -> Result<bool, A::Error> {
                match name {
                    $($key => self.$field = map.next_value::<Option<$type>>()?.unwrap_or_default(),)+
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_map(Whole(PhantomData))
            }
        }
    };
}

resource! {
    /// A reference to another resource: `{"id": …}`.
    Reference {
        /// Whose.
        id: Id = "id",
    }
}

resource! {
    /// A SKU: `{"name": …}`.
    Sku {
        /// `Basic`, `Standard`, `StandardV2`, `Gateway`…
        name: String = "name",
    }
}

resource! {
    /// A load balancer. It is internal if a frontend has a subnet.
    LoadBalancer {
        /// Its id.
        id: Id = "id",
        /// Its SKU.
        sku: Sku = "sku",
        /// Its addresses.
        frontends: Vec<Frontend> = "frontendipconfigurations",
        /// Its backend pools.
        pools: Vec<BackendPool> = "backendaddresspools",
        /// Its load-balancing rules.
        rules: Vec<BalancingRule> = "loadbalancingrules",
        /// Its outbound rules.
        outbound_rules: Vec<OutboundRule> = "outboundrules",
        /// Its inbound NAT rules.
        inbound_nat_rules: Vec<InboundNatRule> = "inboundnatrules",
    }
}

resource! {
    /// An address of a load balancer.
    Frontend {
        /// Its id.
        id: Id = "id",
        /// A public address.
        public_address: Option<Reference> = "publicipaddress",
        /// A prefix of public addresses.
        public_prefix: Option<Reference> = "publicipprefix",
        /// The subnet of an internal address.
        subnet: Option<Reference> = "subnet",
    }
}

resource! {
    /// A backend pool.
    BackendPool {
        /// Its id.
        id: Id = "id",
        /// Its members by IP configuration.
        members: Vec<Reference> = "backendipconfigurations",
        /// Its members by address. Pools by IP configuration list theirs here too, without address.
        addresses: Vec<PoolAddress> = "loadbalancerbackendaddresses",
        /// `Automatic`: behaves as a pool by IP configuration. `Manual`: as one by address; what that
        /// means for egress is documented nowhere.
        sync_mode: String = "syncmode",
        /// The network that addresses are of.
        network: Option<Reference> = "virtualnetwork",
    }
}

resource! {
    /// A member of a pool by address.
    PoolAddress {
        /// The address.
        address: String = "ipaddress",
        /// The network that it is of.
        network: Option<Reference> = "virtualnetwork",
    }
}

resource! {
    /// A load-balancing rule.
    BalancingRule {
        /// Its id.
        id: Id = "id",
        /// Its pool.
        pool: Option<Reference> = "backendaddresspool",
        /// Its pools.
        pools: Vec<Reference> = "backendaddresspools",
        /// `Tcp`, `Udp`, `All` or `Quic`.
        protocol: String = "protocol",
        /// Whether it carries no egress.
        disable_outbound_snat: bool = "disableoutboundsnat",
        /// Its health probe.
        probe: Option<Reference> = "probe",
    }
}

resource! {
    /// An outbound rule.
    OutboundRule {
        /// Its id.
        id: Id = "id",
        /// Its pool.
        pool: Option<Reference> = "backendaddresspool",
        /// `Tcp`, `Udp` or `All`.
        protocol: String = "protocol",
    }
}

resource! {
    /// An inbound NAT rule.
    InboundNatRule {
        /// Its id.
        id: Id = "id",
        /// Its pool, if it has one.
        pool: Option<Reference> = "backendaddresspool",
    }
}

resource! {
    /// A network interface, of a VM or of an instance of a Uniform scale set.
    Nic {
        /// Its id.
        id: Id = "id",
        /// Its VM.
        vm: Option<Reference> = "virtualmachine",
        /// Whether it is its VM's first.
        primary: Option<bool> = "primary",
        /// Its IP configurations.
        configurations: Vec<IpConfiguration> = "ipconfigurations",
    }
}

resource! {
    /// An IP configuration of a NIC.
    IpConfiguration {
        /// Its id.
        id: Id = "id",
        /// Whether it is the NIC's first.
        primary: Option<bool> = "primary",
        /// Its address.
        address: String = "privateipaddress",
        /// `IPv4` or `IPv6`; absent means IPv4.
        version: String = "privateipaddressversion",
        /// Its subnet.
        subnet: Option<Reference> = "subnet",
        /// Its public address.
        public_address: Option<Reference> = "publicipaddress",
        /// The pools that it is in.
        pools: Vec<Reference> = "loadbalancerbackendaddresspools",
    }
}

resource! {
    /// A virtual network.
    Network {
        /// Its id.
        id: Id = "id",
        /// Its subnets.
        subnets: Vec<Subnet> = "subnets",
        /// Its peerings.
        peerings: Vec<Peering> = "virtualnetworkpeerings",
    }
}

resource! {
    /// A peering with another network.
    Peering {
        /// Whether the other network's gateway is used.
        use_remote_gateways: bool = "useremotegateways",
    }
}

resource! {
    /// A subnet.
    Subnet {
        /// Its id.
        id: Id = "id",
        /// Its NAT gateway.
        nat_gateway: Option<Reference> = "natgateway",
        /// Its route table.
        route_table: Option<Reference> = "routetable",
        /// Whether VMs may use default outbound access; absent means yes.
        default_outbound: Option<bool> = "defaultoutboundaccess",
    }
}

resource! {
    /// A NAT gateway.
    NatGateway {
        /// Its id.
        id: Id = "id",
        /// Its SKU.
        sku: Sku = "sku",
        /// Its IPv4 addresses.
        addresses: Vec<Reference> = "publicipaddresses",
        /// Its IPv4 prefixes.
        prefixes: Vec<Reference> = "publicipprefixes",
        /// Its IPv6 addresses.
        addresses_v6: Vec<Reference> = "publicipaddressesv6",
        /// Its IPv6 prefixes.
        prefixes_v6: Vec<Reference> = "publicipprefixesv6",
        /// The network all of whose subnets it serves.
        network: Option<Reference> = "sourcevirtualnetwork",
    }
}

resource! {
    /// A public address.
    PublicAddress {
        /// Its id.
        id: Id = "id",
        /// Its SKU.
        sku: Sku = "sku",
        /// The address.
        address: String = "ipaddress",
        /// `IPv4` or `IPv6`; absent means IPv4.
        version: String = "publicipaddressversion",
    }
}

resource! {
    /// A route table.
    RouteTable {
        /// Its id.
        id: Id = "id",
        /// Its routes.
        routes: Vec<Route> = "routes",
        /// Whether routes learned by BGP are kept away.
        disable_bgp: bool = "disablebgproutepropagation",
    }
}

resource! {
    /// A route.
    Route {
        /// Its id.
        id: Id = "id",
        /// What it is for.
        prefix: String = "addressprefix",
        /// Where that goes.
        next_hop: String = "nexthoptype",
    }
}

resource! {
    /// A VM, also one of a Flexible scale set.
    Vm {
        /// Its id.
        id: Id = "id",
        /// Its availability set.
        availability_set: Option<Reference> = "availabilityset",
        /// Its Flexible scale set.
        scale_set: Option<Reference> = "virtualmachinescaleset",
        /// Its NICs.
        network: NetworkProfile = "networkprofile",
        /// `VM running`, `VM deallocated`…, where `az vm list -d` was asked.
        power_state: String = "powerstate",
        /// `Succeeded`, `Deleting`…
        provisioning_state: String = "provisioningstate",
    }
}

resource! {
    /// The NICs of a VM.
    NetworkProfile {
        /// Each with its id.
        nics: Vec<NicReference> = "networkinterfaces",
        /// What the NICs of a scale set's instances are like.
        configurations: Vec<NicModel> = "networkinterfaceconfigurations",
    }
}

resource! {
    /// A NIC of a VM.
    NicReference {
        /// Its id.
        id: Id = "id",
        /// Whether it is the first.
        primary: Option<bool> = "primary",
    }
}

resource! {
    /// A scale set.
    ScaleSet {
        /// Its id.
        id: Id = "id",
        /// `Uniform` or `Flexible`; absent means Uniform.
        mode: String = "orchestrationmode",
        /// What its instances are like.
        model: VmModel = "virtualmachineprofile",
    }
}

resource! {
    /// What a scale set's instances are like.
    VmModel {
        /// Their NICs.
        network: NetworkProfile = "networkprofile",
    }
}

resource! {
    /// What a NIC of a scale set's instances is like.
    NicModel {
        /// Its IP configurations.
        configurations: Vec<IpConfigurationModel> = "ipconfigurations",
    }
}

resource! {
    /// What an IP configuration of a scale set's instances is like.
    IpConfigurationModel {
        /// The pools that new instances join.
        pools: Vec<Reference> = "loadbalancerbackendaddresspools",
    }
}

#[cfg(test)]
mod tests;
