//! Secrets that are told of instead of masked: an agent's files and messages are its own. What is told is what hardly
//! anybody writes down in earnest unless it is one.

use std::fmt;

use crate::mask::{forms, logins, private_key, values};

/// A likely secret, told without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Likely {
    /// A token or a private key, by who issues it.
    Key(&'static str),
    /// The value of a variable of this name.
    Variable(&'static str),
    /// A password in an address.
    Login,
}

impl fmt::Display for Likely {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(issuer) => write!(formatter, "what looks like a key ({issuer})"),
            Self::Variable(name) => write!(formatter, "the value of the variable {name}"),
            Self::Login => formatter.write_str("what looks like a password in an address"),
        }
    }
}

/// The likely secret in a line, if there is one.
pub(crate) fn likely_secret(line: &str) -> Option<Likely> {
    if private_key::begins_in(line) {
        return Some(Likely::Key("private key"));
    }
    let token = || forms::next_token(line, 0).map(|token| Likely::Key(token.issuer));
    let login = || logins::has_real_login(line).then_some(Likely::Login);
    values::variable_in(line).map(Likely::Variable).or_else(token).or_else(login)
}
