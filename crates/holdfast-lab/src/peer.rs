//! Other people's programs that Holdfast is compared with: where they are, and what they are told.

use std::path::{Path, PathBuf};

/// Where Debian's nginx keeps its stream module.
const STREAM_MODULE: &str = "/usr/lib/nginx/modules/ngx_stream_module.so";

/// A program and its settings.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    program: &'static str,
    /// A further file without which the program is of no use.
    module: Option<&'static str>,
    /// What comes before the path of its configuration.
    pub arguments: &'static [&'static str],
    /// The text of its configuration.
    pub configuration: &'static str,
    install: &'static str,
}

/// What a peer needs and this machine lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The program or file.
    pub what: String,
    /// The command that installs it on Debian.
    pub install: &'static str,
}

impl Peer {
    /// `haproxy` with such a configuration, in the foreground.
    pub const fn haproxy(configuration: &'static str) -> Self {
        Self {
            program: "haproxy",
            module: None,
            arguments: &["-db", "-f"],
            configuration,
            install: "apt-get install haproxy",
        }
    }

    /// `nginx` and its stream module with such a configuration.
    pub const fn nginx(configuration: &'static str) -> Self {
        Self {
            program: "nginx",
            module: Some(STREAM_MODULE),
            arguments: &["-c"],
            configuration,
            install: "apt-get install nginx-light libnginx-mod-stream",
        }
    }

    /// Its program, also where only root's path has it.
    pub fn find(&self) -> Option<PathBuf> {
        find(self.program)
    }

    /// What this machine lacks for it.
    pub fn missing(&self) -> Option<Missing> {
        let module = self.module.filter(|module| !Path::new(module).exists());
        let what = match self.find() {
            None => self.program,
            Some(_) => module?,
        };
        Some(Missing {
            what: what.to_owned(),
            install: self.install,
        })
    }

    /// What it says about its version.
    pub fn version(&self) -> Option<String> {
        let output = std::process::Command::new(self.find()?).arg("-v").output();
        let output = output.ok()?;
        // haproxy says it on its output, nginx on its standard error.
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        Some(said.lines().next()?.trim().to_owned())
    }
}

/// A program by its name, also where only root's path has it.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|directory| directory.join(program))
        .find(|file| file.is_file())
}
