//! What an attempt left in its work tree and git cannot bring back: repositories inside it, uncommitted changes inside
//! submodules. It is noted beside the tree, so that the attempt is not taken for a success, and it outlives the tree.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use engine::{Cause, CheckFailure, Failing};

use crate::atomic;
use crate::git::{self, GitError, Inside};
use crate::nested;
use crate::offstage::Site;
use crate::tree_notes::remnants_file;

/// What cannot come back from a tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Remnants {
    /// Repositories inside the tree.
    pub repositories: Vec<String>,
    /// Those of them that are to become submodules.
    pub added: Vec<String>,
    /// What is uncommitted in submodules.
    pub submodules: Vec<Inside>,
    pub unreadable: Option<Unreadable>,
}

/// Why nobody can tell what is in a tree, and where that will be when there is another in its place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    why: String,
    place: String,
}

impl Remnants {
    /// What was found in a tree.
    pub(crate) fn of(tree: &Path, left_out: Vec<String>, submodules: Vec<Inside>) -> Self {
        let repositories: Vec<String> =
            left_out.iter().map(|path| path.trim_end_matches('/').to_owned()).collect();
        let added = repositories.iter().filter(|path| nested::is_named_submodule(tree, path));
        Self { added: added.cloned().collect(), repositories, submodules, unreadable: None }
    }

    /// Reads what was noted. A note that cannot be read says nothing.
    pub(crate) fn read(note: &Path) -> Self {
        let text = fs::read_to_string(note).unwrap_or_default();
        let mut remnants = Self::default();
        for line in text.lines() {
            match line.split('\t').collect::<Vec<&str>>().as_slice() {
                ["unreadable", why, place] => {
                    remnants.unreadable = Some(Unreadable { why: unescape(why), place: unescape(place) });
                }
                ["repository", path] => remnants.repositories.push(unescape(path)),
                ["added", path] => remnants.added.push(unescape(path)),
                ["submodule", path, commit, kind, files @ ..] => remnants.submodules.push(Inside {
                    path: unescape(path),
                    commit: (*commit).to_owned(),
                    files: files.iter().map(|file| unescape(file)).collect(),
                    is_changed: *kind == "changed",
                }),
                _ => {}
            }
        }
        remnants
    }

    /// Notes it down, or removes the note where there is nothing.
    pub(crate) fn write(&self, note: &Path) -> io::Result<()> {
        let mut text = String::new();
        if let Some(Unreadable { why, place }) = &self.unreadable {
            text.push_str(&format!("unreadable\t{}\t{}\n", escape(why), escape(place)));
        }
        for path in &self.repositories {
            text.push_str(&format!("repository\t{}\n", escape(path)));
        }
        for path in &self.added {
            text.push_str(&format!("added\t{}\n", escape(path)));
        }
        for Inside { path, commit, files, is_changed } in &self.submodules {
            let kind = if *is_changed { "changed" } else { "new" };
            let files: String = files.iter().map(|file| format!("\t{}", escape(file))).collect();
            text.push_str(&format!("submodule\t{}\t{commit}\t{kind}{files}\n", escape(path)));
        }
        if text.is_empty() {
            // It is seldom there.
            let _ = fs::remove_file(note);
            return Ok(());
        }
        atomic::replace(note, &text)
    }

    /// What is said about it in the run's output.
    pub(crate) fn told(&self) -> Vec<String> {
        let of_submodule = |inside: &Inside| {
            let Inside { path, commit, files, .. } = inside;
            let files = files.join(", ");
            format!("uncommitted in the submodule {path}, and kept there as commit {commit}: {files}")
        };
        let of_repository = |path: &String| {
            if self.added.contains(path) {
                return format!(
                    "{path} is a repository of its own (a submodule is added or moved in a run one by one: `tillgreen run --jobs 1`)"
                );
            }
            nested::told(path)
        };
        let repositories = self.repositories.iter().map(of_repository);
        repositories.chain(self.submodules.iter().map(of_submodule)).collect()
    }

