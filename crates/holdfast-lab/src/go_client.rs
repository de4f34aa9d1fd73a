//! A client that is made of the kubelet's own parts, in Go: where its program is.

use std::path::PathBuf;

use crate::peer::Missing;

/// Where its build puts it, below the working directory.
const BUILT: &str = "target/kubernetes/go-client";

/// Names another place.
const ELSEWHERE: &str = "HOLDFAST_LAB_GO_CLIENT";

/// The program, if it was built.
pub fn find() -> Option<PathBuf> {
    let path = std::env::var_os(ELSEWHERE).map_or_else(|| PathBuf::from(BUILT), PathBuf::from);
    std::path::absolute(path).ok().filter(|path| path.is_file())
}

/// What is lacking without it.
pub fn missing() -> Missing {
    Missing {
        what: BUILT.to_owned(),
        install: "e2e/kubernetes/goclient/build",
    }
}
