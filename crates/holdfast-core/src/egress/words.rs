//! Closed vocabularies: enums whose every variant is one word of the command line and the JSON.

/// A variant of a closed vocabulary.
pub trait Word: Copy + 'static {
    /// Every word that is accepted, for messages.
    const ACCEPTED: &'static [&'static str];

    /// The variant with this word.
    fn from_word(word: &str) -> Option<Self>;
}

/// Declares such an enum, with its word behind each variant, and other spellings that are read too.
macro_rules! words {
    ($(#[$about:meta])* $name:ident {
        $($(#[$meaning:meta])* $variant:ident = $word:literal $(| $also:literal)*,)+
    }) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum $name {
            $($(#[$meaning])* #[serde(rename = $word $(, alias = $also)*)] $variant,)+
        }

        impl $name {
            /// Every variant, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl $crate::egress::words::Word for $name {
            const ACCEPTED: &'static [&'static str] = &[$($word),+];

            fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word $(| $also)* => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

pub(crate) use words;
