//! One question as a row of words: the columns of `holdfast plan egress`.

use std::fmt;

use super::decision::{Answer, answer};
use super::facts::{
    Exclusion, Facts, Family, InstanceAddress, Membership, NatGateway, Node, NodeObject, Peer,
    Pool, Ready, Route, Rule, Rules, Sku, VmKind, VmState,
};
use super::operation::{AnyPool, Joining, Operation, PublicPool};
use super::words::{Word, words};

/// The input columns after `case_id`, in the order of a [`Row`].
pub const COLUMNS: [&str; 23] = [
    "op",
    "op_target",
    "node",
    "ready",
    "vm",
    "exclude_label",
    "managed",
    "taint_tbd",
    "role",
    "vm_kind",
    "sku",
    "pub1",
    "pub1_rules",
    "pub2",
    "pub2_rules",
    "int",
    "nat_gw",
    "nic_pip",
    "udr_default",
    "subnet_doa",
    "peer_std",
    "family",
    "last_member",
];

/// The words of one row, in the order of [`COLUMNS`].
pub type Row<'a> = [&'a str; COLUMNS.len()];

/// A word that its column doesn't know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValue {
    /// The column.
    pub column: &'static str,
    /// What stands there.
    pub found: String,
    /// What may stand there.
    pub accepted: String,
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: found {:?}, accepted: {}",
            self.column, self.found, self.accepted
        )
    }
}

impl std::error::Error for BadValue {}

words! {
    /// What is done: column `op`.
    Verb {
        /// Take the NIC out of a pool.
        Remove = "remove",
        /// Put it into the internal pool.
        AddInternal = "add_int",
        /// Put it into the public pool.
        AddPublic = "add_pub",
        /// Delete a pool's load-balancing rules.
        DropRules = "drop_lb_rules",
        /// Delete a pool's outbound rules.
        DropOutboundRule = "drop_outbound_rule",
        /// Set `disableOutboundSnat` on a pool's load-balancing rules.
        DisableSnat = "disable_snat",
        /// Delete the public load balancer with the last public Service.
        DeletePublic = "delete_pub" | "delete_public_lb",
        /// Take the NAT gateway off the subnet.
        DetachNatGateway = "detach_natgw" | "detach_nat_gw" | "detach_nat" | "detach_nat_gateway",
        /// Take the last address off the NAT gateway.
        DetachNatAddress = "detach_natgw_pip" | "detach_nat_gw_pip" | "detach_nat_pip",
        /// Take the public address off the NIC.
        DetachInstanceAddress = "detach_pip" | "detach_nic_pip",
        /// Make the subnet private.
        MakeSubnetPrivate = "subnet_private" | "make_subnet_private",
        /// Add a default route to nowhere.
        AddNoneRoute = "udr_drop" | "udr_none" | "add_udr_drop" | "add_udr_none" | "add_none_route"
            | "add_route_none" | "none_route" | "route_none",
    }
}

words! {
    /// Yes or no.
    YesNo {
        /// It is so.
        Yes = "yes",
        /// It isn't.
        No = "no",
    }
}

words! {
    /// True or false.
    TrueFalse {
        /// It is so.
        True = "true",
        /// It isn't.
        False = "false",
    }
}

words! {
    /// What the node is for. It has no say in the verdict: CPA#5849 came from letting it have one.
    Role {
        /// It runs the control plane.
        ControlPlane = "control_plane",
        /// It runs workloads.
        Worker = "worker",
    }
}

/// An operation on one NIC, with all that decides the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// What is done.
    pub operation: Operation,
    /// The NIC it is done to.
    pub facts: Facts,
    /// The node behind the NIC.
    pub node: Node,
    /// What the node is for.
    pub role: Role,
}

