//! A scratch git repository with a fixed identity, fixed dates and no configuration of the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const CONFIGURATION: &str = "\
[user]
\tname = Test Person
\temail = test@example.com
[init]
\tdefaultBranch = main
[protocol \"file\"]
\tallow = always
[gc]
\tauto = 0
";

/// A date that never changes, so that commits have the same names on every machine.
const DATE: &str = "2024-01-02T03:04:05Z";

/// A repository in a folder, and the home that its git uses.
#[derive(Debug, Clone)]
pub struct Repository {
    root: PathBuf,
    home: PathBuf,
}

impl Repository {
    /// Makes a repository without commits, on branch `main`. Both folders are created.
    pub fn init(root: &Path, home: &Path) -> Repository {
        let repository = Repository::without_init(root, home);
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository
    }

    /// Only the folders and the configuration: what git says outside a repository.
    pub fn without_init(root: &Path, home: &Path) -> Repository {
        fs::create_dir_all(root).expect("the folder can be made");
        fs::create_dir_all(home).expect("the home can be made");
        fs::write(home.join(".gitconfig"), CONFIGURATION).expect("the home can be written");
        let root = root.canonicalize().expect("the folder was just made");
        let home = home.canonicalize().expect("the home was just made");
        Repository { root, home }
    }

    /// The top folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The home folder with the global configuration.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The variables that keep git apart from the machine.
    pub fn environment(&self) -> Vec<(String, String)> {
        let home = self.home.display();
        let ceiling = self.root.parent().unwrap_or(&self.root).display();
        [
            ("HOME", home.to_string()),
            ("XDG_CONFIG_HOME", format!("{home}/.config")),
            ("GIT_CONFIG_GLOBAL", format!("{home}/.gitconfig")),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("GIT_CEILING_DIRECTORIES", ceiling.to_string()),
            ("GIT_AUTHOR_DATE", DATE.to_owned()),
            ("GIT_COMMITTER_DATE", DATE.to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// Runs git and gives what it printed; panics when it fails.
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = self.try_git(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?} failed: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs git, whatever comes of it.
    pub fn try_git(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        command.args(arguments).current_dir(&self.root).envs(self.environment()).stdin(Stdio::null());
        command.output().expect("git is installed")
    }

    /// Writes a file, making its folders.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let file = self.root.join(path);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).expect("the folder can be made");
        }
        fs::write(file, content).expect("the file can be written");
    }

    /// The text of a file; panics when there is none.
    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        match fs::read(self.root.join(path)) {
            Ok(content) => String::from_utf8_lossy(&content).into_owned(),
            Err(error) => panic!("cannot read {path}: {error}"),
        }
    }

    /// True if there is something at this path.
    pub fn has(&self, path: &str) -> bool {
        self.root.join(path).symlink_metadata().is_ok()
    }

    /// Commits everything that is not ignored, also if there is nothing.
    pub fn commit_all(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    /// The subjects of all commits, oldest first; none before the first commit.
    pub fn subjects(&self) -> Vec<String> {
        let output = self.try_git(&["log", "--reverse", "--format=%s"]);
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
    }

    /// The changes that `git status` finds, one line each as in its short format.
    pub fn dirt(&self) -> Vec<String> {
        self.git(&["status", "--porcelain", "--untracked-files=all"]).lines().map(str::to_owned).collect()
    }
}
