//! Sets of transport protocols that reach the internet.

use std::fmt;
use std::ops::{BitOr, BitOrAssign, Sub};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Which protocols get out. Written `tcp+udp`, `tcp`, `udp`, `none`, or `hop` where the next hop of
/// a route decides, of which Azure's own facts say nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String")]
pub struct Protocols(u8);

impl Protocols {
    /// Nothing gets out.
    pub const NONE: Self = Self(0);
    /// TCP.
    pub const TCP: Self = Self(1);
    /// UDP.
    pub const UDP: Self = Self(2);
    /// TCP and UDP.
    pub const BOTH: Self = Self(3);
    /// What the next hop lets through.
    pub const HOP: Self = Self(4);

    /// Whether nothing gets out.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` is in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The set in words.
    pub const fn as_str(self) -> &'static str {
        match self.0 {
            0 => "none",
            1 => "tcp",
            2 => "udp",
            3 => "tcp+udp",
            // A next hop is never joined with anything: the route wins before all else is asked.
            _ => "hop",
        }
    }
}

impl BitOr for Protocols {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Protocols {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// What is in the one and not in the other. A next hop lets through what it likes, TCP and UDP at
/// most; so nothing is known to be lost on the way to one, nor from one to both protocols.
impl Sub for Protocols {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        if other == Self::HOP || (self == Self::HOP && other == Self::BOTH) {
            return Self::NONE;
        }
        Self(self.0 & !other.0)
    }
}

impl fmt::Display for Protocols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Protocols {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
