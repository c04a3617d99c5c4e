//! Lists of paths that work trees are furnished with.

use std::path::{Component, Path};

/// Paths, separated by commas, each once and none inside another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathList(pub(crate) Vec<String>);

impl PathList {
    /// A list of paths that do not lead out of the project. What stands there twice, or lies in another, is there already.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let listed = text.split(',').map(str::trim).filter(|path| !path.is_empty());
        let mut listed: Vec<String> = listed.map(plain).collect();
        let leads_out = |path: &&String| {
            let mut parts = Path::new(path.as_str()).components();
            path.is_empty() || !parts.all(|part| matches!(part, Component::Normal(name) if name != ".git"))
        };
        if let Some(path) = listed.iter().find(leads_out) {
            return Err(format!("`{path}` is not a path inside the project"));
        }
        let all = listed.clone();
        let mut place = 0;
        listed.retain(|path| {
            place += 1;
            let is_double = all.iter().take(place - 1).any(|other| other == path);
            !is_double && !all.iter().any(|other| other != path && lies_in(path, other))
        });
        Ok(Self(listed))
    }

    /// A path of this list and one of another that are the same, or one inside the other.
    pub(super) fn clash<'a>(&'a self, other: &'a Self) -> Option<(&'a str, &'a str)> {
        let pairs = self.0.iter().flat_map(|path| other.0.iter().map(move |other| (path, other)));
        let mut clashes = pairs.filter(|(path, other)| lies_in(path, other) || lies_in(other, path));
        clashes.next().map(|(path, other)| (path.as_str(), other.as_str()))
    }
}

/// Without what makes the same path look different.
fn plain(path: &str) -> String {
    let parts = path.split('/').enumerate();
    // A slash at the very beginning says something else.
    let parts = parts.filter(|(place, part)| !(part.is_empty() && *place > 0 || *part == "."));
    parts.map(|(_, part)| part).collect::<Vec<_>>().join("/")
}

fn lies_in(path: &str, folder: &str) -> bool {
    Path::new(path).starts_with(folder)
}

#[cfg(test)]
mod tests {
    use super::PathList;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let expected: Vec<String> = expected.iter().map(|path| (*path).to_owned()).collect();
        assert_eq!(PathList::parse(text), Ok(PathList(expected)), "{text:?}");
    }

    #[test]
    fn each_path_is_there_once() {
        check("", &[]);
        check("a, b/c/", &["a", "b/c"]);
        check("nm,nm", &["nm"]);
        check("nm,./nm,nm/,nm/.", &["nm"]);
        check("nm/p,nm,nm2", &["nm", "nm2"]);
        check("./a//b,a/b", &["a/b"]);
    }

    #[test]
    fn what_leads_out_is_refused() {
        for text in ["..", "a/../..", "/a", ".", ".git", "a/.git/b"] {
            assert!(PathList::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn lists_clash_where_they_name_the_same() {
        let list = |text: &str| PathList::parse(text).expect("it is a list");
        assert_eq!(list("a,nm").clash(&list("nm")), Some(("nm", "nm")));
        assert_eq!(list("nm").clash(&list("a,nm/p")), Some(("nm", "nm/p")));
        assert_eq!(list("nm/p").clash(&list("nm")), Some(("nm/p", "nm")));
        assert_eq!(list("nm,b").clash(&list("nm2")), None);
    }
}
