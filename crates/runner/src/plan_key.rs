//! Under which name the program keeps its own things of a plan. Different plans never have the same one, whichever of them
//! was run first, and a plan has the same one at every start.

use std::path::Path;

use sha2::{Digest, Sha256};

/// The other names in the program's folder.
const TAKEN: [&str; 3] = ["logs", "project.lock", "current-spec"];

/// Sets what tells plans apart off from a name that several of them could have. No plain name has it.
const MARK: char = '+';

/// Where plans are called by the name of their folder, which may have dashes.
const NAMED: [(&str, &str); 3] =
    [("specs-", "specs"), ("openspec-changes-", "openspec/changes"), (".kiro-specs-", ".kiro/specs")];

/// The characters that are kept of a name that several plans could have.
const CHARS_MAX: usize = 60;

/// The bytes of the sum that tell such plans apart.
const SUM_BYTES: usize = 6;

/// A folder name that is the plan's alone: `specs/auth/tasks.md` becomes `specs-auth`. The path is that from the project's
/// root.
pub(crate) fn home_name(relative: &Path) -> String {
    let plain = plain_name(relative);
    let is_taken = TAKEN.contains(&plain.as_str());
    if !is_taken && Path::new(&owner(&plain)) == relative {
        return plain;
    }
    let sum = Sha256::digest(relative.as_os_str().as_encoded_bytes());
    let sum: String = sum.iter().take(SUM_BYTES).map(|byte| format!("{byte:02x}")).collect();
    let plain: String = plain.chars().take(CHARS_MAX).collect();
    format!("{plain}{MARK}{sum}")
}

/// By what a plan with this folder is told from others in references and commits: a spec where specs are by its name.
pub(crate) fn key(home: &str) -> String {
    match home.strip_prefix("specs-") {
        _ if home.contains(MARK) => home.to_owned(),
        Some(name) => name.to_owned(),
        None => format!("{MARK}{home}"),
    }
}

/// The folder of the plan that a key tells from others.
pub(crate) fn home_of(key: &str) -> String {
    match key.strip_prefix(MARK) {
        Some(home) => home.to_owned(),
        None if key.contains(MARK) => key.to_owned(),
        None => format!("specs-{key}"),
    }
}

/// The plan of a key for people: a spec's name, or the path of another plan as far as the key tells it.
pub(crate) fn told(key: &str) -> String {
    match key.strip_prefix(MARK) {
        Some(home) => owner(home),
        None => key.to_owned(),
    }
}

fn plain_name(relative: &Path) -> String {
    let text = relative.to_string_lossy();
    let text = text.strip_suffix(".md").unwrap_or(&text);
    let text = text.strip_suffix("/tasks").unwrap_or(text);
    let keep = |character: char| {
        if character.is_alphanumeric() || matches!(character, '.' | '_') { character } else { '-' }
    };
    let name: String = text.trim_start_matches('/').chars().map(keep).collect();
    if name.is_empty() { "plan".to_owned() } else { name }
}

/// The one plan that has a plain name, of all whose paths lead to it: a spec or a phase whose name has dashes, where those
/// usually are; elsewhere dashes stand for folders.
pub(crate) fn owner(plain: &str) -> String {
    if plain == "tasks" {
        return "tasks.md".to_owned();
    }
    for (prefix, place) in NAMED {
        if let Some(name) = plain.strip_prefix(prefix) {
            return format!("{place}/{name}/tasks.md");
        }
    }
    let (folder, file) = split_plan(plain);
    let place = match folder.strip_prefix(".planning-phases-") {
        Some(phase) => format!(".planning/phases/{phase}"),
        None => folder.replace('-', "/"),
    };
    let is_of_plans = folder == ".planning" || place.starts_with(".planning/phases");
    match file {
        Some(file) if place.is_empty() => format!("{file}.md"),
        Some(file) => format!("{place}/{file}.md"),
        None if is_of_plans => place,
        None => format!("{place}/tasks.md"),
    }
}

