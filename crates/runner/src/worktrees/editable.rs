//! A package of the project that Python loads from the project wherever a command is started: an environment outside of the
//! work tree holds it in editable form, and commands there are about other files than the tree's.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use plan::{Python, Script};

use crate::git::Git;
use crate::worktrees::detect::setting;
use crate::worktrees::environment::environment;
use crate::worktrees::scan::names;

/// The sentence for people if a command that is run in a place other than the project loads the project's own package from
/// the project: what leads there, and what to set.
pub(crate) fn loads_project(script: &Script, project: &Path, place: &Path, git: &Git) -> Option<String> {
    let pythons = script.pythons();
    if place == project || pythons.is_empty() {
        return None;
    }
    let search = Search { project, place, path: path_in(project, place) };
    let file = pythons.iter().find_map(|python| search.editable(python))?;
    let set = setting(git).map(|setting| format!("set {setting}"));
    let set = set.unwrap_or_else(|| "have worktree_setup make an environment".to_owned());
    Some(format!(
        "Python loads this project in editable form ({}), so that commands in work trees are about the project's files: \
         {set} in tillgreen.toml, and have commands name what that makes, as in `.venv/bin/python -m pytest`",
        file.display()
    ))
}

/// The paths of programs, as commands are given them in a place.
fn path_in(project: &Path, place: &Path) -> OsString {
    let changes = environment(project, place, 0, std::env::vars_os(), true);
    let moved = changes.into_iter().find(|(name, _)| name == "PATH").and_then(|(_, value)| value);
    moved.or_else(|| std::env::var_os("PATH")).unwrap_or_default()
}

struct Search<'a> {
    project: &'a Path,
    place: &'a Path,
    path: OsString,
}

impl Search<'_> {
    /// The file by which a Python loads the project's package from the project.
    fn editable(&self, python: &Python) -> Option<PathBuf> {
        // What is in the folder itself comes before all that is installed.
        if python.looks_here_first && !self.place.join("src").is_dir() {
            return None;
        }
        let prefixes = prefixes(self.folder_of(&python.program)?.parent()?);
        let folders = prefixes.iter().flat_map(|prefix| packages_in(prefix));
        folders.into_iter().find_map(|folder| leading_file(&folder, self.project))
    }

    /// The folder of a program, as commands find it.
    fn folder_of(&self, program: &str) -> Option<PathBuf> {
        let program = Path::new(program);
        if program.components().count() > 1 {
            let inside = program.strip_prefix(self.project).unwrap_or(program);
            let file = self.place.join(inside);
            return file.is_file().then(|| file.parent().map(Path::to_owned))?;
        }
        std::env::split_paths(&self.path).find(|folder| folder.join(program).is_file())
    }
}

/// The environments that programs beside this folder belong to: the one, or all of those that a version manager chooses from.
fn prefixes(parent: &Path) -> Vec<PathBuf> {
    let versions = fs::read_dir(parent.join("versions")).into_iter().flatten().flatten();
    let mut prefixes = vec![parent.to_owned()];
    if parent.join("shims").is_dir() {
        prefixes.extend(versions.map(|entry| entry.path()));
    }
    if !parent.join("pyvenv.cfg").exists() {
        prefixes.push(parent.join("local"));
        prefixes.extend(std::env::var_os("HOME").map(|home| Path::new(&home).join(".local")));
    }
    prefixes
}

/// The folders of installed packages of an environment.
fn packages_in(prefix: &Path) -> Vec<PathBuf> {
    let versions = fs::read_dir(prefix.join("lib")).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_python =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    versions
        .filter(is_python)
        .flat_map(|version| [version.join("site-packages"), version.join("dist-packages")])
        .collect()
}

/// The file in a folder of packages that leads into the project.
fn leading_file(folder: &Path, project: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| told_in(&entry.path())).collect();
    files.sort();
    files.into_iter().find(|file| names(file, project))
}

