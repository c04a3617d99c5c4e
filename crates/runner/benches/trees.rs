//! What a task of a batch costs in git: making a linked tree, packing the work, landing it. In a repository of ten
//! thousand files, as ratios to plain `git worktree add` and `git cherry-pick` in the same run.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use runner::git::{Applied, COMMIT_DEADLINE, Git, Keep, Landed, Landing, Novelty, Oid, Pool, TreeWork};

const FILES: usize = 10_000;
const ROUNDS: usize = 7;
const TRAILER: &str = "Tillgreen-Task";

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("project");
    lay_out(&root);
    let git = Git::discover(&root).expect("git works").expect("a repository");
    git.exclude(&[".tillgreen/"]).expect("writable");
    let mut figures = Figures::default();
    for round in 0..ROUNDS {
        figures.plain(&root, round);
        figures.ours(&git, round);
    }
    for round in 0..=ROUNDS {
        figures.again(&git, round);
    }
    figures.report();
}

fn lay_out(root: &Path) {
    for number in 0..FILES {
        let folder = root.join(format!("src/{}", number / 100));
        fs::create_dir_all(&folder).expect("writable");
        fs::write(folder.join(number.to_string()), format!("line of {number}\n").repeat(40))
            .expect("writable");
    }
    run(root, &["init", "-q"]);
    run(root, &["config", "user.name", "Bench"]);
    run(root, &["config", "user.email", "bench@example.com"]);
    run(root, &["config", "gc.auto", "0"]);
    run(root, &["add", "--all"]);
    run(root, &["commit", "-qm", "first"]);
}

fn run(dir: &Path, arguments: &[&str]) {
    let status = Command::new("git")
        .args(arguments)
        .current_dir(dir)
        .stdout(Stdio::null())
        .status()
        .expect("git is installed");
    assert!(status.success(), "git {arguments:?}");
}

#[derive(Default)]
struct Figures {
    plain_add: Vec<Duration>,
    plain_pick: Vec<Duration>,
    plain_remove: Vec<Duration>,
    add: Vec<Duration>,
    pack: Vec<Duration>,
    land: Vec<Duration>,
    remove: Vec<Duration>,
    add_again: Vec<Duration>,
    retire: Vec<Duration>,
}

impl Figures {
    fn plain(&mut self, root: &Path, round: usize) {
        let tree = root.with_file_name(format!("plain-{round}"));
        let path = tree.to_str().expect("text");
        timed(&mut self.plain_add, || run(root, &["worktree", "add", "-q", "--detach", path]));
        fs::write(tree.join(format!("src/0/{round}")), "changed\n").expect("writable");
        run(&tree, &["commit", "-qam", "work"]);
        let head =
            fs::read_to_string(root.join(format!(".git/worktrees/plain-{round}/HEAD"))).expect("detached");
        // Something else lands in between, so that the commit has to be joined.
        fs::write(root.join(format!("src/1/{}", 100 + round)), "changed\n").expect("writable");
        run(root, &["commit", "-qam", "before"]);
        timed(&mut self.plain_pick, || run(root, &["cherry-pick", head.trim()]));
        timed(&mut self.plain_remove, || run(root, &["worktree", "remove", "--force", path]));
    }

    fn ours(&mut self, git: &Git, round: usize) {
        let tree = git.root().join(format!(".tillgreen/demo/trees/{round}"));
        let base = git.head().expect("git works").expect("a commit");
        timed(&mut self.add, || git.add_tree(&tree, &base).expect("a tree"));
        fs::write(tree.join(format!("src/2/{}", 200 + round)), "changed\n").expect("writable");
        let key = round.to_string();
        let keep = Keep::new("demo", &key);
        let work = TreeWork { tree: &tree, base: &base, dropped: &[], furnished: &[] };
        let packed = timed(&mut self.pack, || git.pack(&work, "work", (TRAILER, &key), &keep));
        let commit = packed.expect("git works").expect("work").commit;
        fs::write(git.root().join(format!("src/3/{}", 300 + round)), "changed\n").expect("writable");
        run(git.root(), &["commit", "-qam", "before"]);
        timed(&mut self.land, || land(git, &commit, &base, &key));
        timed(&mut self.remove, || git.remove_tree(&tree).expect("removable"));
    }

    /// One tree after another, each made of the one before.
    fn again(&mut self, git: &Git, round: usize) {
        let pool = Pool::new(&git.root().join(".tillgreen/demo/spare"));
        let tree = git.root().join(format!(".tillgreen/demo/trees/again-{round}"));
        let base = git.head().expect("git works").expect("a commit");
        let mut first = Vec::new();
        let into = if pool.count() == 0 { &mut first } else { &mut self.add_again };
        timed(into, || git.add_tree_from(&pool, &tree, &base).expect("a tree"));
        fs::write(tree.join(format!("src/4/{}", 400 + round)), "changed\n").expect("writable");
        fs::write(git.root().join(format!("src/5/{}", 500 + round)), "changed\n").expect("writable");
        run(git.root(), &["commit", "-qam", "meanwhile"]);
        timed(&mut self.retire, || git.retire_tree(&pool, &tree).expect("removable"));
    }

    fn report(mut self) {
        let line = |what: &str, ours: &mut Vec<Duration>, plain: &mut Vec<Duration>, than: &str| {
            let (ours, plain) = (median(ours), median(plain));
            let ratio = ours.as_secs_f64() / plain.as_secs_f64();
            println!("{what}: {ours:.1?}, {ratio:.2} times {than} ({plain:.1?})");
        };
        println!("{FILES} files, median of {ROUNDS}");
        line("make a tree", &mut self.add, &mut self.plain_add, "git worktree add");
        line("pack", &mut self.pack, &mut self.plain_pick, "git cherry-pick");
        line("apply and commit", &mut self.land, &mut self.plain_pick, "git cherry-pick");
        line("make a tree of another", &mut self.add_again, &mut self.plain_add, "git worktree add");
        line("set a tree aside", &mut self.retire, &mut self.plain_remove, "git worktree remove");
        line("remove a tree", &mut self.remove, &mut self.plain_remove, "git worktree remove");
    }
}

fn land(git: &Git, commit: &Oid, base: &Oid, key: &str) {
    let landing = Landing { commit, base, trailer: (TRAILER, key), novelty: Novelty::New };
    let applied = git.apply_landing(&landing).expect("git works");
    let Applied::Done { stamps, .. } = applied else { panic!("{applied:?}") };
    let landed =
        git.commit_landing((TRAILER, key), "work", COMMIT_DEADLINE, Some(&stamps)).expect("git works");
    assert!(matches!(landed, Landed::Done(_)), "{landed:?}");
}

fn timed<T>(into: &mut Vec<Duration>, act: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = act();
    into.push(start.elapsed());
    result
}

fn median(figures: &mut [Duration]) -> Duration {
    figures.sort();
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}