    /// Why the attempt is no success. New files in a submodule alone are no reason: builds leave such.
    pub(crate) fn failure(&self) -> Option<CheckFailure> {
        if let Some(Unreadable { why, place }) = &self.unreadable {
            return Some(CheckFailure {
                cause: Cause::CommitRefused,
                error: format!("the work cannot be read from its work tree: {}", plan::one_line(why)),
                details: format!(
                    "{why}\nFiles and folders that git cannot read or name cannot come back: make them readable, \
                     rename or remove them, or have git ignore them. The next attempt begins without what this one \
                     left, all of which is then in {place}."
                ),
                command: None,
                exit_code: None,
                failing: Failing::default(),
            });
        }
        let changed: Vec<&Inside> = self.submodules.iter().filter(|inside| inside.is_changed).collect();
        let names = self.repositories.iter().chain(changed.iter().map(|inside| &inside.path));
        let names: Vec<&str> = names.map(String::as_str).collect();
        if names.is_empty() {
            return None;
        }
        let advice = self.repositories.iter().map(|path| self.advice_on_repository(path));
        let details: Vec<String> = advice.chain(changed.into_iter().map(advice_on_submodule)).collect();
        Some(CheckFailure {
            cause: Cause::CommitRefused,
            error: format!("the work cannot be committed as it is: {}", names.join(", ")),
            details: details.join("\n"),
            command: None,
            exit_code: None,
            failing: Failing::default(),
        })
    }

    fn advice_on_repository(&self, path: &String) -> String {
        let advice = nested::advice(path);
        if !self.added.contains(path) {
            return advice;
        }
        format!(
            "{advice} A submodule cannot be added or moved in a work tree: that takes a run one by one (tillgreen run --jobs 1)."
        )
    }

    /// Moves repositories out of a tree that is about to go.
    fn set_aside(&self, tree: &Path) -> io::Result<Vec<Aside>> {
        let mut moved = Vec::new();
        for path in &self.repositories {
            let relative = path.trim_end_matches('/');
            let from = tree.join(relative);
            if from.is_symlink() || !from.is_dir() || !is_below(relative) {
                continue;
            }
            let to = free_place(tree).join(relative);
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::rename(&from, &to)?;
            moved.push(Aside { path: relative.to_owned(), to });
        }
        Ok(moved)
    }
}

impl Site {
    /// Moves repositories out of the tree, which is about to go, with all that belongs to them.
    pub(crate) fn set_repositories_aside(&self) -> io::Result<Vec<Aside>> {
        let remnants = self.remnants();
        let mut paths = remnants.repositories.iter().map(|path| path.trim_end_matches('/'));
        paths.try_for_each(|path| self.git.embed(&self.tree, path))?;
        remnants.set_aside(&self.tree)
    }

    /// Notes that git could not tell what an attempt left, so that it is not taken for one that did nothing.
    pub(crate) fn note_unreadable(&self, error: &GitError) {
        let place = free_place(&self.tree).display().to_string();
        let unreadable = Some(Unreadable { why: error.to_string(), place });
        let remnants = Remnants { unreadable, ..Remnants::default() };
        // Where nothing can be written either, the next thing that is to be written says so.
        let _ = remnants.write(&remnants_file(&self.tree));
    }
}

/// A text without what separates texts in the note.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t")
}

fn unescape(text: &str) -> String {
    let mut characters = text.chars();
    let mut plain = String::new();
    while let Some(character) = characters.next() {
        let escaped = if character == '\\' { characters.next() } else { None };
        plain.push(match escaped {
            Some('n') => '\n',
            Some('t') => '\t',
            Some(other) => other,
            None => character,
        });
    }
    plain
}

/// A repository that was moved out of a tree.
#[derive(Debug)]
pub(crate) struct Aside {
    path: String,
    to: PathBuf,
}

impl Aside {
    /// Moves it into the tree that was made since, if its place is free. One whose repository is elsewhere, as that of a
    /// work tree is, stays: its link leads nowhere any more, and its files would be taken for the project's.
    pub(crate) fn put_back(&self, tree: &Path) -> bool {
        let place = tree.join(&self.path);
        let is_whole = fs::symlink_metadata(self.to.join(".git")).is_ok_and(|store| store.is_dir());
        let is_free = is_whole && fs::symlink_metadata(&place).is_err();
        let folder = place.parent().unwrap_or(tree);
        let is_back = is_free && fs::create_dir_all(folder).is_ok() && fs::rename(&self.to, &place).is_ok();
        if is_back {
            // The folders around it are of no use any more; the first that holds something else ends it.
            let mut folders = self.to.ancestors().skip(1).take(Path::new(&self.path).components().count());
            let _ = folders.try_for_each(fs::remove_dir);
        }
        is_back
    }