/// The file that tells where a package lies, if it is one that is installed in editable form.
fn told_in(entry: &Path) -> Option<PathBuf> {
    let name = entry.file_name().and_then(OsStr::to_str)?;
    if name.ends_with(".dist-info") {
        let file = entry.join("direct_url.json");
        let text = fs::read_to_string(&file).ok()?;
        let value: serde_json::Value = serde_json::from_str(&text).ok()?;
        return (value["dir_info"]["editable"] == true).then_some(file);
    }
    let is_list = [".pth", ".egg-link"].iter().any(|end| name.ends_with(end));
    (is_list || name.starts_with("__editable__")).then(|| entry.to_owned())
}

#[cfg(test)]
mod tests {
    use testkit::Repository;

    use super::*;

    /// A project, a work tree of it and an environment beside them that holds one file.
    struct Bench {
        _folder: tempfile::TempDir,
        repository: Repository,
        place: PathBuf,
        environment: PathBuf,
    }

    impl Bench {
        fn new(source: &str, file: &str, text: &str) -> Bench {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path().canonicalize().unwrap();
            let repository = Repository::init(&top.join("project"), &top.join("home"));
            repository.write(source, "");
            repository.write("pyproject.toml", "[project]\nname = \"pkg\"\n");
            repository.commit_all("first");
            let place = top.join("slot-1");
            repository.git(&["worktree", "add", "-q", "--detach", &place.display().to_string()]);
            let environment = top.join("env");
            let packages = environment.join("lib/python3.11/site-packages");
            for (path, text) in [
                (environment.join("pyvenv.cfg"), String::new()),
                (environment.join("bin/pytest"), String::new()),
                (environment.join("bin/python"), String::new()),
                (packages.join(file), text.replace("<project>", &top.join("project").display().to_string())),
            ] {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Bench { _folder: folder, repository, place, environment }
        }

        fn told(&self, command: &str, place: &Path) -> Option<String> {
            let command = command.replace("<env>", &self.environment.display().to_string());
            let git = Git::in_test(self.repository.root(), &self.repository.environment());
            loads_project(&Script::new(vec![command]), self.repository.root(), place, &git)
        }
    }

    #[test]
    fn an_environment_that_holds_the_project_in_editable_form_is_named() {
        for (file, text) in [
            ("__editable__.pkg-0.1.pth", "<project>/src\n"),
            ("pkg.egg-link", "<project>\n.\n"),
            (
                "pkg-0.1.dist-info/direct_url.json",
                "{\"dir_info\": {\"editable\": true}, \"url\": \"file://<project>\"}",
            ),
        ] {
            let bench = Bench::new("src/pkg/__init__.py", file, text);
            for command in
                ["<env>/bin/pytest -q", "<env>/bin/python -m pytest", "cd tests && <env>/bin/pytest"]
            {
                let told = bench.told(command, &bench.place).unwrap_or_else(|| panic!("{file}: {command}"));
                assert!(told.contains(file) && told.contains("worktree_setup = \"python3 -m venv"), "{told}");
            }
            assert_eq!(
                bench.told("<env>/bin/pytest -q", bench.repository.root()),
                None,
                "the project itself"
            );
            assert_eq!(bench.told("grep -q a b.py", &bench.place), None);
            assert_eq!(bench.told("uv run pytest", &bench.place), None, "it makes its own");
        }
    }

    #[test]
    fn what_leads_elsewhere_is_no_alarm() {
        for (file, text) in [
            ("__editable__.other-0.1.pth", "<project>-of-others/src\n"),
            ("pkg-0.1.dist-info/direct_url.json", "{\"dir_info\": {}, \"url\": \"file://<project>\"}"),
            ("distutils-precedence.pth", "import os\n"),
        ] {
            let bench = Bench::new("src/pkg/__init__.py", file, text);
            assert_eq!(bench.told("<env>/bin/pytest -q", &bench.place), None, "{file}");
        }
        // The package lies where Python looks first.
        let bench = Bench::new("pkg/__init__.py", "__editable__.pkg-0.1.pth", "<project>\n");
        assert_eq!(bench.told("<env>/bin/python -m pytest", &bench.place), None);
        assert!(bench.told("<env>/bin/pytest", &bench.place).is_some());
    }
}
