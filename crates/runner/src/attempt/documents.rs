//! The documents beside a plan: what it was made from, which an agent may want to read.

use std::fs;
use std::path::{Path, PathBuf};

/// Names of documents, as files of text or as folders.
const NAMES: [&str; 5] = ["requirements", "design", "spec", "plan", "contracts"];

/// The folder that some projects keep all of their plans in; what lies there is meant for each of them.
const PLANNING: &str = ".planning";

/// The documents beside a plan, in order of their names; plans are none.
pub(crate) fn beside(plan: &Path, plans: &[PathBuf]) -> Vec<PathBuf> {
    let folder = plan.parent();
    let above = plan.ancestors().skip(2).find(|folder| folder.ends_with(PLANNING));
    let mut documents: Vec<PathBuf> = folder.into_iter().chain(above).flat_map(documents_in).collect();
    documents.retain(|path| path != plan && !plans.contains(path));
    documents.sort();
    documents
}

fn documents_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).filter(|path| is_document(path)).collect()
}

fn is_document(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let stem = if path.is_dir() { Some(name.as_str()) } else { name.strip_suffix(".md") };
    let is_plan = stem.is_some_and(|stem| stem.ends_with("-plan"));
    let word = stem.and_then(|stem| stem.rsplit('-').next());
    word.is_some_and(|word| NAMES.contains(&word)) && !is_plan
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[&str], plan: &str, expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let plan = folder.path().join(plan);
        let found = beside(&plan, std::slice::from_ref(&plan));
        let found: Vec<_> = found.iter().map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
        assert_eq!(found, expected.iter().map(Path::new).collect::<Vec<_>>());
    }

    #[test]
    fn documents_are_known_by_their_names() {
        check(
            &[
                "a/tasks.md",
                "a/design.md",
                "a/Requirements.md",
                "a/contracts/api.yaml",
                "a/notes.md",
                "b/spec.md",
            ],
            "a/tasks.md",
            &["a/Requirements.md", "a/contracts", "a/design.md"],
        );
        let phase = ".planning/phases/03-x/";
        check(
            &[
                &format!("{phase}03-01-PLAN.md"),
                &format!("{phase}03-02-PLAN.md"),
                &format!("{phase}03-DESIGN.md"),
                ".planning/REQUIREMENTS.md",
                "spec.md",
            ],
            &format!("{phase}03-01-PLAN.md"),
            &[".planning/REQUIREMENTS.md", &format!("{phase}03-DESIGN.md")],
        );
        check(&["plan.md"], "plan.md", &[]);
    }
}
