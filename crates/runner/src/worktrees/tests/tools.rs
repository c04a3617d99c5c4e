//! False greens that were seen with real tools: each would test other files than those of the commit, and say nothing. A
//! test whose tool is not there says so.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;

use crate::worktrees::tests::bench::Bench;
use crate::worktrees::{Canary, Verdict, canary};

/// True if a command of a shell works here; else it is said that a test is skipped.
fn works(command: &str) -> bool {
    let works =
        Command::new("bash").args(["-c", command]).output().is_ok_and(|output| output.status.success());
    if !works {
        eprintln!("skipped: `{command}` does not work here");
    }
    works
}

#[track_caller]
fn check((green, output): (bool, String), expected: &str) {
    assert!(green && output.trim() == expected, "{expected:?} was expected, {green}: {output}");
}

#[track_caller]
fn check_loud((green, output): (bool, String), expected: &str) {
    assert!(!green && output.contains(expected), "{expected:?} was expected, {green}: {output}");
}

#[test]
fn bytecode_of_the_same_second_and_size_is_not_taken_for_the_source() {
    if !works("python3 --version") {
        return;
    }
    let bench = Bench::new(&[("value.py", "VALUE = 1\n"), (".gitignore", "__pycache__/\n*.pyc\n")]);
    let first = bench.head();
    let second = bench.commit(&[("value.py", "VALUE = 2\n")]);
    let ask = "touch -d '2024-01-01 00:00:00' value.py; python3 -c 'import value; print(value.VALUE)'";
    bench.show(&first);
    check(bench.verify(ask), "1");
    assert!(!bench.has("__pycache__"), "none is written");
    check(bench.verify(&format!("unset PYTHONDONTWRITEBYTECODE; {ask}")), "1");
    bench.show(&second);
    check(bench.verify(ask), "2");
}

#[test]
fn a_package_that_is_gone_cannot_be_imported() {
    if !works("python3 --version") {
        return;
    }
    let bench = Bench::new(&[
        ("package/__init__.py", ""),
        ("package/module.py", ""),
        ("stray.py", ""),
        (".gitignore", "__pycache__/\n*.pyc\n"),
    ]);
    let first = bench.head();
    bench.remove(&["package"]);
    let second = bench.remove(&["stray.py"]);
    bench.show(&first);
    bench.agent("unset PYTHONDONTWRITEBYTECODE; python3 -c 'import package.module'; python3 -m compileall -q -b stray.py");
    bench.show(&second);
    check_loud(bench.verify("python3 -c 'import package'"), "No module named 'package'");
    check_loud(bench.verify("python3 -c 'import stray'"), "No module named 'stray'");
}