impl Case {
    /// Reads a row; the first word that makes no sense is named.
    pub fn read(row: &Row<'_>) -> Result<Self, BadValue> {
        let [
            op,
            op_target,
            object,
            ready,
            vm,
            exclude_label,
            managed,
            taint_tbd,
            role,
            vm_kind,
            sku,
            pub1,
            pub1_rules,
            pub2,
            pub2_rules,
            int,
            nat_gw,
            nic_pip,
            udr_default,
            subnet_doa,
            peer_std,
            family,
            last_member,
        ] = *row;
        let verb = word::<Verb>("op", op)?;
        let operation = operation(verb, op_target)?;
        let node = Node {
            object: word::<NodeObject>("node", object)?,
            ready: word::<Ready>("ready", ready)?,
            vm: word::<VmState>("vm", vm)?,
            exclusion: Exclusion::of((exclude_label != "absent").then_some(exclude_label)),
            managed: word::<TrueFalse>("managed", managed)? == TrueFalse::True,
            draining: word::<YesNo>("taint_tbd", taint_tbd)? == YesNo::Yes,
            last_member: word::<YesNo>("last_member", last_member)? == YesNo::Yes,
        };
        let facts = Facts {
            family: word::<Family>("family", family)?,
            vm_kind: word::<VmKind>("vm_kind", vm_kind)?,
            sku: word::<Sku>("sku", sku)?,
            managed_pool: Pool {
                membership: word::<Membership>("pub1", pub1)?,
                rules: rules("pub1_rules", pub1_rules)?,
            },
            other_pool: Pool {
                membership: word::<Membership>("pub2", pub2)?,
                rules: rules("pub2_rules", pub2_rules)?,
            },
            internal: word::<Membership>("int", int)?,
            nat_gateway: word::<NatGateway>("nat_gw", nat_gw)?,
            instance_address: word::<InstanceAddress>("nic_pip", nic_pip)?,
            route: word::<Route>("udr_default", udr_default)?,
            default_outbound: word::<TrueFalse>("subnet_doa", subnet_doa)? == TrueFalse::True,
            peer: word::<Peer>("peer_std", peer_std)?,
        };
        Ok(Self {
            operation,
            facts,
            node,
            role: word::<Role>("role", role)?,
        })
    }

    /// The answer.
    pub fn answer(&self) -> Answer {
        answer(self.operation, &self.facts, self.node)
    }
}

fn operation(verb: Verb, target: &str) -> Result<Operation, BadValue> {
    const COLUMN: &str = "op_target";
    let joining = || word::<Joining>(COLUMN, target);
    let public = || word::<PublicPool>(COLUMN, target);
    Ok(match verb {
        Verb::Remove => Operation::Remove(word::<AnyPool>(COLUMN, target)?),
        Verb::AddInternal => Operation::AddToInternal(joining()?),
        Verb::AddPublic => Operation::AddToPublic(joining()?),
        Verb::DropRules => Operation::DropRules(public()?),
        Verb::DropOutboundRule => Operation::DropOutboundRule(public()?),
        Verb::DisableSnat => Operation::DisableSnat(public()?),
        // These have one possible target each; what the column says about it is not needed.
        Verb::DeletePublic => Operation::DeletePublic,
        Verb::DetachNatGateway => Operation::DetachNatGateway,
        Verb::DetachNatAddress => Operation::DetachNatAddress,
        Verb::DetachInstanceAddress => Operation::DetachInstanceAddress,
        Verb::MakeSubnetPrivate => Operation::MakeSubnetPrivate,
        Verb::AddNoneRoute => Operation::AddNoneRoute,
    })
}

fn word<W: Word>(column: &'static str, found: &str) -> Result<W, BadValue> {
    W::from_word(found).ok_or_else(|| BadValue {
        column,
        found: found.to_owned(),
        accepted: W::ACCEPTED.join(", "),
    })
}

fn rules(column: &'static str, found: &str) -> Result<Rules, BadValue> {
    if found == "-" {
        return Ok(Rules::NONE);
    }
    found.split('+').try_fold(Rules::NONE, |rules, one| {
        let rule = Rule::from_word(one).ok_or_else(|| BadValue {
            column,
            found: found.to_owned(),
            accepted: format!("-, or joined by +: {}", Rule::ACCEPTED.join(", ")),
        })?;
        Ok(rules.with(rule))
    })
}
