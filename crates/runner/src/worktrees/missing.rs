//! A command that is red in a work tree for want of something that the project has and git ignores: packages, a virtual
//! environment, local files. It is told apart from a failure of the work by looking: what the output names has to be in
//! the project, ignored, and not in the work tree.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::git::Git;
use crate::worktrees::detect::{environments, propose_setup};

/// The number of lines at the end of an output that are read.
const LINES_MAX: usize = 400;
/// The number of names that are looked for.
const NAMES_MAX: usize = 60;

/// Something that an output says is missing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Wanted {
    /// A package of Node, or a path that it loads, with the file that loads it where that is told.
    Node { name: String, from: Option<String> },
    /// A module of Python.
    Python(String),
    /// A program.
    Program(String),
    /// A file or folder.
    Path(String),
}

/// The sentence for people if a red command in a place names something that the project has, that git ignores, and that the
/// place lacks: what it is, and what to set.
pub(crate) fn missing(output: &str, project: &Path, place: &Path, git: &Git) -> Option<String> {
    lacking(output, project, place, git).map(|lacking| lacking.told)
}

/// What a place lacks that the project has and git ignores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lacking {
    /// Where it is in the project: a file, or the folder that holds it.
    pub(crate) path: String,
    /// The thing that brings it.
    pub(crate) by: BroughtBy,
    /// What it is and what to set, in words.
    pub(crate) told: String,
}

/// The thing that brings what a place lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BroughtBy {
    /// A package manager, or git itself, which did not run there.
    Setup,
    /// A package manager that ran there and did not bring it: what is committed does not name it.
    Nothing,
    /// Whoever wrote it.
    Hand,
}

/// The same with where it is.
pub(crate) fn lacking(output: &str, project: &Path, place: &Path, git: &Git) -> Option<Lacking> {
    let search = Search { project, place, git };
    let mut lines: Vec<&str> = output.lines().rev().take(LINES_MAX).collect();
    lines.reverse();
    let mut seen = BTreeSet::new();
    for wanted in lines.into_iter().flat_map(wanted_in).take(NAMES_MAX) {
        if seen.insert(wanted.clone())
            && let Some(told) = search.told(&wanted)
        {
            return Some(told);
        }
    }
    None
}

struct Search<'a> {
    project: &'a Path,
    place: &'a Path,
    git: &'a Git,
}

/// True if a folder holds more than the caches of tools.
fn is_filled(folder: &Path) -> bool {
    let mut names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.any(|name| !name.to_string_lossy().starts_with('.'))
}

