//! Where a path leads: scope, provider, types and names.

use super::wire::decoded;

/// A path behind a scope: `SCOPE/providers/PROVIDER/TYPE/NAME/TYPE/NAME…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// A subscription, a resource group, or a resource that is locked.
    pub(super) scope: String,
    pub(super) provider: String,
    pub(super) types: Vec<String>,
    /// One less than types for a collection or an action.
    pub(super) names: Vec<String>,
}

/// What a path of ARM means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Path {
    /// `/subscriptions`
    Subscriptions,
    /// `/subscriptions/S`
    Subscription(String),
    /// `/subscriptions/S/providers[/P]`: which providers are registered.
    Providers(Option<String>),
    /// `/subscriptions/S/resourceGroups`
    Groups(String),
    /// `/subscriptions/S/resourceGroups/G`
    Group(String, String),
    /// `…/locations/L/operations/ID`: how an operation goes.
    Operation(String),
    /// `…/locations/L/operationResults/ID`: what came of it.
    OperationResult(String),
    /// Anything of a provider.
    Resource(Place),
}

impl Path {
    pub(super) fn parse(path: &str) -> Option<Self> {
        let parts: Vec<String> = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(decoded)
            .collect();
        let words: Vec<&str> = parts.iter().map(String::as_str).collect();
        let is = |at: usize, word: &str| {
            words
                .get(at)
                .is_some_and(|one| one.eq_ignore_ascii_case(word))
        };
        if !is(0, "subscriptions") {
            return None;
        }
        match words.as_slice() {
            [_] => return Some(Self::Subscriptions),
            [_, subscription] => return Some(Self::Subscription((*subscription).to_owned())),
            [_, _, _] if is(2, "providers") => return Some(Self::Providers(None)),
            [_, _, _, one] if is(2, "providers") => {
                return Some(Self::Providers(Some((*one).to_owned())));
            }
            [_, subscription, _] if is(2, "resourceGroups") => {
                return Some(Self::Groups((*subscription).to_owned()));
            }
            [_, subscription, _, group] if is(2, "resourceGroups") => {
                return Some(Self::Group((*subscription).to_owned(), (*group).to_owned()));
            }
            [_, _, _, _, _, _, _, id] if is(4, "locations") && is(6, "operations") => {
                return Some(Self::Operation((*id).to_owned()));
            }
            [_, _, _, _, _, _, _, id] if is(4, "locations") && is(6, "operationResults") => {
                return Some(Self::OperationResult((*id).to_owned()));
            }
            _ => {}
        }
        Place::of(&words).map(Self::Resource)
    }
}

impl Place {
    fn of(words: &[&str]) -> Option<Self> {
        let at = words
            .iter()
            .rposition(|word| word.eq_ignore_ascii_case("providers"))?;
        let scope = words.get(..at)?;
        let (provider, rest) = words.get(at + 1..)?.split_first()?;
        let owned = |at: usize| {
            rest.iter()
                .skip(at)
                .step_by(2)
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        (!rest.is_empty()).then(|| Self {
            scope: format!("/{}", scope.join("/")),
            provider: (*provider).to_owned(),
            types: owned(0),
            names: owned(1),
        })
    }

    /// Whether it names a resource, and not a collection or an action.
    pub(super) fn is_named(&self) -> bool {
        self.types.len() == self.names.len()
    }

    /// The id that it leads to; of a collection or an action that of what stands before it.
    pub(super) fn id(&self) -> String {
        let pairs = self.types.iter().zip(&self.names);
        pairs.fold(
            format!("{}/providers/{}", self.scope, self.provider),
            |id, (kind, name)| format!("{id}/{kind}/{name}"),
        )
    }

    /// The last type: the collection or the action.
    pub(super) fn last(&self) -> &str {
        self.types.last().map(String::as_str).unwrap_or_default()
    }

    /// The place without its last type, and without the name behind it.
    pub(super) fn outer(&self) -> Self {
        let mut outer = self.clone();
        outer.types.pop();
        outer.names.truncate(outer.types.len());
        outer
    }

    /// The resource group's name, if the scope is one or lies in one.
    pub(super) fn group(&self) -> Option<&str> {
        let mut words = self.scope.split('/');
        words.find(|word| word.eq_ignore_ascii_case("resourceGroups"))?;
        words.next()
    }

    /// The subscription.
    pub(super) fn subscription(&self) -> &str {
        self.scope.split('/').nth(2).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_apart_without_case() {
        let path = "/Subscriptions/s/resourcegroups/g/providers/microsoft.Compute/virtualMachineScaleSets/ss/virtualMachines/0/networkInterfaces";
        let Some(Path::Resource(place)) = Path::parse(path) else {
            panic!("no place");
        };
        assert!(!place.is_named());
        assert_eq!(place.group(), Some("g"));
        assert_eq!(place.subscription(), "s");
        assert_eq!(place.last(), "networkInterfaces");
        assert!(
            place
                .id()
                .ends_with("/virtualMachineScaleSets/ss/virtualMachines/0")
        );
        let operation =
            "/subscriptions/s/providers/Microsoft.Network/locations/westeurope/operations/o";
        assert_eq!(
            Path::parse(operation),
            Some(Path::Operation("o".to_owned()))
        );
        assert_eq!(Path::parse("/elsewhere"), None);
    }

    #[test]
    fn a_lock_lies_on_the_resource_before_it() {
        let path = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/loadBalancers/lb/providers/Microsoft.Authorization/locks/l";
        let Some(Path::Resource(place)) = Path::parse(path) else {
            panic!("no place");
        };
        assert!(place.scope.ends_with("/loadBalancers/lb"));
        assert_eq!(place.types, ["locks"]);
        assert_eq!(place.id(), path);
    }
}
