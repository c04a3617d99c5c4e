//! Objects that are written without a git: each is a file of its own, named by its content, as git writes them one by
//! one. A batch writes several for every piece of work that comes in, one after another, and asking a git takes several
//! times as long as writing. Where a repository wants more of its objects than git does by itself, git writes them.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use miniz_oxide::deflate::compress_to_vec_zlib;

use super::checksum::checksum;
use super::pack_file::pack_of;
use crate::git::calls::child_note::is_gone;
use crate::git::history::Oid;
use crate::git::repository::Git;

/// Settings about who may read objects, when they are on the disk, and under which names they are known.
const SETTINGS: [&str; 6] = [
    "core.sharedrepository",
    "core.fsync",
    "core.fsyncmethod",
    "core.fsyncobjectfiles",
    "core.createobject",
    "extensions.compatobjectformat",
];

/// Objects that are written one by one are packed by git some day, and better than anything could be here.
const COMPRESSION: u8 = 1;

/// What fits into one block of a disk takes no more room there as it is, and preparing to compress takes longer than all
/// else that is done with it.
const AS_IT_IS_BYTES_MAX: usize = 4000;

/// The folder that all of them are below.
pub(super) const OBJECTS: &str = "objects";

/// How often an object is written while somebody tidies up.
const WRITES_MAX: usize = 10;

/// Nobody changes an object.
const PERMISSIONS: u32 = 0o444;

/// Git tidies away what begins like this and stays behind.
const UNFINISHED: &str = "tmp_obj_tillgreen";

/// No two files that are being written have the same name.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::git) enum Kind {
    Blob,
    Tree,
    Commit,
}

impl Kind {
    /// What stands for it in a pack.
    pub(in crate::git) fn number(self) -> u8 {
        match self {
            Self::Commit => 1,
            Self::Tree => 2,
            Self::Blob => 3,
        }
    }

    /// What stands before the content of one in its file, but for the NUL.
    pub(super) fn told(header: &[u8]) -> Option<Kind> {
        let word = header.split(|byte| *byte == b' ').next()?;
        [Kind::Blob, Kind::Tree, Kind::Commit].into_iter().find(|kind| kind.word().as_bytes() == word)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Tree => "tree",
            Self::Commit => "commit",
        }
    }
}

/// Whether objects are written here as git does by itself, by the names of all settings.
pub(in crate::git) fn are_plain<'a>(mut settings: impl Iterator<Item = &'a str>) -> bool {
    !settings.any(|name| SETTINGS.contains(&name))
}

impl Git {
    /// Stores an object whose name has so many bytes. None: git has to, and tells what is in the way.
    pub(in crate::git) fn store_object(&self, kind: Kind, content: &[u8], width: usize) -> Option<Oid> {
        if !self.habit().stores_plainly {
            return None;
        }
        if let Some(bundle) = self.bundle() {
            return bundle.put(kind, content, width);
        }
        let oid = name(kind, content, width)?;
        self.write_object(kind, content, &oid)?;
        self.recent_objects().put(kind, &oid, content, None);
        Some(oid)
    }

    /// Writes an object whose name is known. None: git has to.
    pub(in crate::git) fn write_object(&self, kind: Kind, content: &[u8], oid: &Oid) -> Option<()> {
        let (folder, file) = self.place_of_object(oid)?;
        // Whoever tidies up removes what is old and belongs to nobody, which is not long ago for what is stored again.
        if is_renewed(&file) {
            return Some(());
        }
        let content = deflated(&[&header(kind, content), content].concat());
        let mut tries = (0..WRITES_MAX).map(|_| write(&folder, &file, &content));
        // Somebody who tidies up removes files that are not finished, and folders with nothing in them.
        let is_settled = |written: &io::Result<()>| !matches!(written, Err(error) if error.kind() == io::ErrorKind::NotFound);
        tries.find(is_settled)?.ok()
    }

    /// Whether an object is there as a file of its own.
    pub(in crate::git) fn is_loose(&self, oid: &Oid) -> bool {
        self.place_of_object(oid).is_some_and(|(_, file)| file.exists())
    }

