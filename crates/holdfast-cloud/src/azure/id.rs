//! Resource ids: compared without case, shown as they were written.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

/// The id of an Azure resource.
///
/// Azure Resource Manager compares ids without case, and its own services spell them differently.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Id(String);

impl Id {
    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The last segment: the resource's own name.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The segment after this one: `after("resourceGroups")` is the resource group.
    pub fn after(&self, segment: &str) -> Option<&str> {
        let mut segments = self.0.split('/');
        segments.find(|one| one.eq_ignore_ascii_case(segment))?;
        segments.next()
    }

    /// The id up to this segment, which is left out with all behind it.
    pub fn before(&self, segment: &str) -> Option<Self> {
        let mut length = 0;
        for one in self.0.split('/') {
            if one.eq_ignore_ascii_case(segment) {
                return self.0.get(..length - 1).map(Self::from);
            }
            length += one.len() + 1;
        }
        None
    }

    /// Whether such a segment is in it.
    pub fn has(&self, segment: &str) -> bool {
        self.0
            .split('/')
            .any(|one| one.eq_ignore_ascii_case(segment))
    }

    /// Whether this is how somebody may call the resource: by its whole id, or by its last segments
    /// as in `kubernetes/aksOutboundBackendPool`, in which words like `backendAddressPools` may be
    /// left out.
    pub fn is_called(&self, name: &str) -> bool {
        let name = name.trim_matches('/');
        if self.0.trim_matches('/').eq_ignore_ascii_case(name) {
            return true;
        }
        let mut segments = self.0.rsplit('/').step_by(2);
        name.rsplit('/').all(|wanted| {
            segments
                .next()
                .is_some_and(|one| one.eq_ignore_ascii_case(wanted))
        })
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for Id {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for Id {}

impl PartialOrd for Id {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Id {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let lower = |id: &str| {
            id.bytes()
                .map(|byte| byte.to_ascii_lowercase())
                .collect::<Vec<_>>()
        };
        lower(&self.0).cmp(&lower(&other.0))
    }
}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for byte in self.0.bytes() {
            state.write_u8(byte.to_ascii_lowercase());
        }
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POOL: &str = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/loadBalancers/kubernetes/backendAddressPools/Nodes";

    #[test]
    fn ids_are_equal_without_case() {
        assert_eq!(Id::from(POOL), Id::from(POOL.to_uppercase()));
        let set = std::collections::HashSet::from([Id::from(POOL)]);
        assert!(set.contains(&Id::from(POOL.to_lowercase())));
        assert_ne!(Id::from(POOL), Id::from("/subscriptions/s"));
    }

    #[test]
    fn parts_are_found_by_the_segment_before_them() {
        let id = Id::from(POOL);
        assert_eq!(id.name(), "Nodes");
        assert_eq!(id.after("RESOURCEGROUPS"), Some("g"));
        let balancer = id.before("backendAddressPools").unwrap();
        assert_eq!(balancer.name(), "kubernetes");
        assert_eq!(id.before("subnets"), None);
    }

    #[test]
    fn a_resource_is_called_by_its_id_or_its_last_names() {
        let id = Id::from(POOL);
        for name in [POOL, "nodes", "kubernetes/nodes", &POOL.to_uppercase()] {
            assert!(id.is_called(name), "{name}");
        }
        for name in ["node", "other/nodes", "kubernetes", ""] {
            assert!(!id.is_called(name), "{name}");
        }
    }
}
