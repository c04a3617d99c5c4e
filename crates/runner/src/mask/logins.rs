//! Logins in addresses: `scheme://user:password@host`.

use crate::mask::{MASK, code};

/// What stands for a password in examples.
const PLACEHOLDERS: [&str; 13] = [
    "example",
    "changeme",
    "change-me",
    "change_me",
    "placeholder",
    "your",
    "redacted",
    "dummy",
    "fake",
    "sample",
    "xxx",
    "***",
    "...",
];

/// What is in passwords that are chosen for examples and tests, of small letters and digits alone.
const PLAIN: [&str; 9] = ["pass", "pwd", "secret", "s3cr", "s3cret", "test", "token", "user", "demo"];

/// Parts of hosts that are this machine, a container of its own, or nobody.
const NO_HOSTS: [&str; 14] = [
    "example",
    "test",
    "localhost",
    "invalid",
    "docker",
    "host",
    "hostname",
    "foo",
    "bar",
    "domain",
    "mydomain",
    "yourdomain",
    "server",
    "acme",
];

/// The shortest password that is told.
const TOLD_CHARS_MIN: usize = 6;

/// An address with a login in it.
struct Login<'a> {
    /// The text up to the password.
    before: &'a str,
    user: &'a str,
    password: &'a str,
    host: &'a str,
    /// The text behind the host.
    after: &'a str,
}

impl<'a> Login<'a> {
    fn first_in(text: &'a str) -> Option<Self> {
        let mut from = 0;
        loop {
            from += text[from..].find("://")? + 3;
            let rest = &text[from..];
            let is_end = |character: char| {
                character.is_whitespace()
                    || matches!(character, '/' | '?' | '#' | '"' | '\'' | '`' | '<' | '>')
            };
            let end = rest.find(is_end).unwrap_or(rest.len());
            let login =
                rest[..end].rsplit_once('@').and_then(|(login, host)| Some((login.split_once(':')?, host)));
            if let Some(((user, password), host)) = login
                && !password.is_empty()
            {
                let before = &text[..from + user.len() + 1];
                return Some(Self { before, user, password, host, after: &rest[end..] });
            }
            from += end;
        }
    }

    /// True if somebody would want to hear that it is there: neither an example nor a service of this machine.
    fn is_real(&self) -> bool {
        let name = self.host.split(':').next().unwrap_or_default().to_ascii_lowercase();
        let is_local = !name.contains('.') || name.starts_with("127.") || name == "0.0.0.0";
        let is_nobody =
            name.split('.').any(|label| NO_HOSTS.contains(&label)) || name.contains(['$', '{', '%']);
        !is_local && !is_nobody && self.password != self.user && !is_placeholder(self.password)
    }
}

/// The line without the passwords that addresses carry.
pub(super) fn without_logins(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(login) = Login::first_in(rest) {
        let shown = if code::stands_for_another(login.password) { login.password } else { MASK };
        kept.extend([login.before, shown, "@", login.host]);
        rest = login.after;
    }
    kept.push_str(rest);
    kept
}

/// True if a line has a password in an address, and neither is an example.
pub(super) fn has_real_login(line: &str) -> bool {
    let mut rest = line;
    while let Some(login) = Login::first_in(rest) {
        if login.is_real() {
            return true;
        }
        rest = login.after;
    }
    false
}

/// True if this stands for a password in an example.
pub(super) fn is_placeholder(password: &str) -> bool {
    let lower = password.to_ascii_lowercase();
    let is_plain =
        password.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'));
    let is_shouted = password.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let has_signs = password.contains(['$', '{', '<', '%'])
        && code::stands_for_another(&password[password.find(['$', '{', '<', '%']).unwrap_or(0)..]);
    password.chars().count() < TOLD_CHARS_MIN
        || is_shouted
        || has_signs
        || PLACEHOLDERS.iter().any(|part| lower.contains(part))
        || (is_plain && PLAIN.iter().any(|part| lower.contains(part)))
}

#[cfg(test)]
mod tests {
    use super::has_real_login;

    #[test]
    fn examples_and_services_of_this_machine_are_not_told() {
        for text in [
            "postgres://bob:k9Xw2mQ7@db.acme-prod.net:5432/x",
            "a https://x:$P@h.io b mysql://root:tR0ub4dor&3@10.1.2.3/x",
        ] {
            assert!(has_real_login(text), "{text}");
        }
        for text in [
            "postgres://user:password@localhost:5432/app",
            "postgres://bob:k9Xw2mQ7@localhost/app",
            "redis://:k9Xw2mQ7@127.0.0.1:6379",
            "postgres://bob:k9Xw2mQ7@db:5432/app",
            "https://bob:k9Xw2mQ7@git.example.com/x",
            "https://user:pass@host.com/, https://user:mypassword1@gitlab.com",
            "https://postgres:postgres@db.prod.net",
            "https://x-access-token:${{ secrets.TOKEN }}@github.com/a/b",
            "https://$USER:$TOKEN@github.com, https://u:{password}@github.com, https://u:%s@github.com",
            "https://oauth2:YOUR_TOKEN@gitlab.com, https://bob:<password>@gitlab.com, https://bob:xxxxxx@gitlab.com",
            "https://medium.com/@bob and git@github.com:a/b and https://a.b/c:d@e",
        ] {
            assert!(!has_real_login(text), "{text}");
        }
    }
}
