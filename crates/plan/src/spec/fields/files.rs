//! The Files field: the paths among what people write around them, and what of it nobody can tell.

mod entry;
mod link;
mod name;

use std::collections::BTreeSet;

use entry::Entry;

/// The pattern for every file there is.
pub const ANY_FILE: &str = "**";

/// Which files a task is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// The field as written.
    pub text: String,
    /// The paths and globs named in it, in order, each once.
    pub paths: Vec<String>,
    /// Text in it that names no path: prose such as `All documentation files`.
    pub unclear: Vec<String>,
}

impl Files {
    /// Reads the text of the field.
    pub(crate) fn read(text: &str) -> Self {
        let mut files = Files { text: text.to_owned(), ..Files::default() };
        let mut seen = BTreeSet::new();
        for line in text.lines() {
            for entry in entry::entries(&link::targets(line)) {
                match entry {
                    Entry::Path(path) => {
                        let path = name::normalized_path(path);
                        files.paths.extend(seen.insert(path.clone()).then_some(path));
                    }
                    Entry::Unclear(words) => files.unclear.push(words),
                }
            }
        }
        files
    }

    /// The paths that a task with this field has to be taken to be about: where part of it cannot be told, anything.
    pub fn reach(&self) -> Vec<String> {
        let anything = (!self.unclear.is_empty()).then(|| ANY_FILE.to_owned());
        self.paths.iter().cloned().chain(anything).collect()
    }
}
