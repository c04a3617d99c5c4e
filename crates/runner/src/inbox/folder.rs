//! The folder through which other processes reach a run: a file for each directive, and beside it the run's reply.
//!
//! A file is whole as soon as it has its name. Whoever takes a directive replies before the directive goes, so that one
//! that is found again after a crash, with a reply beside it, was dealt with.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use engine::{Directive, DirectiveId, Refusal};
use jiff::Timestamp;
use nix::fcntl::OFlag;
use serde::{Deserialize, Serialize};

use crate::journal::Holder;

/// The version of what is written here.
const VERSION: u32 = 1;

/// A directive is a few lines; more is not read.
const ENTRY_BYTES_MAX: u64 = 256 * 1024;

/// The suffixes of directives and replies, and of files that are being written.
pub(super) const ENTRY: &str = "json";
const REPLY: &str = "reply";
const UNFINISHED: &str = "new";

/// The time that replies are kept which nobody came for.
const REPLY_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The folder of a run.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

/// A start of the program that holds a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunName {
    pid: u32,
    started: Timestamp,
}

impl RunName {
    pub(crate) fn of(holder: &Holder) -> Self {
        Self { pid: holder.pid, started: holder.started }
    }
}

/// A directive as it lies in the folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    version: u32,
    /// The start of the program that is meant, where no other is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<RunName>,
    pub(crate) directive: Directive,
}

impl Entry {
    pub(crate) fn new(directive: Directive, run: Option<RunName>) -> Self {
        Self { version: VERSION, run, directive }
    }
}

/// The reply to a directive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    /// It is in the journal.
    Taken,
    /// It has no effect.
    Refused(Refusal),
}

impl Folder {
    /// The folder of a run whose files are in `home`. Nothing is made yet.
    pub(crate) fn below(home: &Path) -> Self {
        Self { path: home.join("inbox") }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the folder, for its user alone.
    pub(crate) fn make(&self) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.path)
    }

    /// Puts a directive in. When this returns, it survives a loss of power.
    pub(crate) fn put(&self, entry: &Entry) -> io::Result<()> {
        self.make()?;
        self.write(&entry.directive.id, ENTRY, entry)
    }

    /// The directives that nobody has dealt with, in the order in which they came; the name alone of those that cannot be
    /// read, and why.
    pub(crate) fn entries(&self) -> io::Result<Vec<(DirectiveId, Result<Entry, String>)>> {
        let mut ids = self.ids()?;
        ids.sort();
        let mut entries = Vec::new();
        for id in ids {
            if self.file(&id, REPLY).exists() {
                // The program was killed after it had replied.
                remove(&self.file(&id, ENTRY))?;
                continue;
            }
            match self.read_entry(&id) {
                Ok(Some(entry)) => entries.push((id, Ok(entry))),
                // Its sender took it back.
                Ok(None) => {}
                Err(reason) => entries.push((id, Err(reason))),
            }
        }
        Ok(entries)
    }

    /// Replies to a directive, which is dealt with by that.
    pub(crate) fn reply(&self, id: &DirectiveId, reply: &Reply) -> io::Result<()> {
        let entry = self.file(id, ENTRY);
        if !entry.exists() {
            // Nobody waits for a reply: it came otherwise, or its sender took it back.
            return Ok(());
        }
        self.write(id, REPLY, reply)?;
        remove(&entry).map(drop)
    }

    /// The reply to a directive, if it is there.
    pub(crate) fn reply_to(&self, id: &DirectiveId) -> Option<Reply> {
        let text = read(&self.file(id, REPLY)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Takes a directive back, with the reply to it. False if it was not there any more.
    pub(crate) fn take_back(&self, id: &DirectiveId) -> io::Result<bool> {
        let was_there = remove(&self.file(id, ENTRY))?;
        remove(&self.file(id, REPLY))?;
        Ok(was_there)
    }

    /// Removes replies that nobody came for, and what a sender that was killed left half written.
    pub(crate) fn tidy(&self) {
        let is_old = |entry: &fs::DirEntry| {
            let name = PathBuf::from(entry.file_name());
            let is_left = name.extension().is_some_and(|end| end == REPLY || end == UNFINISHED);
            let since = entry.metadata().and_then(|metadata| metadata.modified()).ok();
            let age = since.and_then(|since| SystemTime::now().duration_since(since).ok());
            is_left && age.is_some_and(|age| age > REPLY_KEPT)
        };
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        for entry in entries.filter(is_old) {
            // That it stays is no harm.
            let _ = fs::remove_file(entry.path());
        }
    }

    fn ids(&self) -> io::Result<Vec<DirectiveId>> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let id = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(ENTRY)?.strip_suffix('.').map(|id| DirectiveId(id.to_owned()))
        };
        Ok(entries.flatten().filter_map(id).collect())
    }

    fn read_entry(&self, id: &DirectiveId) -> Result<Option<Entry>, String> {
        let text = match read(&self.file(id, ENTRY)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        let entry: Entry = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        if entry.version != VERSION {
            return Err(format!("it is of version {}, and this program knows {VERSION}", entry.version));
        }
        if entry.directive.id != *id {
            return Err("it has another name than its file".to_owned());
        }
        Ok(Some(entry))
    }

    fn file(&self, id: &DirectiveId, end: &str) -> PathBuf {
        self.path.join(format!("{id}.{end}"))
    }

    /// Writes a file that is whole as soon as it has its name, and makes the name durable.
    fn write(&self, id: &DirectiveId, end: &str, content: &impl Serialize) -> io::Result<()> {
        let unfinished = self.path.join(format!(".{id}.{end}.{UNFINISHED}"));
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&unfinished)?;
        let text = serde_json::to_vec(content).map_err(io::Error::from)?;
        let written = file.write_all(&text).and_then(|()| file.sync_all());
        let named = written.and_then(|()| fs::rename(&unfinished, self.file(id, end)));
        if named.is_err() {
            // The error that matters is the first one.
            let _ = fs::remove_file(&unfinished);
        }
        named?;
        File::open(&self.path)?.sync_all()
    }
}