impl Search<'_> {
    fn told(&self, wanted: &Wanted) -> Option<Lacking> {
        match wanted {
            Wanted::Node { name, from } => self.node(name, from.as_deref()),
            Wanted::Python(name) => self.python(name),
            Wanted::Program(name) => self.program(name),
            Wanted::Path(path) => self.path(path),
        }
    }

    fn node(&self, name: &str, from: Option<&str>) -> Option<Lacking> {
        if name.starts_with(['.', '/']) {
            let folder = from.and_then(|from| Path::new(from).parent()).unwrap_or(Path::new(""));
            return self.path(&self.inside(&folder.join(name))?);
        }
        let mut parts = name.split('/');
        let first = parts.next()?;
        let package =
            if first.starts_with('@') { format!("{first}/{}", parts.next()?) } else { first.to_owned() };
        self.in_packages(&package, &format!("the package `{package}`"))
    }

    fn python(&self, name: &str) -> Option<Lacking> {
        let top = name.split('.').next()?;
        for environment in environments(self.project) {
            let found = site_packages(&self.project.join(&environment))
                .into_iter()
                .any(|folder| has_module(&folder, top));
            let has_own = site_packages(&self.place.join(&environment))
                .into_iter()
                .any(|folder| has_module(&folder, top));
            if found && !has_own {
                return Some(self.set_up(&format!("the module `{top}` of Python"), &environment));
            }
        }
        let path = name.replace('.', "/");
        ["", "src/"].iter().find_map(|folder| {
            self.path(&format!("{folder}{path}.py")).or_else(|| self.path(&format!("{folder}{path}")))
        })
    }

    fn program(&self, name: &str) -> Option<Lacking> {
        if name.contains('/') {
            return self.path(&self.inside(Path::new(name))?);
        }
        let what = format!("the program `{name}`");
        for environment in environments(self.project) {
            if self.is_only_in_project(&format!("{environment}/bin/{name}")) {
                return Some(self.set_up(&what, &environment));
            }
        }
        if self.is_only_in_project(&format!("vendor/bin/{name}")) {
            return Some(self.set_up(&what, "vendor"));
        }
        self.in_packages(&format!(".bin/{name}"), &what)
    }

    fn path(&self, path: &str) -> Option<Lacking> {
        let path = self.inside(Path::new(path))?;
        let ends = ["", ".js", ".ts", ".mjs", ".cjs", ".json", "/index.js", "/index.ts"];
        let found =
            ends.iter().map(|end| format!("{path}{end}")).find(|path| self.is_there_only_in_project(path))?;
        if let Some(submodule) = self.submodule_of(&found) {
            let told = format!(
                "`{found}` is in the submodule {submodule}, which is empty in work trees: set worktree_setup = \"git \
                 submodule update --init --recursive\" in tillgreen.toml"
            );
            return Some(Lacking { path: submodule, by: BroughtBy::Setup, told });
        }
        let ignored = self.git.ignored_among(std::slice::from_ref(&found)).unwrap_or_default();
        if ignored.is_empty() {
            return None;
        }
        let top = self.top_of(&found);
        let is_installed = |name: &str| {
            ["node_modules", "vendor"].contains(&name)
                || environments(self.project).contains(&name.to_owned())
        };
        let is_installed = top.rsplit('/').next().is_some_and(is_installed);
        if is_installed || is_made(&found) {
            let lacking = self.set_up(&format!("`{found}`"), &top);
            let by = if is_installed { lacking.by } else { BroughtBy::Hand };
            return Some(Lacking { path: found, by, ..lacking });
        }
        let told = format!(
            "`{found}` is in the project, where git ignores it, and not in the work tree: set worktree_copy = [\"{found}\"] in \
             tillgreen.toml, or have worktree_setup make it"
        );
        Some(Lacking { path: found, by: BroughtBy::Hand, told })
    }

    /// Whatever is in a folder of packages, at the top or on the way to a workspace.
    fn in_packages(&self, inside: &str, what: &str) -> Option<Lacking> {
        let folders = self.git.ignored_in_project().unwrap_or_default();
        let folders = folders.iter().map(|folder| folder.trim_end_matches('/'));
        let mut packages = folders.filter(|folder| folder.rsplit('/').next() == Some("node_modules"));
        let folder = packages.find(|folder| self.is_there_only_in_project(&format!("{folder}/{inside}")))?;
        Some(self.set_up(what, folder))
    }

    fn set_up(&self, what: &str, folder: &str) -> Lacking {
        if is_filled(&self.place.join(folder)) {
            let told = format!(
                "{what} is in {folder} of the project, which git ignores, and worktree_setup does not install it: name it where \
                 that looks, as in package.json or requirements.txt"
            );
            return Lacking { path: folder.to_owned(), by: BroughtBy::Nothing, told };
        }
        let proposal = propose_setup(self.git).ok().flatten();
        let setting = match proposal {
            Some(proposal) => format!("set worktree_setup = {}", quoted(&proposal.command)),
            None => "set worktree_setup to the command that makes it".to_owned(),
        };
        let told = format!(
            "{what} is in {folder} of the project, which git ignores, and not in the work tree: {setting} in tillgreen.toml"
        );
        Lacking { path: folder.to_owned(), by: BroughtBy::Setup, told }
    }

    /// True if a path is there in the project, git ignores it, and the place lacks it.
    fn is_only_in_project(&self, path: &str) -> bool {
        let ignored = || self.git.ignored_among(&[path.to_owned()]).unwrap_or_default();
        self.is_there_only_in_project(path) && !ignored().is_empty()
    }

    fn is_there_only_in_project(&self, path: &str) -> bool {
        self.project.join(path).exists() && !self.place.join(path).exists()
    }

    /// A path from the top of the project, for one in the place, in the project, or from their top.
    fn inside(&self, path: &Path) -> Option<String> {
        let path =
            [self.place, self.project].iter().find_map(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        let mut plain = PathBuf::new();
        for component in path.components() {
            match component {
                Component::Normal(name) => plain.push(name),
                Component::CurDir => {}
                Component::ParentDir if plain.pop() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        plain.to_str().filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// The outermost folder on the way to a path that the place lacks.
    fn top_of(&self, path: &str) -> String {
        let mut ancestors: Vec<&Path> =
            Path::new(path).ancestors().filter(|path| !path.as_os_str().is_empty()).collect();
        ancestors.reverse();
        let lacking = ancestors.into_iter().find(|folder| !self.place.join(folder).exists());
        lacking.and_then(Path::to_str).unwrap_or(path).to_owned()
    }

    fn submodule_of(&self, path: &str) -> Option<String> {
        let text = fs::read_to_string(self.project.join(".gitmodules")).ok()?;
        let places =
            text.lines().filter_map(|line| line.trim().strip_prefix("path")?.trim().strip_prefix('='));
        places.map(str::trim).find(|place| Path::new(path).starts_with(place)).map(str::to_owned)
    }
}

/// True for what is built: a copy of it would be about other sources.
fn is_made(path: &str) -> bool {
    path.split('/').any(|name| ["dist", "build", "out", "target", ".next"].contains(&name))
}

/// A text as a value in the settings.
fn quoted(text: &str) -> String {
    if text.contains(['"', '\\']) && !text.contains('\'') { format!("'{text}'") } else { format!("{text:?}") }
}

fn site_packages(environment: &Path) -> Vec<PathBuf> {
    let versions = fs::read_dir(environment.join("lib")).into_iter().flatten().flatten();
    versions.map(|entry| entry.path().join("site-packages")).filter(|folder| folder.is_dir()).collect()
}

/// True if a folder of packages has a module, or something that installed it under a name like it.
fn has_module(folder: &Path, name: &str) -> bool {
    if folder.join(name).exists() || folder.join(format!("{name}.py")).exists() {
        return true;
    }
    // A compiled one has the version in its name, and one in editable form only a list of paths.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let wanted = name.to_lowercase();
    let is_it = |entry: fs::DirEntry| {
        let file = entry.file_name().to_string_lossy().to_lowercase().replace('-', "_");
        let is_compiled = file.starts_with(&format!("{wanted}.")) && file.ends_with(".so");
        let is_installed = file.starts_with(&format!("{wanted}_")) && file.ends_with(".dist_info");
        is_compiled || is_installed || file.starts_with(&format!("__editable__.{wanted}_"))
    };
    entries.into_iter().any(is_it)
}

/// The things that a line says are missing. The more is found, the more is looked for; nothing else comes of it.
fn wanted_in(line: &str) -> Vec<Wanted> {
    let line = line.trim();
    let mut wanted = Vec::new();
    let node = [
        "Cannot find module ",
        "Cannot find package ",
        "Can't resolve ",
        "Could not resolve ",
        "Failed to resolve import ",
        "Cannot resolve module ",
        "Unable to resolve path to module ",
    ];
    for words in node {
        if let Some((_, rest)) = line.split_once(words)
            && let Some((name, behind)) = quoted_in(rest)
        {
            wanted.push(Wanted::Node { name, from: importer(line, behind) });
        }
    }
    if let Some((_, rest)) = line.split_once("No module named ") {
        let name = quoted_in(rest).map_or_else(|| first_word(rest), |(name, _)| name);
        wanted.push(Wanted::Python(name.trim_matches(['\'', '"', ';', ',']).to_owned()));
    }
    wanted.extend(program_in(line).map(Wanted::Program));
    let is_about_file = [
        "No such file or directory",
        "no such file or directory",
        "ENOENT",
        "not found",
        "does not exist",
        "cannot load such file",
        "Failed opening",
        "Failed to open",
        "No rule to make target",
        "cannot open",
        "couldn't read",
    ];
    if is_about_file.iter().any(|words| line.contains(words)) {
        wanted.extend(paths_in(line).into_iter().map(Wanted::Path));
    }
    wanted
}

/// The text in quotes at the beginning, and what follows it.
fn quoted_in(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|character| "'\"`‘".contains(*character))?;
    let end = if quote == '‘' { '’' } else { quote };
    let (name, behind) = text.get(quote.len_utf8()..)?.split_once(end)?;
    Some((name.to_owned(), behind))
}

/// The file that wants to load something: behind `from`, or at the beginning of a diagnostic.
fn importer(line: &str, behind: &str) -> Option<String> {
    if let Some((_, rest)) = behind.split_once("from ")
        && let Some((file, _)) = quoted_in(rest.trim())
    {
        return Some(file);
    }
    let (file, _) = line.split_once(['(', ':'])?;
    (file.contains('.') && !file.contains(' ')).then(|| file.to_owned())
}

/// `sh: 1: jest: not found`, `bash: line 1: jest: command not found`, `env: ‘jest’: No such file or directory`.
fn program_in(line: &str) -> Option<String> {
    let ends = [": command not found", ": not found", ": No such file or directory", ": Permission denied"];
    let rest = ends.into_iter().find_map(|end| line.strip_suffix(end))?;
    let shells = ["sh: ", "bash: ", "/bin/sh: ", "/bin/bash: ", "env: ", "/usr/bin/env: ", "make: ", "zsh: "];
    // A script tells its own name and a line: `.husky/pre-commit: 2: lint-staged: not found`.
    let is_line = |part: &str| part.trim_start_matches("line ").parse::<u32>().is_ok();
    let is_of_script = rest.rsplit(": ").nth(1).is_some_and(is_line);
    shells.iter().find(|shell| is_of_script || rest.starts_with(**shell))?;
    let name = rest.rsplit(": ").next()?.trim_matches(['\'', '"', '‘', '’', '`']);
    (!name.is_empty() && !name.contains(' ')).then(|| name.to_owned())
}

/// Words that can be paths: those in quotes, and those that look like one.
fn paths_in(line: &str) -> Vec<String> {
    let is_gap = |character: char| character.is_whitespace() || "'\"`‘’,;()[]<>=".contains(character);
    let words = line.split(is_gap).map(|word| word.trim_matches([':', '.']).trim_start_matches("file://"));
    let mut paths: Vec<String> = Vec::new();
    for (word, whole) in words.zip(line.split(is_gap)) {
        // A dot at its beginning is part of a name.
        let word = if whole.starts_with('.') { whole.trim_end_matches([':', '.', ',']) } else { word };
        if word.contains(['.', '/']) && word.chars().any(char::is_alphanumeric) {
            paths.push(word.to_owned());
        }
    }
    paths
}

fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use testkit::Repository;

    use super::*;

    struct Both {
        _folder: tempfile::TempDir,
        repository: Repository,
        place: PathBuf,
    }

    impl Both {
        /// A project with much that git ignores, and a work tree with nothing of it.
        fn new(manifest: &str) -> Both {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path().canonicalize().unwrap();
            let repository = Repository::init(&top.join("project"), &top.join("home"));
            repository.write(manifest, "");
            repository.write("src/app.js", "");
            repository.write(
                ".gitignore",
                "node_modules/\n.venv/\ndist/\n*.secret\nsrc/generated/\n/vendor/\n/.env\n",
            );
            repository.commit_all("first");
            for path in [
                "node_modules/left-pad/index.js",
                "node_modules/@scope/tool/index.js",
                "packages/a/node_modules/deep/index.js",
                ".venv/pyvenv.cfg",
                ".venv/lib/python3.11/site-packages/yaml/__init__.py",
                ".venv/lib/python3.11/site-packages/_cffi.cpython-311-x86_64-linux-gnu.so",
                ".venv/bin/pytest",
                "vendor/autoload.php",
                "vendor/bin/phpunit",
                "dist/index.js",
                "config/api.secret",
                "src/generated/client.js",
                ".env",
                "untracked.txt",
            ] {
                repository.write(path, "x");
            }
            fs::create_dir_all(repository.root().join("node_modules/.bin")).unwrap();
            symlink("../left-pad/index.js", repository.root().join("node_modules/.bin/jest")).unwrap();
            let place = top.join("slot-1");
            repository.git(&["worktree", "add", "-q", "--detach", &place.display().to_string()]);
            Both { _folder: folder, repository, place }
        }

        fn missing(&self, output: &str) -> Option<String> {
            let output = output.replace("<slot>", &self.place.display().to_string());
            let git = Git::in_test(self.repository.root(), &self.repository.environment());
            missing(&output, self.repository.root(), &self.place, &git)
        }
    }

    const NPM: &str = "and not in the work tree: set worktree_setup = \"npm ci\" in tillgreen.toml";

    #[test]
    fn what_the_project_has_and_git_ignores_is_named() {
        let both = Both::new("package-lock.json");
        let check = |output: &str, what: &str, setting: &str| {
            let told = both.missing(output).unwrap_or_else(|| panic!("{output}"));
            assert!(told.starts_with(what) && told.contains(setting), "{output}: {told}");
        };
        let package = "the package `left-pad` is in node_modules of the project, which git ignores";
        let node = "node:internal/modules/cjs/loader:1228\n  throw err;\n\nError: Cannot find module 'left-pad'\nRequire stack:\n- <slot>/src/app.js\n    at Module._load\n  code: 'MODULE_NOT_FOUND',\n";
        check(node, package, NPM);
        check(
            "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'left-pad' imported from <slot>/src/app.js",
            package,
            NPM,
        );
        check(
            "    Cannot find module 'left-pad/sub' from 'src/app.js'\n\n    Require stack:\n",
            package,
            NPM,
        );
        check(
            "src/app.ts(1,21): error TS2307: Cannot find module 'left-pad' or its corresponding type declarations.",
            package,
            NPM,
        );
        check(
            "Error: Failed to resolve import \"left-pad\" from \"src/app.js\". Does the file exist?",
            package,
            NPM,
        );
        check("✘ [ERROR] Could not resolve \"left-pad\"", package, NPM);
        check("Module not found: Error: Can't resolve 'left-pad' in '<slot>/src'", package, NPM);
        check("Cannot find module '@scope/tool/x'", "the package `@scope/tool` is in node_modules", NPM);
        check("Cannot find module 'deep'", "the package `deep` is in packages/a/node_modules", NPM);
        check(
            "\n> test\n> jest\n\nsh: 1: jest: not found\n",
            "the program `jest` is in node_modules of the project",
            NPM,
        );
        check("bash: line 1: jest: command not found", "the program `jest` is in node_modules", NPM);
        check(".husky/pre-commit: 2: jest: not found", "the program `jest` is in node_modules", NPM);
        check(
            "bash: line 1: ./node_modules/.bin/jest: No such file or directory",
            "`node_modules/.bin/jest` is in node_modules",
            NPM,
        );
        check(
            "bash: line 1: vendor/bin/phpunit: No such file or directory",
            "`vendor/bin/phpunit` is in vendor",
            "worktree_setup",
        );
        let php = "PHP Fatal error:  Uncaught Error: Failed opening required '<slot>/vendor/autoload.php' (include_path='.')";
        check(php, "`vendor/autoload.php` is in vendor", "worktree_setup");
        check(
            "Error: Cannot find module '<slot>/dist/index.js'",
            "`dist/index.js` is in dist",
            "worktree_setup",
        );
        check(
            "Cannot find module './generated/client' from 'src/app.js'",
            "`src/generated/client.js` is in the project",
            "worktree_copy = [\"src/generated/client.js\"]",
        );
        check(
            "src/app.ts(3,1): error TS2307: Cannot find module './generated/client' or its",
            "`src/generated/client.js`",
            "worktree_copy",
        );
    }

    #[test]
    fn what_a_set_up_does_not_install_is_named_nowhere() {
        let both = Both::new("package-lock.json");
        let output = "Cannot find module 'left-pad' from 'src/app.js'";
        let git = Git::in_test(both.repository.root(), &both.repository.environment());
        let by = || lacking(output, both.repository.root(), &both.place, &git).map(|lacking| lacking.by);
        fs::create_dir_all(both.place.join("node_modules/.cache")).unwrap();
        assert_eq!(by(), Some(BroughtBy::Setup));
        fs::create_dir_all(both.place.join("node_modules/other")).unwrap();
        assert_eq!(by(), Some(BroughtBy::Nothing));
    }

    #[test]
    fn modules_of_python_and_local_files_are_named() {
        let both = Both::new("requirements.txt");
        let check = |output: &str, what: &str, setting: &str| {
            let told = both.missing(output).unwrap_or_else(|| panic!("{output}"));
            assert!(told.starts_with(what) && told.contains(setting), "{output}: {told}");
        };
        let setting = "set worktree_setup = \"python3 -m venv --clear .venv && .venv/bin/pip install -r requirements.txt\"";
        let yaml = "the module `yaml` of Python is in .venv of the project, which git ignores, and not in the work tree: ";
        check(
            "Traceback (most recent call last):\n  File \"<slot>/a.py\", line 1\n    import yaml\nModuleNotFoundError: No module named 'yaml'\n",
            yaml,
            setting,
        );
        check("E   ModuleNotFoundError: No module named 'yaml.cyaml'", yaml, setting);
        check("/usr/bin/python3: No module named yaml", yaml, setting);
        check("ImportError: No module named _cffi", "the module `_cffi`", setting);
        check(
            "bash: line 1: pytest: command not found",
            "the program `pytest` is in .venv of the project",
            setting,
        );
        check(
            "bash: line 1: .venv/bin/pytest: No such file or directory",
            "`.venv/bin/pytest` is in .venv",
            setting,
        );
        let copy = "worktree_copy = [\"config/api.secret\"]";
        let file =
            "`config/api.secret` is in the project, where git ignores it, and not in the work tree: set ";
        check("Error: ENOENT: no such file or directory, open '<slot>/config/api.secret'", file, copy);
        check("FileNotFoundError: [Errno 2] No such file or directory: 'config/api.secret'", file, copy);
        check("cat: config/api.secret: No such file or directory", file, copy);
        check("panic: open config/api.secret: no such file or directory", file, copy);
        check("make: *** No rule to make target 'config/api.secret', needed by 'all'.  Stop.", file, copy);
        check(
            "bash: line 1: .env: No such file or directory",
            "`.env` is in the project",
            "worktree_copy = [\".env\"]",
        );
        check(
            "env file <slot>/.env not found: stat <slot>/.env: no such file or directory",
            "`.env` is in",
            "[\".env\"]",
        );
    }

    #[test]
    fn honest_failures_are_the_works() {
        let both = Both::new("package-lock.json");
        for output in [
            "",
            "1 test failed\nAssertionError: expected 1 to equal 2\n",
            "Error: Cannot find module 'not-installed'\n",
            "Error: Cannot find module './helper'\nRequire stack:\n- <slot>/src/app.js\n",
            "ModuleNotFoundError: No module named 'app.new_thing'\n",
            "bash: line 1: frobnicate: command not found\n",
            "cat: untracked.txt: No such file or directory\n",
            "ENOENT: no such file or directory, open '<slot>/src/none.json'\n",
            "ENOENT: no such file or directory, open '<slot>/src/app.js'\n",
            "FAIL left-pad is not padded; see node_modules/left-pad/index.js\n",
            "HTTP 404 not found: /api/users\n",
            "error[E0432]: unresolved import `crate::left`\n",
            "cat: /etc/none: No such file or directory; ../../x/y: not found",
        ] {
            assert_eq!(both.missing(output), None, "{output}");
        }
        fs::create_dir_all(both.place.join("node_modules/left-pad")).unwrap();
        assert_eq!(both.missing("Error: Cannot find module 'left-pad'"), None, "the tree has it");
    }

    #[test]
    fn an_empty_submodule_is_named() {
        let both = Both::new("package-lock.json");
        both.repository.write(".gitmodules", "[submodule \"lib\"]\n\tpath = lib/x\n\turl = ../x\n");
        both.repository.write("lib/x/x.h", "");
        let told = both.missing("main.c:1:10: fatal error: lib/x/x.h: No such file or directory").unwrap();
        assert!(
            told.starts_with("`lib/x/x.h` is in the submodule lib/x, which is empty in work trees: set "),
            "{told}"
        );
    }
}
