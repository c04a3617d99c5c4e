//! The project of `tillgreen demo`: a few lines of shell with a real test suite, a plan, and a scripted agent.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PLAN: &str = include_str!("../demo/tasks.md");
const AGENT: &str = include_str!("../demo/agent.sh");
const EXPECT: &str = include_str!("../demo/expect.sh");
const README: &str =
    "# slugs\n\n`sh bin/slug TITLE` prints a title as a part of a web address. `sh tests/all.sh` tests it.\n";
const PROGRAM: &str = "#!/bin/sh\nprintf \"%s\\n\" \"$1\"\n";

/// The test files: what they are called and what they expect.
const TESTS: [(&str, &str); 3] = [
    ("lower_case", "expect HELLO hello\nexpect Nozzle nozzle\n"),
    ("dashes", "expect 'hello world' hello-world\nexpect 'hello  brave new world' hello-brave-new-world\n"),
    ("ends", "expect '  hello ' hello\n"),
];

/// Where the demo was laid out.
#[derive(Clone, Debug)]
pub struct Demo {
    /// The project.
    pub project: PathBuf,
    /// The agent's script.
    pub agent: PathBuf,
}

/// Lays the project out in a new folder below the given one.
pub fn lay_out_demo(below: &Path) -> io::Result<Demo> {
    let home = new_folder(below, "tillgreen-demo")?;
    let demo = Demo { project: home.join("project"), agent: home.join("agent.sh") };
    for folder in ["bin", "tests", "specs/slugs"] {
        fs::create_dir_all(demo.project.join(folder))?;
    }
    let write = |name: &str, text: &str| fs::write(demo.project.join(name), text);
    write("README.md", README)?;
    write("bin/slug", PROGRAM)?;
    write("tests/expect.sh", EXPECT)?;
    let mut all = String::from("set -e\n");
    for (name, expectations) in TESTS {
        write(&format!("tests/{name}.sh"), &format!(". tests/expect.sh\n{expectations}"))?;
        all.push_str(&format!("sh tests/{name}.sh\n"));
    }
    write("tests/all.sh", &all)?;
    write("specs/slugs/tasks.md", PLAN)?;
    write("specs/.current-spec", "slugs\n")?;
    fs::write(&demo.agent, AGENT)?;
    make_repository(&demo.project)?;
    Ok(demo)
}

/// A folder that was not there before: the name with the first number that is free.
pub(crate) fn new_folder(below: &Path, name: &str) -> io::Result<PathBuf> {
    for number in 1.. {
        let folder = below.join(format!("{name}-{number}"));
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(()) => return folder.canonicalize(),
        }
    }
    Err(io::Error::other("every name is taken"))
}

/// A repository of its own, with an identity of its own: the user's hooks and keys are left alone.
pub(crate) fn make_repository(project: &Path) -> io::Result<()> {
    let steps: [&[&str]; 8] = [
        &["init", "--quiet"],
        &["symbolic-ref", "HEAD", "refs/heads/main"],
        &["config", "user.name", "Demo"],
        &["config", "user.email", "demo@localhost"],
        &["config", "commit.gpgsign", "false"],
        &["config", "core.hooksPath", ".git/no-hooks"],
        &["add", "--all"],
        &["commit", "--quiet", "--message", "chore: begin"],
    ];
    for step in steps {
        let output = Command::new("git").args(step).current_dir(project).stdin(Stdio::null()).output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(io::Error::other(format!("git {}: {}", step[0], said.trim())));
        }
    }
    Ok(())
}
