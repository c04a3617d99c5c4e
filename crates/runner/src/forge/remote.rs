//! The repository and the forge of a remote.

use crate::git::{Git, GitError};

/// A repository of a forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slug {
    pub(super) host: String,
    pub(super) owner: String,
    pub(super) name: String,
}

/// A remote of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remote {
    pub(super) name: String,
    pub(super) url: String,
}

impl Slug {
    /// Reads the address of a remote: `https://HOST/OWNER/NAME.git`, `git@HOST:OWNER/NAME`, `ssh://…`.
    pub(super) fn of_remote(url: &str) -> Option<Self> {
        let url = url.trim().trim_end_matches('/');
        let (host, path) = match url.split_once("://") {
            Some(("https" | "http" | "ssh" | "git" | "git+ssh", rest)) => rest.split_once('/')?,
            Some(_) => return None,
            None => url.split_once(':')?,
        };
        let host = host.rsplit('@').next()?.split(':').next()?;
        let path = path.trim_start_matches('/');
        let (owner, name) = path.split_once('/')?;
        Self::new(host, owner, name.strip_suffix(".git").unwrap_or(name))
    }

    /// Reads the address of a pull request: `https://HOST/OWNER/NAME/pull/7`.
    pub(super) fn of_pull_request(url: &str) -> Option<Self> {
        let (_, rest) = url.split_once("://")?;
        let mut parts = rest.split('/');
        let (host, owner, name) = (parts.next()?, parts.next()?, parts.next()?);
        Self::new(host, owner, name)
    }

    /// Reads `OWNER/NAME` of the same forge.
    pub(super) fn sibling(&self, full_name: &str) -> Option<Self> {
        let (owner, name) = full_name.split_once('/')?;
        Self::new(&self.host, owner, name)
    }

    fn new(host: &str, owner: &str, name: &str) -> Option<Self> {
        let is_plain = |part: &str| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            !part.is_empty() && !part.starts_with('-') && part.chars().all(allowed)
        };
        let host = if host == "ssh.github.com" { "github.com" } else { host };
        let is_sound = is_plain(host) && is_plain(owner) && is_plain(name) && host.contains('.');
        is_sound.then(|| Self { host: host.to_owned(), owner: owner.to_owned(), name: name.to_owned() })
    }

    /// `OWNER/NAME`.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    /// As `gh` wants it.
    pub(super) fn argument(&self) -> String {
        format!("{}/{}/{}", self.host, self.owner, self.name)
    }
}

/// The remote that a branch is pushed to, as git itself would choose it.
pub(super) fn remote_of(git: &Git, branch: &str) -> Result<Option<Remote>, GitError> {
    let remotes = git.remotes()?;
    let configured = [
        git.config(&format!("branch.{branch}.pushRemote"))?,
        git.config("remote.pushDefault")?,
        git.config(&format!("branch.{branch}.remote"))?,
        Some("origin".to_owned()),
    ];
    let chosen = configured.into_iter().flatten().find(|name| remotes.contains(name));
    let only = || if let [only] = remotes.as_slice() { Some(only.clone()) } else { None };
    let Some(name) = chosen.or_else(only) else { return Ok(None) };
    // The address as it was written says more than what a rewriting rule makes of it, unless it is a shorthand.
    let written = git.config(&format!("remote.{name}.url"))?.unwrap_or_default();
    let url = if Slug::of_remote(&written).is_some() { written } else { git.remote_url(&name)? };
    Ok(Some(Remote { name, url }))
}

#[cfg(test)]
mod tests {
    use super::Slug;

    #[test]
    fn addresses_of_remotes() {
        let check = |url: &str, expected: Option<&str>| {
            assert_eq!(Slug::of_remote(url).map(|slug| slug.argument()).as_deref(), expected, "{url}");
        };
        check("https://github.com/acme/widgets.git", Some("github.com/acme/widgets"));
        check("https://user:secret@github.com/acme/widgets", Some("github.com/acme/widgets"));
        check("git@github.com:acme/widgets.git", Some("github.com/acme/widgets"));
        check("ssh://git@ssh.github.com:443/acme/widgets.git", Some("github.com/acme/widgets"));
        check("ssh://git@forge.example.com:2222/acme/widgets/", Some("forge.example.com/acme/widgets"));
        check("/srv/git/widgets.git", None);
        check("../widgets", None);
        check("file:///srv/git/widgets.git", None);
        check("https://github.com/acme", None);
        check("https://github.com/acme/--upload-pack=evil", None);
        check("git@localhost:a/b", None);
        check("", None);
    }

    #[test]
    fn addresses_of_pull_requests() {
        let slug = Slug::of_pull_request("https://github.com/acme/widgets/pull/7").unwrap();
        assert_eq!(slug.argument(), "github.com/acme/widgets");
        assert_eq!(slug.sibling("mona/widgets").unwrap().argument(), "github.com/mona/widgets");
        assert_eq!(Slug::of_pull_request("nonsense"), None);
        assert_eq!(slug.sibling("nonsense"), None);
    }
}
