//! Repeatable chance: a small generator that is given its seed, and the hash that spreads nodes.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// `SplitMix64` (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
///
/// Not for secrets; it jitters timers and drives the simulator.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// A generator that repeats itself for the same seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number in `0..n`; 0 when `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        // The bias of the remainder is below 2^-32 for every n used here.
        self.bits().checked_rem(n).unwrap_or(0)
    }

    /// `of`, shortened by up to `percent` of itself.
    pub fn shorten(&mut self, of: Duration, percent: u32) -> Duration {
        let thousandths = u32::try_from(self.below(1000)).unwrap_or(0);
        of.saturating_sub(of / 100 * percent / 1000 * thousandths)
    }

    /// `of`, lengthened by up to `percent` of itself.
    pub fn stretch(&mut self, of: Duration, percent: u32) -> Duration {
        let thousandths = u32::try_from(self.below(1000)).unwrap_or(0);
        of + of / 100 * percent / 1000 * thousandths
    }
}

/// The finaliser of `SplitMix64`: every input bit reaches every output bit.
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A hash of text that is the same in every version and on every machine, so that nodes of mixed
/// versions spread alike (FNV-1a, 64 bit, finalised).
pub fn hash_text(text: &str) -> u64 {
    mix(fnv(FNV_OFFSET, text.as_bytes()))
}

/// The same for an address and a seed: the weight of a node for an upstream.
pub fn hash_address(seed: u64, address: SocketAddr) -> u64 {
    let mut h = fnv(FNV_OFFSET, &seed.to_be_bytes());
    h = match address.ip() {
        IpAddr::V4(ip) => fnv(h, &ip.octets()),
        IpAddr::V6(ip) => fnv(h, &ip.octets()),
    };
    mix(fnv(h, &address.port().to_be_bytes()))
}

const FNV_OFFSET: u64 = 0xCBF2_9CE4_8422_2325;

fn fnv(start: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(start, |h, byte| {
        (h ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_itself_for_the_same_seed() {
        let (mut a, mut b) = (Chance::new(7), Chance::new(7));
        assert!((0..100).all(|_| a.bits() == b.bits()));
        assert_ne!(Chance::new(7).bits(), Chance::new(8).bits());
    }

    #[test]
    fn stretches_within_its_share() {
        let mut chance = Chance::new(1);
        let base = Duration::from_secs(10);
        for _ in 0..1000 {
            let stretched = chance.stretch(base, 10);
            assert!(stretched >= base && stretched <= base + base / 10);
        }
    }

    #[test]
    fn shortens_within_its_share() {
        let mut chance = Chance::new(1);
        let base = Duration::from_secs(10);
        let all: Vec<_> = (0..1000).map(|_| chance.shorten(base, 10)).collect();
        assert!(all.iter().all(|s| *s <= base && *s >= base * 9 / 10));
        assert!(all.iter().any(|s| *s < base * 19 / 20));
        assert_eq!(chance.shorten(Duration::ZERO, 100), Duration::ZERO);
    }

    #[test]
    fn hashes_are_the_same_for_ever() {
        // Fixed values: changing them would make nodes of two versions choose differently.
        assert_eq!(hash_text("node1"), hash_text("node1"));
        assert_ne!(hash_text("node1"), hash_text("node2"));
        let a: SocketAddr = "10.0.0.1:6443".parse().unwrap();
        let b: SocketAddr = "[::1]:6443".parse().unwrap();
        assert_eq!(hash_address(1, a), 170_438_028_994_040_671);
        assert_ne!(hash_address(1, a), hash_address(1, b));
        assert_ne!(hash_address(1, a), hash_address(2, a));
    }
}