/// Reads a regular file up to a limit; neither a link is followed nor a pipe waited on.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let mut text = Vec::new();
    file.take(ENTRY_BYTES_MAX).read_to_end(&mut text)?;
    Ok(text)
}

/// Removes a file. False if it was not there.
fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use engine::Said;

    use super::*;

    fn entry(id: &str) -> Entry {
        let id = DirectiveId(id.to_owned());
        Entry::new(Directive { id, from: "ada".to_owned(), said: Said::Pause }, None)
    }

    fn ids(folder: &Folder) -> Vec<String> {
        folder.entries().unwrap().into_iter().map(|(id, _)| id.0).collect()
    }

    #[test]
    fn directives_come_out_in_order_and_once() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::below(home.path());
        assert!(ids(&folder).is_empty(), "there is no folder yet");
        for id in ["2", "1", "3"] {
            folder.put(&entry(id)).unwrap();
        }
        assert_eq!(ids(&folder), ["1", "2", "3"]);
        let id = DirectiveId("1".to_owned());
        assert_eq!(folder.reply_to(&id), None);
        folder.reply(&id, &Reply::Refused(Refusal::Over)).unwrap();
        assert_eq!(folder.reply_to(&id), Some(Reply::Refused(Refusal::Over)));
        assert_eq!(ids(&folder), ["2", "3"]);
        // As after a kill between the reply and the end of the directive.
        folder.put(&entry("1")).unwrap();
        assert_eq!(ids(&folder), ["2", "3"]);
        assert!(!folder.take_back(&id).unwrap() && folder.take_back(&DirectiveId("2".to_owned())).unwrap());
        assert_eq!((ids(&folder), folder.reply_to(&id)), (vec!["3".to_owned()], None));
        folder.reply(&id, &Reply::Taken).unwrap();
        assert_eq!(folder.reply_to(&id), None, "nobody waits for it");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::below(home.path());
        folder.make().unwrap();
        let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        put("1.json", "{");
        put("2.json", &serde_json::to_string(&entry("9")).unwrap());
        put("3.json", &serde_json::to_string(&Entry { version: 7, ..entry("3") }).unwrap());
        put(".4.json.new", "half");
        put("notes.txt", "");
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("5.json")).unwrap();
        let entries = folder.entries().unwrap();
        let reasons: Vec<String> = entries.into_iter().map(|(_, entry)| entry.unwrap_err()).collect();
        assert_eq!(reasons.len(), 4, "{reasons:?}");
        assert_eq!(reasons[1], "it has another name than its file");
        assert_eq!(reasons[2], "it is of version 7, and this program knows 1");
    }

    #[test]
    fn a_directive_that_is_cut_anywhere_says_nothing() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::below(home.path());
        folder.put(&entry("1")).unwrap();
        let path = folder.path().join("1.json");
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let entries = folder.entries().unwrap();
            assert!(matches!(&entries[..], [(_, Err(_))]), "{length}: {entries:?}");
            fs::write(folder.path().join("1.reply"), &br#"{"refused":"over"}"#[..length.min(17)]).unwrap();
            assert_eq!(folder.reply_to(&DirectiveId("1".to_owned())), None, "{length}");
            fs::remove_file(folder.path().join("1.reply")).unwrap();
        }
    }

    #[test]
    fn the_folder_is_for_its_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::below(home.path());
        folder.put(&entry("1")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(folder.path()), mode(&folder.path().join("1.json"))), (0o700, 0o600));
    }
}
