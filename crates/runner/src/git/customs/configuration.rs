//! The settings that apply in a repository, wherever they come from, as one listing of git's tells them. What they mean
//! is left to whoever asks.

/// The setting by which working trees have settings of their own.
const WORKTREE_SETTINGS: &str = "extensions.worktreeconfig";

/// Before the names of settings that include others under a condition.
const CONDITIONAL: &str = "includeif.";

/// All settings, in the order in which git reads them: the last of a name is the one that counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::git) struct Configuration {
    entries: Vec<Setting>,
}

#[derive(Debug, PartialEq, Eq)]
struct Setting {
    origin: String,
    name: String,
    value: Option<String>,
}

impl Configuration {
    /// What to ask git for.
    pub(in crate::git) const QUESTION: [&'static str; 4] = ["config", "--list", "--show-origin", "-z"];

    /// Reads the listing: where a setting comes from, and the setting. A value begins after the line break that ends the
    /// name, and may have others in it.
    pub(in crate::git) fn parse(listing: &[u8]) -> Configuration {
        let listing = String::from_utf8_lossy(listing);
        let mut records = listing.split('\0');
        let mut entries = Vec::new();
        while let (Some(origin), Some(setting)) = (records.next(), records.next()) {
            let (name, value) =
                setting.split_once('\n').map_or((setting, None), |(name, value)| (name, Some(value)));
            entries.push(Setting {
                origin: origin.to_owned(),
                name: name.to_owned(),
                value: value.map(str::to_owned),
            });
        }
        Configuration { entries }
    }

    /// Each setting by its name. One without a value is the same as one that is true.
    pub(in crate::git) fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|setting| (setting.name.as_str(), setting.value.as_deref().unwrap_or("true")))
    }

    /// The names of all settings, as git writes them: only what people name themselves may have capitals.
    pub(in crate::git) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|setting| setting.name.as_str())
    }

    /// Where settings come from, as git tells it.
    pub(in crate::git) fn origins(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|setting| setting.origin.as_str())
    }

    /// Whether the same settings apply in all working trees of a repository, which is not so where one has some of its own
    /// or where it depends on the place.
    pub(in crate::git) fn is_for_all_trees(&self) -> bool {
        !self.names().any(|name| name == WORKTREE_SETTINGS || name.starts_with(CONDITIONAL))
    }

    /// Files that are to be read as well, by the place that names them.
    pub(in crate::git) fn included(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_include =
            |name: &str| name == "include.path" || (name.starts_with(CONDITIONAL) && name.ends_with(".path"));
        let included = self.entries.iter().filter(move |setting| is_include(&setting.name));
        included.filter_map(|setting| Some((setting.origin.as_str(), setting.value.as_deref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::Configuration;

    #[test]
    fn names_and_values_of_all_kinds_are_read() {
        let check = |listing: &[u8], expected: &[(&str, &str)]| {
            let configuration = Configuration::parse(listing);
            assert_eq!(configuration.entries().collect::<Vec<_>>(), expected);
        };
        check(b"", &[]);
        check(b"f\0user.name\nA\0f\0user.name\nB\0", &[("user.name", "A"), ("user.name", "B")]);
        check(b"f\0a.b\none\ntwo\n\0f\0c.d\n\0", &[("a.b", "one\ntwo\n"), ("c.d", "")]);
        check(
            b"f\0filter.x.required\0f\0core.bare\nfalse\0",
            &[("filter.x.required", "true"), ("core.bare", "false")],
        );
        check(b"f\0filter.A=b c.d.smudge\nx = y\0", &[("filter.A=b c.d.smudge", "x = y")]);
        check(b"f\0a.b\n\xff\0", &[("a.b", "\u{fffd}")]);
        check(b"f\0a.b", &[("a.b", "true")]);
        check(b"f", &[]);
    }

    #[test]
    fn what_is_included_is_told_with_who_includes_it() {
        let configuration = Configuration::parse(
            b"file:.git/config\0include.path\n../mine\0file:x\0includeif.gitdir:a/.path\n~/b\0",
        );
        assert_eq!(configuration.origins().collect::<Vec<_>>(), ["file:.git/config", "file:x"]);
        let expected = [("file:.git/config", "../mine"), ("file:x", "~/b")];
        assert_eq!(configuration.included().collect::<Vec<_>>(), expected);
    }
}