#[test]
fn objects_of_another_commit_are_not_linked() {
    if !works("make --version && gcc --version && ar --version") {
        return;
    }
    let makefile = "\
prog: main.o libx.a
\tgcc -o prog main.o libx.a
libx.a: $(patsubst %.c,%.o,$(wildcard x/*.c))
\tar rcs libx.a $^
";
    let bench = Bench::new(&[
        ("Makefile", makefile),
        (
            "main.c",
            "#include <stdio.h>\n#include \"v.h\"\nint extra(void);\nint main() { printf(\"%d\\n\", V + extra()); }\n",
        ),
        ("v.h", "#define V 1\n"),
        ("x/extra.c", "int extra(void) { return 0; }\n"),
        (".gitignore", "*.o\n*.a\nprog\n"),
    ]);
    let first = bench.head();
    let header = bench.commit(&[("v.h", "#define V 2\n")]);
    let moved = {
        bench.commit(&[("x/other.c", "int other(void) { return 0; }\n")]);
        bench.remove(&["x/extra.c"])
    };
    let build = "make -s && ./prog";
    bench.show(&first);
    check(bench.verify(build), "1");
    bench.show(&header);
    check(bench.verify(build), "2");
    bench.show(&moved);
    check_loud(bench.verify(build), "extra");
}

#[test]
fn cargo_builds_from_the_files_of_the_commit_and_stays_warm() {
    if !works("cargo --version") {
        return;
    }
    let bench = Bench::new(&[
        ("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/main.rs", "fn main() { println!(\"1 {}\", env!(\"FOUND\")) }\n"),
        (
            "build.rs",
            "fn main() { println!(\"cargo::rustc-env=FOUND={}\", std::path::Path::new(\"data\").exists()) }\n",
        ),
        ("data", ""),
        (".gitignore", "/target/\nCargo.lock\n"),
    ]);
    let first = bench.head();
    let run = "cargo run -q --offline";
    bench.show(&first);
    check(bench.verify(run), "1 true");
    let tag =
        |bench: &Bench| fs::metadata(bench.tree().join("target/CACHEDIR.TAG")).unwrap().modified().unwrap();
    let warm = tag(&bench);
    // What git takes for unchanged, and cargo for older than what it built meanwhile.
    bench.agent(
        "cp -p src/main.rs saved; sed -i s/1/9/ src/main.rs; cargo build -q --offline; mv saved src/main.rs",
    );
    bench.agent("git update-index -q --refresh; test -z \"$(git status --porcelain)\"");
    bench.show(&first);
    check(bench.verify(run), "1 true");
    let second = bench.remove(&["data"]);
    bench.show(&second);
    check(bench.verify(run), "1 false");
    assert_eq!(tag(&bench), warm, "what was built stays where it can");
}

/// Names of what cargo builds do not tell checkouts apart.
#[test]
fn cargo_shares_nothing_with_the_project() {
    if !works("cargo --version") {
        return;
    }
    let bench = Bench::new(&[
        ("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/main.rs", "fn main() { println!(\"1\") }\n"),
        (".gitignore", "/target/\nCargo.lock\n"),
    ]);
    let first = bench.head();
    bench.show(&first);
    let shared = bench.top().join("shared").display().to_string();
    let home = bench.top().join("cargo-home");
    fs::create_dir_all(&home).unwrap();
    fs::write(
        home.join("config.toml"),
        format!("[build]\ntarget-dir = \"{shared}\"\nbuild-dir = \"{shared}\"\n"),
    )
    .unwrap();
    bench.repository.write("src/main.rs", "fn main() { println!(\"2\") }\n");
    let run = "cargo run -q --offline";
    let home = home.display().to_string();
    for inherited in [[("CARGO_TARGET_DIR", shared.as_str())], [("CARGO_HOME", home.as_str())]] {
        check(bench.run_with(bench.project(), run, &inherited), "2");
        check(bench.run_with(&bench.tree(), run, &inherited), "1");
    }
    assert!(Path::new(&shared).join("debug/app").exists(), "the project itself is built as its user wants");
}

/// Workspaces of Node: an app that loads a library beside it.
fn workspaces(main: &str) -> Bench {
    let library = format!("{{\"name\": \"@x/lib\", \"version\": \"1.0.0\", \"main\": \"{main}\"}}");
    let bench = Bench::new(&[
        ("package.json", "{\"name\": \"all\", \"private\": true, \"workspaces\": [\"packages/*\"]}"),
        ("pnpm-workspace.yaml", "packages:\n  - packages/*\n"),
        ("packages/lib/package.json", &library),
        ("packages/lib/src/index.js", "module.exports = 1\n"),
        (
            "packages/lib/build.js",
            "const fs = require('fs'); fs.mkdirSync('dist', { recursive: true }); fs.copyFileSync('src/index.js', 'dist/index.js')\n",
        ),
        (
            "packages/app/package.json",
            "{\"name\": \"app\", \"version\": \"1.0.0\", \"dependencies\": {\"@x/lib\": \"1.0.0\"}}",
        ),
        ("packages/app/show.js", "console.log(require('@x/lib'))\n"),
        (".npmrc", "link-workspace-packages=true\n"),
        (".gitignore", "node_modules/\ndist/\npackage-lock.json\npnpm-lock.yaml\n"),
    ]);
    bench.repository.write("packages/lib/src/index.js", "module.exports = 2\n");
    bench.repository.write("packages/lib/dist/index.js", "module.exports = 2\n");
    bench
}

const SHOW: &str = "node packages/app/show.js";

#[test]
fn workspaces_of_npm_load_the_trees_own_packages() {
    if !works("npm --version") {
        return;
    }
    let install = "npm install --offline --no-audit --no-fund --silent";
    let bench = workspaces("src/index.js");
    check(bench.run_in(bench.project(), &format!("{install} && {SHOW}")), "2");
    let head = bench.head();
    bench.show(&head);
    check_loud(bench.verify(SHOW), "Cannot find module '@x/lib'");
    let mut bench = bench.with_setup(install);
    bench.worktrees.link = vec!["node_modules".to_owned()];
    let notes = bench.show(&head);
    assert!(notes.iter().any(|note| note.starts_with("node_modules is not linked")), "{notes:?}");
    check(bench.verify(SHOW), "1");
    bench.show(&bench.commit(&[("packages/lib/src/index.js", "module.exports = 3\n")]));
    check(bench.verify(SHOW), "3");
    let touched = ["packages/lib/src/index.js".to_owned()];
    let verdict = |bench: &Bench| if bench.verify(SHOW).0 { Verdict::Green } else { Verdict::Red };
    let found = canary(&bench.slots(), 1, &touched, || verdict(&bench)).unwrap();
    assert!(matches!(found, Canary::Red { .. }), "{found:?}");
    let link = format!("ln -s '{}' node_modules", bench.project().join("node_modules").display());
    let bench = bench.with_setup(&link);
    let notes = bench.show(&bench.head());
    assert!(
        notes.iter().any(|note| note.contains("node_modules leads to `node_modules` of the project")),
        "{notes:?}"
    );
    let found = canary(&bench.slots(), 1, &touched, || verdict(&bench)).unwrap();
    assert!(matches!(found, Canary::Green { .. }), "{found:?}");

    let bench = workspaces("dist/index.js").with_setup(install);
    check(bench.run_in(bench.project(), &format!("{install} && {SHOW}")), "2");
    bench.show(&bench.head());
    check_loud(bench.verify(SHOW), "Cannot find");
    let bench = bench.with_setup(&format!("{install} && cd packages/lib && node build.js"));
    bench.show(&bench.head());
    check(bench.verify(SHOW), "1");
    bench.show(&bench.commit(&[("packages/lib/src/index.js", "module.exports = 3\n")]));
    check(bench.verify(SHOW), "3");
}

/// pnpm as npm gets it, once for all tests.
fn pnpm() -> Option<String> {
    static FOLDER: LazyLock<Option<TempDir>> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().display();
        works(&format!("npm install --prefix {place} --no-audit --no-fund --silent pnpm@9")).then_some(folder)
    });
    FOLDER.as_ref().map(|folder| folder.path().join("node_modules/.bin/pnpm").display().to_string())
}

#[test]
fn workspaces_of_pnpm_load_the_trees_own_packages() {
    let Some(pnpm) = pnpm() else { return };
    let install = format!("{pnpm} install --offline --silent --no-frozen-lockfile");
    let mut bench = workspaces("dist/index.js").with_setup(&install);
    check(bench.run_in(bench.project(), &format!("{install} && {SHOW}")), "2");
    bench.worktrees.link = vec!["packages/app/node_modules".to_owned()];
    let notes = bench.show(&bench.head());
    assert!(
        notes.iter().any(|note| note.starts_with("packages/app/node_modules is not linked")),
        "{notes:?}"
    );
    check_loud(bench.verify(SHOW), "Cannot find");
    let bench = bench.with_setup(&format!("{install} && cd packages/lib && node build.js"));
    bench.show(&bench.head());
    check(bench.verify(SHOW), "1");
}

#[test]
fn a_virtual_environment_holds_the_trees_own_package() {
    let install = "python3 -m venv --without-pip --system-site-packages --clear .venv && \
                   .venv/bin/python setup.py -q develop 2>/dev/null";
    if !works("python3 -c 'import venv, setuptools'") {
        return;
    }
    let bench = Bench::new(&[
        (
            "setup.py",
            "from setuptools import setup\nsetup(name='app', version='1', packages=['app'], package_dir={'': 'src'})\n",
        ),
        ("src/app/__init__.py", "VALUE = 1\n"),
        (".gitignore", ".venv/\n*.egg-info/\n__pycache__/\n"),
    ]);
    bench.repository.write("src/app/__init__.py", "VALUE = 2\n");
    let head = bench.head();
    let ask = "python -c 'import app; print(app.VALUE)'";
    let active = |bench: &Bench| {
        let venv = bench.project().join(".venv").display().to_string();
        (format!("{venv}/bin:{}", std::env::var("PATH").unwrap()), venv)
    };
    check(bench.run_in(bench.project(), &format!("{install}; .venv/bin/{ask}")), "2");
    let (path, venv) = active(&bench);
    let inherited = [("PATH", path.as_str()), ("VIRTUAL_ENV", venv.as_str())];
    check(bench.run_with(bench.project(), ask, &inherited), "2");
    bench.show(&head);
    check_loud(bench.run_with(&bench.tree(), ask, &inherited), "No module named 'app'");
    let mut bench = bench.with_setup(install);
    bench.worktrees.copy = vec![".venv".to_owned()];
    let notes = bench.show(&head);
    assert!(notes.iter().any(|note| note.starts_with(".venv is neither copied nor linked")), "{notes:?}");
    check(bench.run_with(&bench.tree(), ask, &inherited), "1");
    bench.show(&bench.commit(&[("src/app/__init__.py", "VALUE = 3\n")]));
    check(bench.run_with(&bench.tree(), ask, &inherited), "3");
    check(bench.run_with(bench.project(), ask, &inherited), "3");
    assert_eq!(bench.slots().provided(), [".venv", "src/app.egg-info"]);
}
