//! A command that is red in a work tree for want of something that the project has and git ignores: packages, a virtual
//! environment, local files. It is told apart from a failure of the work by looking: what the output names has to be in
//! the project, ignored, and not in the work tree.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::git::Git;
use crate::worktrees::detect::{environments, setting};

/// The number of lines at the end of an output that are read.
const LINES_MAX: usize = 400;
/// The number of names that are looked for.
const NAMES_MAX: usize = 60;

/// Files that say which packages of Node there are.
const NODE_MANIFESTS: [&str; 6] =
    ["package.json", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"];
/// Files that say which modules of Python there are.
const PYTHON_MANIFESTS: [&str; 8] = [
    "Pipfile",
    "poetry.lock",
    "pyproject.toml",
    "requirements-dev.txt",
    "requirements.txt",
    "setup.cfg",
    "setup.py",
    "uv.lock",
];

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
    all_wanted(output).iter().find_map(|wanted| search.told(wanted))
}

/// The sentence for people if a red command names something that what is committed declares and that is installed neither in
/// the project nor in the place, as in a fresh clone.
pub(crate) fn uninstalled(output: &str, project: &Path, place: &Path, git: &Git) -> Option<String> {
    let search = Search { project, place, git };
    all_wanted(output).iter().find_map(|wanted| search.uninstalled(wanted))
}

/// The sentence for people if the project has packages of Node that git ignores, and the place has none.
pub(crate) fn lacking_packages(project: &Path, place: &Path, git: &Git) -> Option<String> {
    let search = Search { project, place, git };
    let ignored = git.ignored_in_project().unwrap_or_default();
    let mut folders = ignored.iter().map(|folder| folder.trim_end_matches('/'));
    let is_lacking = |folder: &&str| {
        folder.rsplit('/').next() == Some("node_modules")
            && is_filled(&project.join(folder))
            && !is_filled(&place.join(folder))
    };
    let folder = folders.find(is_lacking)?;
    Some(search.set_up("what the verify command may need", folder).told)
}

