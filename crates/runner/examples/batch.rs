//! A small coordinator for the tests: tasks, each in a linked tree, land in order in the repository it is given.
//! It keeps nothing in memory that a second start would need, so that it can be killed at any moment.
use std::fs;
use std::path::{Path, PathBuf};

use runner::git::{Applied, COMMIT_DEADLINE, Git, Keep, Landed, Landing, Novelty, Oid, TreeWork};

const PLAN: &str = "demo";
const TRAILER: &str = "Tillgreen-Task";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let root = PathBuf::from(arguments.next().expect("usage: batch ROOT KEY…"));
    let keys: Vec<String> = arguments.collect();
    let home = root.join(".tillgreen");
    fs::create_dir_all(&home).expect("a writable folder");
    let git = Git::discover(&root).expect("git works").expect("a repository").with_notes(&home);
    git.clear_stale_lock().expect("no lock but ours");
    git.exclude(&[".tillgreen/"]).expect("writable");
    git.drop_landing().expect("what was begun is settled");
    let base = base(&git, &home);
    let task = |key| Task { git: &git, tree: home.join("trees").join(key), base: &base, key };
    let tasks: Vec<Task<'_>> = keys.iter().map(|key| task(key)).collect();
    tasks.iter().for_each(Task::work);
    tasks.iter().for_each(Task::land);
    git.drop_landing().expect("no other landing follows");
    for tree in git.trees_in(&home.join("trees")).expect("a folder") {
        git.remove_tree(&tree).expect("removable");
    }
    git.drop_all_kept(PLAN).expect("references can be deleted");
}

/// The commit that the batch began at, which a run would have in its journal.
fn base(git: &Git, home: &Path) -> Oid {
    let file = home.join("base");
    if let Some(base) = fs::read_to_string(&file).ok().and_then(|text| Oid::parse(&text)) {
        return base;
    }
    let base = git.head().expect("git works").expect("a commit");
    fs::write(file, base.as_str()).expect("writable");
    base
}

struct Task<'a> {
    git: &'a Git,
    tree: PathBuf,
    base: &'a Oid,
    key: &'a str,
}

impl Task<'_> {
    fn keep(&self) -> Keep {
        Keep::new(PLAN, self.key)
    }

    fn work(&self) {
        if self.git.kept(&self.keep()).expect("git works").is_some() {
            return;
        }
        self.git.add_tree(&self.tree, self.base).expect("a tree");
        fs::write(self.tree.join(self.key), "changed by the task\n").expect("writable");
        fs::write(self.tree.join(format!("new-{}", self.key)), "new\n").expect("writable");
        fs::remove_file(self.tree.join(format!("old-{}", self.key))).expect("it was there");
        let work = TreeWork { tree: &self.tree, base: self.base, dropped: &[], furnished: &[] };
        self.git.pack(&work, self.key, (TRAILER, self.key), &self.keep()).expect("packed").expect("work");
    }

    fn land(&self) {
        let commit = self.git.kept(&self.keep()).expect("git works").expect("packed before");
        let trailer = (TRAILER, self.key);
        let landing = Landing { commit: &commit, base: self.base, trailer, novelty: Novelty::Unknown };
        match self.git.apply_landing(&landing).expect("git works") {
            Applied::Done { .. } => {}
            Applied::Already(_) => return,
            other @ (Applied::Nothing | Applied::Conflict(_) | Applied::Refused { .. }) => {
                panic!("{other:?}")
            }
        }
        let landed = self.git.commit_landing(trailer, self.key, COMMIT_DEADLINE, None).expect("git works");
        assert!(matches!(landed, Landed::Done(_)), "{landed:?}");
    }
}
