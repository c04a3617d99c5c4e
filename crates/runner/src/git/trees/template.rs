//! What the trees at a commit are made of, in memory. The trees of a batch are all made at the same moment and of the same
//! files, and starting a git for each takes longer than writing the files of a small project. They are made of this where
//! git would do nothing but write regular files down as they are stored; all else is left to git.
//!
//! Which files there are is told by git's objects, and every content is the one that its name says: nothing is believed of
//! an index or of a file in the project.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::link::Files;
use super::worktree::remove_folder;
use crate::git::customs::conversion::ATTRIBUTES;
use crate::git::error::GitError;
use crate::git::formats::cached_tree::DEPTH_MAX;
use crate::git::formats::index_edit::{Put, index_of, noted_folders};
use crate::git::formats::tree_edit::EditedFolder;
use crate::git::formats::tree_object::{Item, TreeObject};
use crate::git::formats::working_file::{blob_name, create, mode_of};
use crate::git::history::Oid;
use crate::git::repository::Git;

/// A project with more files, or larger ones, is worth starting a git, which writes with all cores.
const FILES_MAX: usize = 1000;
const FILE_BYTES_MAX: usize = 1024 * 1024;
const BYTES_MAX: usize = 8 * 1024 * 1024;

/// What is known of the commit that trees were last made at.
#[derive(Debug, Default)]
pub(in crate::git) struct Templates {
    latest: Mutex<Latest>,
}

#[derive(Debug, Default)]
enum Latest {
    #[default]
    Unknown,
    Known(Arc<Template>),
    /// Trees of this project are made by git.
    Unfit,
}

/// The files of a commit.
#[derive(Debug)]
struct Template {
    base: Oid,
    files: Vec<TemplateFile>,
    /// All of them, those that hold others first.
    folders: Vec<OsString>,
    /// What an index tells of the folders.
    noted: Vec<u8>,
}

#[derive(Debug, Clone)]
struct TemplateFile {
    path: OsString,
    /// As an index has it.
    mode: u32,
    object: Oid,
    content: Arc<[u8]>,
}

impl Git {
    /// Makes a linked working tree, without starting a git for it. False: nothing was done, and git has to. No part of the
    /// tree's path may be a link.
    pub(in crate::git) fn make_of_template(&self, tree: &Path, base: &Oid) -> Result<bool, GitError> {
        if self.name_of_plain(tree).is_none() {
            return Ok(false);
        }
        // What settings say is known of the project, and this is another tree.
        let is_the_same = self.configuration()?.is_some_and(|settings| settings.is_for_all_trees());
        let habit = self.habit();
        let (true, Some(conversion)) = (is_the_same && habit.writes_plainly, habit.conversion) else {
            return Ok(false);
        };
        let Some(template) = self.template(base) else { return Ok(false) };
        if !conversion.leaves_all(template.attributes()) {
            return Ok(false);
        }
        // Whatever is in the way here is in git's way as well, which tells what it is.
        let is_made = match template.write(tree) {
            Ok(Some(index)) => {
                // Trees of several plans may bear the same name.
                let _turn = self.take_turn()?;
                self.link_plainly(tree, base, Files::Written(&index)).unwrap_or(false)
            }
            Ok(None) | Err(_) => false,
        };
        if !is_made {
            remove_folder(tree).map_err(GitError::io("remove", tree))?;
        }
        Ok(is_made)
    }

    /// Whoever comes while it is put together waits: they are all about to make the same tree.
    fn template(&self, base: &Oid) -> Option<Arc<Template>> {
        let mut latest = self.templates().latest.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match &*latest {
            Latest::Unfit => return None,
            Latest::Known(template) if template.base == *base => return Some(Arc::clone(template)),
            Latest::Known(template) => Some(Arc::clone(template)),
            Latest::Unknown => None,
        };
        let template = Template::read(self, base, before.as_deref()).map(Arc::new);
        // Links, submodules, odd names and sheer size stay with a project.
        *latest = template.as_ref().map_or(Latest::Unfit, |template| Latest::Known(Arc::clone(template)));
        template
    }
}

impl Template {
    /// The files of a commit; what they had in another one is not read again. None: git has to make its trees.
    fn read(git: &Git, base: &Oid, before: Option<&Template>) -> Option<Template> {
        let known = before.into_iter().flat_map(|before| &before.files);
        let known = known.map(|file| (&file.object, &file.content)).collect();
        let mut reading = Reading { git, known, files: Vec::new(), folders: Vec::new(), bytes: 0 };
        reading.folder(base, b"", DEPTH_MAX)?;
        let Reading { files, folders, .. } = reading;
        let names = files.iter().map(|file| file.path.as_bytes()).collect();
        let noted = noted_folders(None, names, &folders)?;
        let mut folders: Vec<OsString> =
            folders.into_iter().map(|folder| OsString::from_vec(folder.path)).collect();
        folders.sort();
        Some(Template { base: base.clone(), files, folders, noted })
    }

