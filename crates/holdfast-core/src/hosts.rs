//! Reads `/etc/hosts` for one name: what stands there goes before DNS for most programs.

use std::net::IpAddr;

/// One line that pins the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Its line in the file, from 1.
    pub line: usize,
    /// The address that it pins the name to.
    pub address: IpAddr,
}

/// Every line of `text` that gives `name` an address (hosts(5)): an address, names, and perhaps a
/// comment. Names are compared without case, as DNS does.
pub fn pins(text: &str, name: &str) -> Vec<Pin> {
    let name = name.trim_end_matches('.');
    text.lines()
        .enumerate()
        .filter_map(|(place, line)| {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_whitespace();
            let address = words.next()?.parse().ok()?;
            let named = words.any(|word| word.trim_end_matches('.').eq_ignore_ascii_case(name));
            named.then_some(Pin {
                line: place + 1,
                address,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "127.0.0.1 localhost\n\
                        # 10.0.0.9 api.example.com\n\
                        10.0.0.1\tmaster API.example.com. # kept by hand\n\
                        fd00::1 api.example.com\n\
                        not-an-address api.example.com\n\
                        10.0.0.2 api.example.com.other\n";

    #[test]
    fn names_are_found_wherever_they_stand_in_a_line() {
        let found = pins(FILE, "api.example.com");
        let found: Vec<_> = found
            .iter()
            .map(|p| (p.line, p.address.to_string()))
            .collect();
        assert_eq!(
            found,
            [(3, "10.0.0.1".to_owned()), (4, "fd00::1".to_owned())]
        );
    }

    #[test]
    fn comments_other_names_and_lines_that_are_none_pin_nothing() {
        assert_eq!(pins(FILE, "example.com"), []);
        assert_eq!(pins(FILE, "hand"), []);
    }
}
