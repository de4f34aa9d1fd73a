//! Completions for shells: `deploy/completions`.

use anyhow::Result;
use clap_complete::{Generator as _, Shell, generate};

use crate::command;
use crate::files::Generated;

/// The shells that are served.
pub(crate) const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Fish, Shell::Zsh];

/// One file per shell.
pub(crate) fn files() -> Result<Vec<Generated>> {
    SHELLS
        .into_iter()
        .map(|shell| {
            let mut text = Vec::new();
            generate(shell, &mut command::visible(), command::NAME, &mut text);
            Ok(Generated {
                path: format!("deploy/completions/{}", shell.file_name(command::NAME)),
                text: String::from_utf8(text)?,
            })
        })
        .collect()
}