/// Sets `03-01-PLAN` off from the folder before it.
fn split_plan(plain: &str) -> (&str, Option<&str>) {
    let is_number = |part: &str| part.starts_with(|digit: char| digit.is_ascii_digit());
    let mut dashes = plain.rmatch_indices('-').map(|(place, _)| place);
    let (Some(last), Some(middle)) = (dashes.next(), dashes.next()) else { return (plain, None) };
    let start = dashes.next().map_or(0, |place| place + 1);
    let is_plan =
        &plain[last..] == "-PLAN" && is_number(&plain[start..middle]) && is_number(&plain[middle + 1..last]);
    if !is_plan {
        return (plain, None);
    }
    (&plain[..start.saturating_sub(1)], Some(&plain[start..]))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn what_is_where_such_things_are_has_a_plain_name() {
        let check = |path: &str, home: &str, expected: &str| {
            assert_eq!(home_name(Path::new(path)), home);
            assert_eq!(key(home), expected);
            let is_spec = expected == path.trim_start_matches("specs/").trim_end_matches("/tasks.md");
            assert_eq!(told(expected), if is_spec { expected } else { path });
        };
        check("specs/auth/tasks.md", "specs-auth", "auth");
        check("specs/a-b_2.0/tasks.md", "specs-a-b_2.0", "a-b_2.0");
        check("specs/über/tasks.md", "specs-über", "über");
        check("sub/specs/demo/tasks.md", "sub-specs-demo", "+sub-specs-demo");
        check("openspec/changes/add-x/tasks.md", "openspec-changes-add-x", "+openspec-changes-add-x");
        check(".kiro/specs/a-b/tasks.md", ".kiro-specs-a-b", "+.kiro-specs-a-b");
        check("tasks.md", "tasks", "+tasks");
        check(".planning/phases", ".planning-phases", "+.planning-phases");
        check(".planning/phases/01.5-a-b", ".planning-phases-01.5-a-b", "+.planning-phases-01.5-a-b");
        let file = ".planning-phases-03-x-03-01-PLAN";
        check(".planning/phases/03-x/03-01-PLAN.md", file, &format!("+{file}"));
        check("03-01-PLAN.md", "03-01-PLAN", "+03-01-PLAN");
    }

    #[test]
    fn different_plans_have_different_names() {
        let paths = [
            "specs/a-b/tasks.md",
            "openspec/changes/a-b/tasks.md",
            "openspec/changes/a/b/tasks.md",
            ".kiro/specs/a-b/tasks.md",
            ".kiro/specs-a/b/tasks.md",
            "specs/a/b/tasks.md",
            "specs/a b/tasks.md",
            "specs/a@b/tasks.md",
            "specs-a/b/tasks.md",
            "specs-a-b/tasks.md",
            "specs-a-b.md",
            "specs/a-b.md",
            "specs/a/b.md",
            "specs/a/b",
            "specs/s/tasks.md",
            "s/tasks.md",
            "/s/tasks.md",
            "s.md",
            "s",
            "s.v1",
            "s.v2",
            "a/s/tasks.md",
            "a-s/tasks.md",
            "specs/a-s/tasks.md",
            "tasks.md",
            "tasks/tasks.md",
            "tasks",
            "plan.md",
            "plan/tasks.md",
            "",
            "logs/tasks.md",
            "current/spec/tasks.md",
            "turn/tasks.md",
            ".planning",
            ".planning/tasks.md",
            ".planning/phases",
            ".planning/phases/tasks.md",
            ".planning-phases",
            ".planning/phases/a/b",
            ".planning/phases/a-b",
            ".planning/phases/a-03/01-PLAN.md",
            ".planning/phases/a/03-01-PLAN.md",
            ".planning/phases/a-03-01-PLAN",
            ".planning/phases/a-03-01/PLAN.md",
            "a/03-01-PLAN.md",
            "a/03/01/PLAN/tasks.md",
            "03-01-PLAN.md",
            "03/01/PLAN/tasks.md",
            "-03-01-PLAN.md",
            "specs/03-01-PLAN.md",
            "specs/03-01-PLAN/tasks.md",
        ];
        let mut homes = BTreeMap::new();
        let mut keys = BTreeMap::new();
        for path in paths {
            let home = home_name(Path::new(path));
            assert!(!TAKEN.contains(&home.as_str()), "{path}");
            assert_eq!(home_of(&key(&home)), home, "{path}");
            assert_eq!(keys.insert(key(&home), path), None, "{path}");
            assert_eq!(homes.insert(home, path), None, "{path}");
        }
    }

    #[test]
    fn a_long_path_has_a_name_that_a_folder_can_have() {
        let [one, other] = ["x", "y"].map(|end| home_name(Path::new(&format!("{}/{end}", "é/".repeat(500)))));
        assert!(one.len() < 255 && one != other, "{one}");
    }
}