    /// The folder and the file of an object.
    pub(super) fn place_of_object(&self, oid: &Oid) -> Option<(PathBuf, PathBuf)> {
        let (folder, name) = oid.as_str().split_at_checked(2)?;
        let folder = self.common_dir().join(OBJECTS).join(folder);
        let file = folder.join(name);
        Some((folder, file))
    }
}

impl Git {
    /// Removes what a program left that died while it wrote an object. Git would do so as well, some weeks later.
    pub fn remove_unfinished_objects(&self) {
        let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
        for folder in entries(&self.common_dir().join(OBJECTS)) {
            for entry in entries(&folder.path()).filter(|entry| is_left_behind(&entry.file_name())) {
                self.remove_pack_of(&entry.path());
                // It is in nobody's way.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// A pack whose index was not put beside it.
    fn remove_pack_of(&self, unfinished: &Path) {
        let index = fs::read(unfinished).unwrap_or_default();
        let name = self.head().ok().flatten().and_then(|head| pack_of(&index, head.width()));
        let pack = name.map(|name| unfinished.with_file_name(format!("pack-{name}.pack")));
        if let Some(pack) = pack.filter(|pack| !pack.with_extension("idx").exists()) {
            // It may not have come so far.
            let _ = fs::remove_file(pack);
        }
    }
}

/// The name of an object, in so many bytes.
pub(super) fn name(kind: Kind, content: &[u8], width: usize) -> Option<Oid> {
    Oid::from_bytes(&checksum(&[&header(kind, content), content], width)?)
}

/// What stands before its content.
fn header(kind: Kind, content: &[u8]) -> Vec<u8> {
    format!("{} {}\0", kind.word(), content.len()).into_bytes()
}

/// The content of an object's file.
pub(super) fn deflated(content: &[u8]) -> Vec<u8> {
    match u16::try_from(content.len()) {
        Ok(length) if content.len() <= AS_IT_IS_BYTES_MAX => as_it_is(content, length),
        Ok(_) | Err(_) => compress_to_vec_zlib(content, COMPRESSION),
    }
}

/// One block that is not compressed, between the header and the sum of a zlib stream.
fn as_it_is(content: &[u8], length: u16) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(content);
    stream.extend(adler32(content).to_be_bytes());
    stream
}

fn adler32(content: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (low, high) = content.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % MODULUS;
        (low, (high + low) % MODULUS)
    });
    high << 16 | low
}

/// Whether it was being written by a program that is gone. The name holds the process's number.
fn is_left_behind(name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(UNFINISHED)?.strip_prefix('-'));
    let pid = rest.and_then(|rest| rest.split_once('-')).map(|(pid, _)| pid);
    pid.is_some_and(is_gone)
}

/// Makes an object that is there as young as one that was written now. Whether that was done.
fn is_renewed(file: &Path) -> bool {
    File::open(file).is_ok_and(|file| file.set_modified(SystemTime::now()).is_ok())
}

/// Writes a file that is there as a whole or not at all.
fn write(folder: &Path, file: &Path, content: &[u8]) -> io::Result<()> {
    let unfinished = unfinished(folder);
    let written = create(folder, &unfinished).and_then(|mut new| new.write_all(content));
    let done = written.and_then(|()| fs::rename(&unfinished, file));
    if done.is_err() {
        // It may not have been made.
        let _ = fs::remove_file(&unfinished);
    }
    done
}

/// Writes a file that is on the disk before anybody knows its name, which is told.
pub(super) fn write_lasting(folder: &Path, content: &[u8]) -> io::Result<PathBuf> {
    let file = unfinished(folder);
    let written =
        create(folder, &file).and_then(|mut new| new.write_all(content).and_then(|()| new.sync_data()));
    if written.is_err() {
        // It may not have been made.
        let _ = fs::remove_file(&file);
    }
    written.map(|()| file)
}

/// A file for what is not finished yet.
fn unfinished(folder: &Path) -> PathBuf {
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    folder.join(format!("{UNFINISHED}-{}-{number}", process::id()))
}

fn create(folder: &Path, file: &PathBuf) -> io::Result<File> {
    let create = || OpenOptions::new().write(true).create_new(true).mode(PERMISSIONS).open(file);
    match create() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match fs::create_dir(folder) {
                // Somebody else was quicker.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => made?,
            }
            create()
        }
        created => created,
    }
}
