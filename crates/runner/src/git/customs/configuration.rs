//! The settings that apply in a repository, wherever they come from, as one listing of git's tells them. What they mean
//! is left to whoever asks.

/// All settings, in the order in which git reads them: the last of a name is the one that counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::git) struct Configuration {
    entries: Vec<(String, String)>,
}

impl Configuration {
    /// What to ask git for.
    pub(in crate::git) const QUESTION: [&'static str; 3] = ["config", "--list", "-z"];

    /// Reads the listing. A value begins after the line break that ends the name, and may have others in it; a setting
    /// without one is true.
    pub(in crate::git) fn parse(listing: &[u8]) -> Configuration {
        let listing = String::from_utf8_lossy(listing);
        let settings = listing.split('\0').filter(|setting| !setting.is_empty());
        let entry = |setting: &str| {
            let (name, value) = setting.split_once('\n').unwrap_or((setting, "true"));
            (name.to_owned(), value.to_owned())
        };
        Configuration { entries: settings.map(entry).collect() }
    }

    /// Each setting by its name.
    pub(in crate::git) fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The names of all settings, as git writes them: only what people name themselves may have capitals.
    pub(in crate::git) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
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
        check(b"user.name\nA\0user.name\nB\0", &[("user.name", "A"), ("user.name", "B")]);
        check(b"a.b\none\ntwo\n\0c.d\n\0", &[("a.b", "one\ntwo\n"), ("c.d", "")]);
        check(
            b"filter.x.required\0core.bare\nfalse\0",
            &[("filter.x.required", "true"), ("core.bare", "false")],
        );
        check(b"filter.A=b c.d.smudge\nx = y\0", &[("filter.A=b c.d.smudge", "x = y")]);
        check(b"a.b\n\xff\0", &[("a.b", "\u{fffd}")]);
        check(b"a.b", &[("a.b", "true")]);
    }
}
