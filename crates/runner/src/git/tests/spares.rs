//! Trees that are made of others: nothing of what was done in the other is there any more.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use super::scratch::Scratch;
use crate::git::{Git, Oid, Pool};

/// What an agent does to a tree.
type Mess = dyn Fn(&Spares, &Path);

struct Spares {
    scratch: Scratch,
    git: Git,
    pool: Pool,
    folder: PathBuf,
}

impl Spares {
    fn new() -> Spares {
        let scratch = Scratch::new();
        scratch.repository.write(".gitignore", "*.log\n");
        scratch.repository.write("link", "to be a link\n");
        scratch.repository.commit_all("more");
        let git = scratch.git();
        git.exclude(&crate::tree::OWN_PATTERNS).unwrap();
        let folder = scratch.repository.root().join(".tillgreen/demo");
        let pool = Pool::for_all(&folder.join("spare"));
        Spares { scratch, git, pool, folder }
    }

    fn tree(&self, name: &str) -> PathBuf {
        self.folder.join("trees").join(name)
    }

    fn add(&self, name: &str) -> PathBuf {
        let tree = self.tree(name);
        self.git.add_tree_from(&self.pool, &tree, &self.head()).unwrap();
        tree
    }

    fn head(&self) -> Oid {
        self.git.head().unwrap().unwrap()
    }

    fn retire(&self, name: &str) {
        self.git.retire_tree(&self.pool, &self.tree(name)).unwrap();
        assert!(!self.tree(name).exists());
    }

    /// It is what a tree of its own would be, and no other.
    #[track_caller]
    fn expect_pristine(&self, name: &str) {
        let tree = self.tree(name);
        let fresh = self.folder.join("fresh").join(name);
        self.git.add_tree(&fresh, &self.head()).unwrap();
        assert_eq!(listing(&tree), listing(&fresh));
        self.git.remove_tree(&fresh).unwrap();
        let status = self.scratch.repository.git(&[
            "-C",
            tree.to_str().unwrap(),
            "status",
            "--porcelain",
            "--ignored",
        ]);
        assert_eq!(status, "");
        let known = self.scratch.repository.git(&["worktree", "list", "--porcelain"]);
        assert!(known.contains(&format!("worktree {}\nHEAD {}\ndetached\n", tree.display(), self.head())));
    }
}

/// All that is below a folder: kinds, rights, content.
fn listing(folder: &Path) -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(inside) = folders.pop() {
        for entry in fs::read_dir(inside).unwrap().flatten() {
            let (path, metadata) = (entry.path(), entry.metadata().unwrap());
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            let content = match () {
                () if name == ".git" => "where git is".to_owned(),
                () if metadata.is_dir() => {
                    folders.push(path);
                    String::new()
                }
                () if metadata.is_symlink() => fs::read_link(path).unwrap().display().to_string(),
                () => fs::read_to_string(path).unwrap(),
            };
            found.push(format!("{name} {:o} {content}", metadata.permissions().mode()));
        }
    }
    found.sort();
    found
}

#[test]
fn what_an_agent_did_is_gone_from_the_next_tree() {
    let mess: [&Mess; 9] = [
        &|_, _| (),
        &|_, tree| fs::write(tree.join("one"), "changed\n").unwrap(),
        &|_, tree| fs::remove_dir_all(tree.join("deep")).unwrap(),
        &|_, tree| {
            fs::create_dir_all(tree.join("new/deep")).unwrap();
            fs::write(tree.join("new/deep/x.log"), "ignored").unwrap();
            fs::write(tree.join("new.log"), "ignored").unwrap();
        },
        &|spares, tree| {
            let git = |list: &[&str]| {
                spares.scratch.repository.git(&[&["-C", tree.to_str().unwrap()], list].concat());
            };
            fs::write(tree.join("one"), "one!").unwrap();
            git(&["update-index", "--assume-unchanged", "one"]);
            git(&["update-index", "--skip-worktree", "two"]);
            fs::write(tree.join("two"), "two!").unwrap();
            git(&["checkout", "--quiet", "-b", "another"]);
            git(&["commit", "--quiet", "--allow-empty", "-m", "by the agent"]);
        },
        &|spares, tree| {
            fs::remove_file(tree.join(".git")).unwrap();
            spares.scratch.repository.git(&["init", "--quiet", tree.to_str().unwrap()]);
            spares.scratch.repository.git(&["init", "--quiet", tree.join("inner").to_str().unwrap()]);
            fs::write(tree.join("inner/file"), "").unwrap();
        },
        &|_, tree| {
            fs::remove_file(tree.join("link")).unwrap();
            std::os::unix::fs::symlink("/", tree.join("link")).unwrap();
            fs::remove_dir_all(tree.join("deep")).unwrap();
            std::os::unix::fs::symlink(tree.parent().unwrap(), tree.join("deep")).unwrap();
        },
        &|_, tree| {
            fs::set_permissions(tree.join("one"), fs::Permissions::from_mode(0o755)).unwrap();
            fs::remove_file(tree.join("two")).unwrap();
            fs::create_dir(tree.join("two")).unwrap();
        },
        &|_, tree| {
            // The same size, in the same second, and with the old time.
            let time = fs::metadata(tree.join("one")).unwrap().modified().unwrap();
            fs::write(tree.join("one"), "eno\n").unwrap();
            fs::File::options().write(true).open(tree.join("one")).unwrap().set_modified(time).unwrap();
        },
    ];
    for (number, mess) in mess.iter().enumerate() {
        let spares = Spares::new();
        mess(&spares, &spares.add("1.1"));
        spares.retire("1.1");
        assert_eq!(spares.pool.count(), 1, "{number}");
        // Meanwhile something came in.
        spares.scratch.repository.write("two", format!("{number}\n"));
        spares.scratch.repository.write("new/file", "");
        spares.scratch.repository.commit_all("meanwhile");
        spares.add("1.2");
        assert_eq!(spares.pool.count(), 0, "{number}");
        spares.expect_pristine("1.2");
        assert!(spares.scratch.repository.dirt().is_empty(), "{number}");
        assert_eq!(spares.scratch.repository.git(&["fsck"]), "");
        spares.retire("1.2");
        spares.add("1.3");
        spares.expect_pristine("1.3");
    }
}

