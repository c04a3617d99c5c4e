//! Every plan of a project, found by where plans usually are and by what was run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::plan_key::owner;
use crate::project::{PLACES, PlanFile, Project};

/// The folder whose subfolders hold plans with phases.
const PHASES: &str = ".planning/phases";

/// Every plan that can be run: specs, folders of plans, and those elsewhere that were run before; by path.
pub fn plans(project: &Project) -> Vec<PlanFile> {
    let mut places: Vec<String> = Vec::new();
    let here = project.relative(project.here());
    for folder in [Path::new(""), here] {
        for place in PLACES.into_iter().chain([PHASES]) {
            let place = folder.join(place).display().to_string();
            places.extend(names(&project.root().join(&place)).map(|name| format!("{place}/{name}")));
        }
    }
    places.extend(names(&project.root().join(".tillgreen")).map(|home| owner(&home)));
    // What is no plan, or none any more, is not one of them.
    let found = places.iter().filter_map(|place| project.locate(project.root(), Some(place)).ok());
    let by_path: BTreeMap<_, _> = found.map(|file| (file.path.clone(), file)).collect();
    // What is run as a part of a folder of plans is no plan of its own.
    let was_run = |file: &PlanFile| file.journal().is_file();
    let is_part = |file: &PlanFile| {
        let mut folders = file.path.ancestors().skip(1).filter_map(|folder| by_path.get(folder));
        !was_run(file) && folders.any(was_run)
    };
    by_path.values().filter(|file| !is_part(file)).cloned().collect()
}

/// The names in a folder; none if there is no such folder.
fn names(folder: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_listed_with_the_folder_that_is_run() {
        let folder = tempfile::tempdir().unwrap();
        let listed = || {
            let project = Project::discover(folder.path()).unwrap();
            let found = plans(&project);
            found.iter().map(|file| project.relative(&file.path).display().to_string()).collect::<Vec<_>>()
        };
        let write = |file: &str| {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        };
        write(".planning/phases/01-foundation/01-01-PLAN.md");
        assert_eq!(listed(), [".planning/phases/01-foundation"]);
        let home = crate::plan_key::home_name(Path::new(".planning/phases"));
        write(&format!(".tillgreen/{home}/journal.jsonl"));
        assert_eq!(listed(), [".planning/phases"]);
    }

    #[test]
    fn plans_are_found_where_they_are_and_where_they_were_run() {
        let folder = tempfile::tempdir().unwrap();
        for file in [
            "specs/b/tasks.md",
            "specs/a/tasks.md",
            "specs/empty/notes.md",
            ".planning/phases/03-x/03-01-PLAN.md",
            ".planning/phases/03-x/03-02-PLAN.md",
            "sub/specs/demo/tasks.md",
            ".tillgreen/sub-specs-demo/journal.jsonl",
            ".tillgreen/specs-a/journal.jsonl",
            ".tillgreen/specs-gone/journal.jsonl",
        ] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "- [ ] 1.1 A task\n").unwrap();
        }
        let project = Project::discover(folder.path()).unwrap();
        let found: Vec<String> =
            plans(&project).iter().map(|file| project.relative(&file.path).display().to_string()).collect();
        let expected =
            [".planning/phases/03-x", "specs/a/tasks.md", "specs/b/tasks.md", "sub/specs/demo/tasks.md"];
        assert_eq!(found, expected);
    }
}
