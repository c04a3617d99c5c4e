//! What a work tree lacks is told from failures of the work.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use testkit::Repository;

use crate::git::Git;
use crate::worktrees::{BroughtBy, lacking, lacking_packages, missing, uninstalled};

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
        repository.write(manifest, "\"left-pad\": 1, \"@scope/tool\": 1, \"deep\": 1, PyYAML==6.0\n");
        repository.write("src/app.js", "");
        repository
            .write(".gitignore", "node_modules/\n.venv/\ndist/\n*.secret\nsrc/generated/\n/vendor/\n/.env\n");
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
    check("    Cannot find module 'left-pad/sub' from 'src/app.js'\n\n    Require stack:\n", package, NPM);
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
    check("Error: Cannot find module '<slot>/dist/index.js'", "`dist/index.js` is in dist", "worktree_setup");
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
fn programs_that_hooks_cannot_start_are_named() {
    let both = Both::new("package-lock.json");
    for output in [
        "Error: spawn jest ENOENT",
        "✖ Task failed to spawn: jest --bail",
        "✖ Command failed with ENOENT: jest --bail src/app.js",
        "error Command \"jest\" not found.",
        "npm error npx canceled due to missing packages and no YES option: [\"left-pad@1.3.0\"]",
    ] {
        let told = both.missing(output).unwrap_or_else(|| panic!("{output}"));
        assert!(told.contains("is in node_modules of the project") && told.contains(NPM), "{output}: {told}");
    }
}

#[test]
fn what_somebody_installed_without_a_trace_is_named() {
    let output = "Error: Cannot find module 'left-pad'";
    let both = Both::new("package-lock.json");
    let by = |both: &Both| {
        let git = Git::in_test(both.repository.root(), &both.repository.environment());
        let lacking = lacking(output, both.repository.root(), &both.place, &git).unwrap();
        (lacking.by, lacking.told)
    };
    assert_eq!(by(&both).0, BroughtBy::Setup);
    fs::write(both.place.join("package-lock.json"), "{\"packages\": {}}").unwrap();
    let told = "the package `left-pad` is in node_modules and not in package.json: name it there, as \
                `npm install left-pad` does";
    assert_eq!(by(&both), (BroughtBy::Nothing, told.to_owned()));
    // Without a lock file it may come with another one, unless npm knows better.
    let both = Both::new("package.json");
    fs::write(both.place.join("package.json"), "{}").unwrap();
    assert_eq!(by(&both).0, BroughtBy::Setup);
    let installed = "{\"packages\": {\"node_modules/left-pad\": {\"extraneous\": true}}}";
    both.repository.write("node_modules/.package-lock.json", installed);
    assert_eq!(by(&both).0, BroughtBy::Nothing);
}

#[test]
fn what_is_declared_and_installed_nowhere_is_named() {
    let check = |manifest: &str, output: &str, expected: Option<&str>| {
        let both = Both::new(manifest);
        let git = Git::in_test(both.repository.root(), &both.repository.environment());
        let told = || uninstalled(output, both.repository.root(), &both.place, &git);
        assert_eq!(told(), None, "the project has it: {output}");
        fs::remove_dir_all(both.repository.root().join("node_modules")).unwrap();
        fs::remove_dir_all(both.repository.root().join(".venv")).unwrap();
        let told = told();
        assert_eq!(told.as_deref().map(|told| told.split(':').next().unwrap()), expected, "{output}");
        assert!(told.is_none_or(|told| told.contains("set worktree_setup = \"")), "{output}");
    };
    let here = "`left-pad` is installed neither here nor in a clean checkout";
    check("package-lock.json", "Error: Cannot find module 'left-pad/sub'", Some(here));
    check("package-lock.json", "sh: 1: left-pad: not found", Some(here));
    check("package-lock.json", "Error: Cannot find module 'undeclared'", None);
    check("package-lock.json", "Error: Cannot find module './left-pad'", None);
    let yaml = Some("`yaml` is installed neither here nor in a clean checkout");
    check("requirements.txt", "ModuleNotFoundError: No module named 'yaml'", yaml);
    check("requirements.txt", "ModuleNotFoundError: No module named 'src.yaml'", None);
    check("requirements.txt", "bash: line 1: go: command not found", None);
    let program = Some("`.venv/bin/pytest` is installed neither here nor in a clean checkout");
    check("requirements.txt", "bash: line 1: .venv/bin/pytest: No such file or directory", program);
}

#[test]
fn packages_that_a_place_lacks_are_named_before_anything_is_red() {
    let both = Both::new("package-lock.json");
    let git = Git::in_test(both.repository.root(), &both.repository.environment());
    let told = || lacking_packages(both.repository.root(), &both.place, &git);
    assert!(told().is_some_and(|told| told.contains(NPM)), "{:?}", told());
    for folder in ["node_modules/left-pad", "packages/a/node_modules/deep"] {
        fs::create_dir_all(both.place.join(folder)).unwrap();
    }
    assert_eq!(told(), None);
}

#[test]
fn modules_of_python_and_local_files_are_named() {
    let both = Both::new("requirements.txt");
    let check = |output: &str, what: &str, setting: &str| {
        let told = both.missing(output).unwrap_or_else(|| panic!("{output}"));
        assert!(told.starts_with(what) && told.contains(setting), "{output}: {told}");
    };
    let setting =
        "set worktree_setup = \"python3 -m venv --clear .venv && .venv/bin/pip install -r requirements.txt\"";
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
    let file = "`config/api.secret` is in the project, where git ignores it, and not in the work tree: set ";
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