    /// Where it is.
    pub(crate) fn told(&self) -> String {
        format!("the repository {} that the attempt before left is kept in {}", self.path, self.to.display())
    }
}

/// Whether a path leads to something inside of where it begins.
fn is_below(path: &str) -> bool {
    let mut components = Path::new(path).components();
    !path.is_empty() && components.all(|component| matches!(component, Component::Normal(_)))
}

/// A folder that is not there yet, outside of the trees.
pub(crate) fn free_place(tree: &Path) -> PathBuf {
    let name = tree.file_name().unwrap_or_default().to_string_lossy().into_owned();
    git::free_place(&tree.parent().and_then(Path::parent).unwrap_or(tree).join("left").join(name))
}

fn advice_on_submodule(inside: &Inside) -> String {
    let Inside { path, commit, files, .. } = inside;
    format!(
        "The submodule {path} has uncommitted changes ({}). Only commits come back from a submodule: commit the changes \
         inside of it (git -C {path} commit), or take them back. They are brought along into the next attempt, and kept as \
         commit {commit} of the submodule.",
        files.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(is_changed: bool) -> Inside {
        Inside {
            path: "lib".to_owned(),
            commit: "c0ffee".to_owned(),
            files: vec!["a\nb".to_owned()],
            is_changed,
        }
    }

    #[test]
    fn what_is_noted_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("note");
        let all = Remnants {
            repositories: vec!["in\nn\\er\t/".to_owned()],
            added: vec!["l\tib".to_owned()],
            submodules: vec![inside(true)],
            unreadable: Some(Unreadable { why: "why\nnot".to_owned(), place: "left".to_owned() }),
        };
        all.write(&note).unwrap();
        assert_eq!(Remnants::read(&note), all);
        Remnants::default().write(&note).unwrap();
        assert_eq!(Remnants::read(&note), Remnants::default());
    }

    #[test]
    fn only_what_would_be_lost_is_a_failure() {
        let new = Remnants { submodules: vec![inside(false)], ..Remnants::default() };
        assert!(new.failure().is_none() && new.told().len() == 1);
        let changed = Remnants { submodules: vec![inside(true)], ..Remnants::default() };
        let failure = changed.failure().unwrap();
        assert_eq!(failure.error, "the work cannot be committed as it is: lib");
        assert!(failure.details.contains("git -C lib commit"), "{}", failure.details);
    }

    #[test]
    fn repositories_are_moved_out_of_the_way_each_to_a_place_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("trees/1.1");
        let remnants =
            Remnants { repositories: vec!["a/inner/".to_owned(), "gone".to_owned()], ..Remnants::default() };
        for number in ["1.1", "1.1-2"] {
            fs::create_dir_all(tree.join("a/inner/.git")).unwrap();
            assert_eq!(remnants.set_aside(&tree).unwrap().len(), 1);
            assert!(folder.path().join(format!("left/{number}/a/inner/.git")).is_dir());
        }
        assert!(!tree.join("a/inner").exists());
    }

    #[test]
    fn a_repository_goes_back_where_its_place_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("trees/1.1");
        let remnants = Remnants { repositories: vec!["a/inner/".to_owned()], ..Remnants::default() };
        fs::create_dir_all(tree.join("a/inner/.git")).unwrap();
        let moved = remnants.set_aside(&tree).unwrap();
        assert!(moved[0].put_back(&tree) && tree.join("a/inner/.git").is_dir());
        assert!(!folder.path().join("left/1.1").exists());
        let moved = remnants.set_aside(&tree).unwrap();
        fs::create_dir_all(tree.join("a/inner")).unwrap();
        assert!(!moved[0].put_back(&tree) && folder.path().join("left/1.1/a/inner/.git").is_dir());
    }

    #[test]
    fn a_note_cannot_lead_out_of_the_tree() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("trees/1.1");
        fs::create_dir_all(folder.path().join("trees/1.2")).unwrap();
        let outside = ["../1.2".to_owned(), folder.path().join("trees/1.2").display().to_string()];
        let remnants = Remnants { repositories: outside.into(), ..Remnants::default() };
        assert!(remnants.set_aside(&tree).unwrap().is_empty() && folder.path().join("trees/1.2").is_dir());
    }
}