/// The things that the end of an output says are missing, each once.
fn all_wanted(output: &str) -> Vec<Wanted> {
    let mut lines: Vec<&str> = output.lines().rev().take(LINES_MAX).collect();
    lines.reverse();
    let mut seen = BTreeSet::new();
    let wanted = lines.into_iter().flat_map(wanted_in).take(NAMES_MAX);
    wanted.filter(|wanted| seen.insert(wanted.clone())).collect()
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
        let package = package_of(name)?;
        let what = format!("the package `{package}`");
        let lacking = self.in_packages(&package, &what)?;
        if self.is_declared(&lacking.path, &package) {
            return Some(lacking);
        }
        let told = format!(
            "{what} is in {} and not in package.json: name it there, as `npm install {package}` does",
            lacking.path
        );
        Some(Lacking { by: BroughtBy::Nothing, told, ..lacking })
    }

    /// True unless a package is one that somebody installed without a trace in what is committed.
    fn is_declared(&self, folder: &str, package: &str) -> bool {
        let manifests = self.manifests(&NODE_MANIFESTS);
        if manifests.iter().any(|(_, text)| names_package(text, package)) {
            return true;
        }
        let is_lock = |(path, _): &(String, String)| !path.ends_with("package.json");
        if manifests.iter().any(is_lock) {
            return false;
        }
        // Without a lock file, only npm knows what nothing else asks for.
        let text =
            fs::read_to_string(self.project.join(folder).join(".package-lock.json")).unwrap_or_default();
        let installed: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        installed["packages"][format!("node_modules/{package}")]["extraneous"] != true
    }

    /// The files of these names that git tracks, with their text as it is in the place.
    fn manifests(&self, names: &[&str]) -> Vec<(String, String)> {
        let is_one = |path: &String| names.contains(&path.rsplit('/').next().unwrap_or(path));
        let paths = self.git.tracked_paths().unwrap_or_default().into_iter().filter(is_one);
        paths
            .filter_map(|path| Some((path.clone(), fs::read_to_string(self.place.join(&path)).ok()?)))
            .collect()
    }

    /// A package or program that what is committed names and that is installed nowhere.
    fn uninstalled(&self, wanted: &Wanted) -> Option<String> {
        let is_installed = |manifests: &[&str]| {
            if manifests == NODE_MANIFESTS { self.has_packages_of_node() } else { self.has_environment() }
        };
        let (manifests, name): (&[&str], String) = match wanted {
            Wanted::Node { name, .. } if name.starts_with(['.', '/']) => return None,
            Wanted::Node { name, .. } => (&NODE_MANIFESTS, package_of(name)?),
            Wanted::Python(name) => (&PYTHON_MANIFESTS, name.split('.').next()?.to_owned()),
            Wanted::Program(name) if self.names(&NODE_MANIFESTS, name) => (&NODE_MANIFESTS, name.clone()),
            Wanted::Program(name) if !name.contains('/') => (&PYTHON_MANIFESTS, name.clone()),
            Wanted::Program(path) | Wanted::Path(path) => (manifests_of_folder(path)?, path.clone()),
        };
        let is_named = name.contains("/bin/") || name.contains("/.bin/") || self.names(manifests, &name);
        let is_meant = is_named && !is_installed(manifests) && !self.is_own(&name);
        let set = setting(self.git).filter(|_| is_meant)?;
        Some(format!(
            "`{name}` is installed neither here nor in a clean checkout: set {set} in tillgreen.toml"
        ))
    }

    /// True if one of these files names a package, or a program that a package brings.
    fn names(&self, manifests: &[&str], name: &str) -> bool {
        if manifests.contains(&"package.json") {
            return self.manifests(manifests).iter().any(|(_, text)| names_package(text, name));
        }
        // The package of a module has a name like it: `pyyaml`, `python-dotenv`.
        let wanted = name.to_lowercase().replace('_', "-");
        let is_like = |word: &str| {
            let word = word.to_lowercase().replace('_', "-");
            word == wanted || (wanted.len() > 3 && (word.starts_with(&wanted) || word.ends_with(&wanted)))
        };
        let is_gap = |character: char| !character.is_ascii_alphanumeric() && !"-_.".contains(character);
        self.manifests(manifests).iter().any(|(_, text)| text.split(is_gap).any(is_like))
    }

    /// True of a module of the project's own.
    fn is_own(&self, module: &str) -> bool {
        let file = format!("{module}.py");
        let is_it = |path: &String| path.split('/').any(|part| part == module || part == file);
        self.git.tracked_paths().unwrap_or_default().iter().any(is_it)
    }

    fn has_packages_of_node(&self) -> bool {
        [self.project, self.place].iter().any(|root| is_filled(&root.join("node_modules")))
    }

    fn has_environment(&self) -> bool {
        [self.project, self.place].iter().any(|root| !environments(root).is_empty())
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
        let set =
            setting(self.git).unwrap_or_else(|| "worktree_setup to the command that makes it".to_owned());
        let told = format!(
            "{what} is in {folder} of the project, which git ignores, and not in the work tree: set {set} in tillgreen.toml"
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

/// True if a manifest or a lock file of Node names a package, or a program that one brings.
fn names_package(text: &str, name: &str) -> bool {
    let forms = [format!("\"{name}\""), format!("{name}@"), format!("/{name}\""), format!("/{name}/")];
    forms.iter().any(|form| text.contains(form))
}

/// The package of Node that a path begins with.
fn package_of(name: &str) -> Option<String> {
    let mut parts = name.split('/');
    let first = parts.next()?;
    if first.starts_with('@') { Some(format!("{first}/{}", parts.next()?)) } else { Some(first.to_owned()) }
}

/// The files that say what is in the folder of installed programs that a path begins with.
fn manifests_of_folder(path: &str) -> Option<&'static [&'static str]> {
    let path = path.trim_start_matches("./");
    if path.starts_with("node_modules/.bin/") {
        return Some(&NODE_MANIFESTS);
    }
    [".venv/bin/", "venv/bin/"].iter().any(|folder| path.starts_with(folder)).then_some(&PYTHON_MANIFESTS)
}

/// True for what is built: a copy of it would be about other sources.
fn is_made(path: &str) -> bool {
    path.split('/').any(|name| ["dist", "build", "out", "target", ".next"].contains(&name))
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
    wanted.extend(program_in(line).or_else(|| spawned_in(line)).map(Wanted::Program));
    // npx, where it may not install.
    if let Some((_, rest)) = line.split_once("missing packages and no YES option: [")
        && let Some((name, _)) = quoted_in(rest)
    {
        let name = name.rsplit_once('@').map_or(name.as_str(), |(name, _)| name).to_owned();
        wanted.push(Wanted::Node { name, from: None });
    }
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

/// `Error: spawn eslint ENOENT`, `Task failed to spawn: prettier --check`, `error Command "jest" not found.`
fn spawned_in(line: &str) -> Option<String> {
    if let Some((_, rest)) = line.split_once("Command \"")
        && let Some((name, _)) = rest.split_once("\" not found")
    {
        return Some(name.to_owned());
    }
    let behind =
        ["failed to spawn: ", "failed with ENOENT: "].into_iter().find_map(|words| line.split_once(words));
    if let Some((_, rest)) = behind {
        return Some(first_word(rest));
    }
    let (_, rest) = line.split_once("spawn ")?;
    rest.split_once(" ENOENT").map(|(name, _)| first_word(name))
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