#[test]
fn what_cannot_be_used_again_is_removed() {
    let spares = Spares::new();
    let tree = spares.add("1.1");
    fs::remove_dir_all(&tree).unwrap();
    std::os::unix::fs::symlink(spares.scratch.repository.root(), &tree).unwrap();
    spares.retire("1.1");
    assert_eq!((spares.pool.count(), spares.scratch.repository.dirt().len()), (0, 0));
    assert!(spares.scratch.repository.root().join("one").exists(), "no link is followed");
    spares.add("1.2");
    fs::write(spares.git.state_of(&spares.tree("1.2")).unwrap().join("tillgreen-pristine-index"), "x")
        .unwrap();
    spares.retire("1.2");
    assert_eq!(spares.pool.count(), 0);
    spares.add("1.3");
    spares.retire("1.3");
    assert_eq!(spares.pool.count(), 1);
    fs::write(spares.folder.join("spare/0.index"), "broken").unwrap();
    spares.add("1.4");
    spares.expect_pristine("1.4");
    spares.retire("1.4");
    spares.pool.clear();
    assert_eq!(spares.pool.count(), 0);
    assert!(!spares.folder.join("spare").exists());
    spares.pool.clear();
    spares.pool.remove();
}

/// Makes an index tell of a file as it is by now, and git believe it.
fn forge(index: &Path, tree: &Path, name: &str) {
    const BEFORE_NAME: usize = 62;
    let mut content = fs::read(index).unwrap();
    let looked_for = [name.as_bytes(), b"\0"].concat();
    let found = content.windows(looked_for.len()).position(|bytes| bytes == looked_for).unwrap();
    let looks = fs::metadata(tree.join(name)).unwrap();
    let times = [looks.ctime(), looks.ctime_nsec(), looks.mtime(), looks.mtime_nsec()];
    let stat = times.map(|time| u32::try_from(time).unwrap().to_be_bytes()).concat();
    let start = found - BEFORE_NAME;
    content[start..start + stat.len()].copy_from_slice(&stat);
    let inode = u32::try_from(looks.ino() & u64::from(u32::MAX)).unwrap().to_be_bytes();
    content[start + 20..start + 24].copy_from_slice(&inode);
    fs::write(index, content).unwrap();
    let later = SystemTime::now() + Duration::from_secs(100);
    fs::File::options().write(true).open(index).unwrap().set_modified(later).unwrap();
}

#[test]
fn a_tree_is_not_made_of_one_whose_index_somebody_wrote() {
    for is_in_time in [true, false] {
        let spares = Spares::new();
        let tree = spares.add("1.1");
        fs::write(tree.join("one"), "eno\n").unwrap();
        if is_in_time {
            let index = spares.git.state_of(&tree).unwrap().join("tillgreen-pristine-index");
            forge(&index, &tree, "one");
        }
        spares.retire("1.1");
        if !is_in_time {
            forge(&spares.folder.join("spare/0.index"), &spares.folder.join("spare/0"), "one");
        }
        spares.add("1.2");
        spares.expect_pristine("1.2");
    }
}

/// Whoever takes a tree has all of it, also if all are removed at the same moment.
#[test]
fn a_tree_is_had_by_one_of_those_who_want_it() {
    for _ in 0..20 {
        let spares = Spares::new();
        spares.add("1.1");
        spares.retire("1.1");
        thread::scope(|scope| {
            scope.spawn(|| spares.pool.clear());
            spares.add("1.2");
        });
        spares.expect_pristine("1.2");
    }
}

#[test]
fn small_trees_and_those_with_submodules_are_made_anew() {
    let spares = Spares::new();
    let pool = Pool::new(&spares.folder.join("spare"));
    spares.git.add_tree_from(&pool, &spares.tree("1.1"), &spares.head()).unwrap();
    spares.git.retire_tree(&pool, &spares.tree("1.1")).unwrap();
    assert_eq!(pool.count(), 0);
    spares.scratch.repository.write(".gitmodules", "");
    spares.scratch.repository.commit_all("modules");
    spares.add("1.2");
    spares.retire("1.2");
    assert_eq!(spares.pool.count(), 0);
}

#[test]
fn a_tree_is_made_anew_where_files_are_written_otherwise_than_before() {
    let spares = Spares::new();
    spares.add("1.1");
    spares.retire("1.1");
    spares.scratch.repository.write("deep/.gitattributes", "* text eol=crlf\n");
    spares.scratch.repository.commit_all("attributes");
    spares.add("1.2");
    assert_eq!(fs::read_to_string(spares.tree("1.2").join("deep/three")).unwrap(), "deep/three\r\n");
    spares.expect_pristine("1.2");
}
