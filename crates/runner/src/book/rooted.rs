//! What tasks are about, from the project's root: plans also name files of it by their whole path.

use std::path::Path;

/// The root that a plan's own folder, `.tillgreen/NAME`, is in.
pub(super) fn root_of(home: &Path) -> String {
    let root = home.ancestors().find(|path| path.ends_with(crate::tree::OWN_FOLDER)).and_then(Path::parent);
    root.map(|root| root.to_string_lossy().trim_end_matches('/').to_owned()).unwrap_or_default()
}

/// Paths below the root without it, and all others as they are.
pub(super) fn rooted(root: &str, files: Vec<String>) -> Vec<String> {
    let rooted = |file: String| match file.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) {
        Some(inside) if !root.is_empty() && !inside.is_empty() => inside.to_owned(),
        Some(_) | None => file,
    };
    files.into_iter().map(rooted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_paths_are_those_from_the_root() {
        let root = root_of(Path::new("/a/b/.tillgreen/specs-x"));
        let files = ["/a/b/src/c.rs", "/a/bc/d.rs", "/a/b/**/*.md", "src/e.rs", "/a/b"].map(str::to_owned);
        let expected = ["src/c.rs", "/a/bc/d.rs", "**/*.md", "src/e.rs", "/a/b"];
        assert_eq!(rooted(&root, files.to_vec()), expected);
        assert_eq!(rooted("", vec!["/x".to_owned()]), ["/x"]);
    }
}