    /// All files of attributes.
    fn attributes(&self) -> impl Iterator<Item = &[u8]> {
        let is_attributes =
            |file: &&TemplateFile| Path::new(&file.path).file_name() == Some(OsStr::new(ATTRIBUTES));
        self.files.iter().filter(is_attributes).map(|file| &*file.content)
    }

    /// Writes all files into a folder that is made for them, and tells the content of an index that knows them.
    fn write(&self, tree: &Path) -> io::Result<Option<Vec<u8>>> {
        // The topmost comes first, and has no name.
        self.folders.iter().try_for_each(|folder| fs::create_dir(tree.join(folder)))?;
        let mut puts = BTreeMap::new();
        for file in &self.files {
            let written = create(&tree.join(&file.path), file.mode, &file.content)?.metadata()?;
            puts.extend(Put::new(file.mode, &written, &file.object).map(|put| (file.path.as_bytes(), put)));
        }
        Ok(index_of(&puts, &self.noted))
    }
}

/// A template that is being put together.
struct Reading<'a> {
    git: &'a Git,
    /// Contents that are known already.
    known: BTreeMap<&'a Oid, &'a Arc<[u8]>>,
    files: Vec<TemplateFile>,
    /// Those that hold others last.
    folders: Vec<EditedFolder>,
    bytes: usize,
}

impl Reading<'_> {
    /// Reads a folder, by the name of its tree or of its commit, and all below it.
    fn folder(&mut self, name: &Oid, path: &[u8], depth: usize) -> Option<()> {
        let (after, tree) = TreeObject::read(self.git, name.as_str())?;
        for item in tree.items()? {
            is_plain(item.name).then_some(())?;
            let (object, below) = (Oid::parse(&item.object())?, [path, item.name].concat());
            if item.is_folder() {
                self.folder(&object, &[&below[..], b"/"].concat(), depth.checked_sub(1)?)?;
            } else {
                self.file(&item, below, object)?;
            }
        }
        self.folders.push(EditedFolder { path: path.to_vec(), before: None, after });
        Some(())
    }

    fn file(&mut self, item: &Item<'_>, path: Vec<u8>, object: Oid) -> Option<()> {
        let path = OsString::from_vec(path);
        let mode = mode_of(&item.entry().mode)?;
        let content = match self.known.get(&object) {
            Some(content) => Arc::clone(content),
            None => self.content(&path, &object)?.into(),
        };
        self.bytes += content.len();
        if self.files.len() >= FILES_MAX || self.bytes > BYTES_MAX {
            return None;
        }
        self.files.push(TemplateFile { path, mode, object, content });
        Some(())
    }

    /// A content by its name. Most often it is in the project as well, which is sooner read than a git is asked.
    fn content(&self, path: &OsStr, object: &Oid) -> Option<Vec<u8>> {
        let file = self.git.root().join(path);
        let fits = fs::symlink_metadata(&file).is_ok_and(|metadata| {
            metadata.is_file() && usize::try_from(metadata.len()).is_ok_and(|bytes| bytes <= FILE_BYTES_MAX)
        });
        let found = if fits { fs::read(&file).ok() } else { None };
        let found = found.filter(|content| blob_name(content, object.width()).as_ref() == Some(object));
        found.or_else(|| self.git.read_blob(object, FILE_BYTES_MAX))
    }
}

/// Whether a name means nothing to git, nor to a file system: git refuses some, and which depends on its settings.
fn is_plain(name: &[u8]) -> bool {
    let is_odd = |byte: &u8| byte.is_ascii_control() || matches!(byte, b'\\' | b':' | b'~' | b'/');
    let is_odd_end = |byte: &u8| matches!(byte, b'.' | b' ');
    // What looks like git's own folder to some file system has something else than a letter behind it, or nothing.
    let lower = name.to_ascii_lowercase();
    let is_gits = lower
        .strip_prefix(b".git")
        .is_some_and(|rest| !rest.first().is_some_and(|next| next.is_ascii_lowercase()));
    !name.is_empty()
        && name.is_ascii()
        && !name.iter().any(is_odd)
        && !name.last().is_some_and(is_odd_end)
        && !is_gits
        && lower != b".gitmodules"
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn names_that_mean_something_are_left_to_git() {
        let plain = ["a", "a b", ".env", ".gitignore", ".gitattributes", ".github", "tasks.md", "a..b", "-"];
        assert!(plain.iter().all(|name| is_plain(name.as_bytes())), "{plain:?}");
        let others = [
            "",
            ".",
            "..",
            ".git",
            ".GIT",
            ".git ",
            ".git.",
            ".git::$INDEX",
            "git~1",
            "a\\b",
            "a:b",
            "a\nb",
            "a.",
            "a ",
            ".gitmodules",
            ".GitModules",
            "ä",
            "a/b",
            ".git\u{200c}",
        ];
        for name in others {
            assert!(!is_plain(name.as_bytes()), "{name:?}");
        }
    }
}
