//! The documents beside a plan: what it was made from, which an agent may want to read.

use std::fs;
use std::path::{Path, PathBuf};

use plan::Format;

use crate::plan_file::Excerpt;

/// Names of documents, as files of text or as folders.
const NAMES: [&str; 10] = [
    "requirements",
    "design",
    "spec",
    "specs",
    "plan",
    "contracts",
    "proposal",
    "research",
    "quickstart",
    "model",
];

/// The documents of other tools that are meant for all plans, from the project's root; of a folder, what is in it.
const OF_PROJECT: [&str; 5] = [
    ".specify/memory/constitution.md",
    "memory/constitution.md",
    "openspec/project.md",
    "openspec/config.yaml",
    ".kiro/steering",
];

/// The folder that some projects keep all of their plans in; what lies there is meant for each of them.
const PLANNING: &str = ".planning";

/// The documents that another tool keeps for all plans of a project.
pub(crate) fn of_project(root: &Path, format: Format) -> Vec<PathBuf> {
    let place = match format {
        Format::Spec | Format::Phase | Format::Imported => return Vec::new(),
        Format::SpecKit => &OF_PROJECT[..2],
        Format::OpenSpec => &OF_PROJECT[2..4],
        Format::Kiro => &OF_PROJECT[4..],
    };
    place.iter().map(|place| root.join(place)).filter(|path| path.exists()).collect()
}

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

/// Parts of the documents beside a plan that one of its tasks points at: a requirement, a user story.
pub(crate) fn pointed_at(plan: &Path, excerpt: &Excerpt) -> Vec<(String, String)> {
    let read = |name: &str| fs::read_to_string(plan.with_file_name(name)).ok();
    let fields = excerpt.fields();
    let references = fields.others.iter().filter(|(name, _)| name.eq_ignore_ascii_case("requirements"));
    let references: Vec<&str> = references.flat_map(|(_, text)| text.split(',')).collect();
    let mut quoted = Vec::new();
    if let Some(document) = (!references.is_empty()).then(|| read("requirements.md")).flatten() {
        let parts = references.iter().filter_map(|reference| plan::requirement(&document, reference));
        quoted.extend(parts.map(|part| ("requirements.md".to_owned(), part)));
    }
    if let Some((document, story)) = excerpt.story().and_then(|story| Some((read("spec.md")?, story))) {
        let part = plan::user_story(&document, story);
        quoted.extend(part.map(|part| ("spec.md".to_owned(), part)));
    }
    quoted.dedup();
    quoted
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
