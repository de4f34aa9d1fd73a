//! Where Azure's clouds are. Each is a world of its own: its own sign-in, its own Resource Manager.

/// A cloud and its endpoints (`az cloud list`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cloud {
    /// Resource Manager, without a slash at its end.
    pub resource_manager: String,
    /// Who gives tokens out, without a slash at its end.
    pub authority: String,
    /// Whom tokens are for, if not [`Self::resource_manager`].
    pub audience: Option<String>,
}

impl Cloud {
    /// The public one.
    pub fn public() -> Self {
        Self::at(
            "https://management.azure.com",
            "https://login.microsoftonline.com",
        )
    }

    /// Azure Government.
    pub fn us_government() -> Self {
        Self::at(
            "https://management.usgovcloudapi.net",
            "https://login.microsoftonline.us",
        )
    }

    /// Azure operated by 21Vianet.
    pub fn china() -> Self {
        Self::at(
            "https://management.chinacloudapi.cn",
            "https://login.chinacloudapi.cn",
        )
    }

    fn at(resource_manager: &str, authority: &str) -> Self {
        Self {
            resource_manager: resource_manager.to_owned(),
            authority: authority.to_owned(),
            audience: None,
        }
    }

    /// What a token has to be good for.
    pub fn scope(&self) -> String {
        let audience = self.audience.as_ref().unwrap_or(&self.resource_manager);
        format!("{audience}/.default")
    }
}
