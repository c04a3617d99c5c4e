//! Gits that stay: a process each for reading objects, writing trees that may lack something, and setting references,
//! asked again and again. Starting a git takes longer than almost anything that is asked of it. What such a one cannot
//! answer, for whatever reason, is asked of a new one: callers have another way.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::child_note::ChildNote;
use super::process::{self, Call, QUESTION_DEADLINE};
use crate::git::history::Oid;
use crate::git::repository::Git;

/// No tree that is read as a whole is larger.
const OBJECT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// How much of what was read is remembered. The same few folders are looked at for every task.
const REMEMBERED_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What each of them is started with.
const READER: [&str; 2] = ["cat-file", "--batch"];
const WRITER: [&str; 3] = ["mktree", "-z", "--batch"];
/// What is checked out has its changes recorded, with these words; there is no saying others each time.
const REFERRER: [&str; 4] = ["update-ref", "-m", "commit: by tillgreen", "--stdin"];

/// The gits that stay with a repository. They end when nobody holds them any more: their input closes.
#[derive(Debug, Default)]
pub(in crate::git) struct Standing {
    reader: Mutex<Option<Asked>>,
    writer: Mutex<Option<Asked>>,
    referrer: Mutex<Option<Asked>>,
    trees: Mutex<Remembered>,
}

/// Trees by the names of themselves or of their commits: what such a name stands for never changes.
#[derive(Debug, Default)]
struct Remembered {
    trees: BTreeMap<Oid, (Oid, Vec<u8>)>,
    bytes: usize,
}

impl Remembered {
    fn put(&mut self, name: Oid, tree: (Oid, Vec<u8>)) {
        if self.bytes + tree.1.len() > REMEMBERED_BYTES_MAX {
            *self = Self::default();
        }
        self.bytes += tree.1.len();
        self.trees.insert(name, tree);
    }
}

impl Git {
    /// The tree that a name stands for, and what is in it, as git stores it. None: ask otherwise.
    pub(in crate::git) fn read_tree_object(&self, name: &str) -> Option<(Oid, Vec<u8>)> {
        let lasting = Oid::parse(name);
        if let Some(tree) = lasting.as_ref().and_then(|name| self.remembered().trees.get(name).cloned()) {
            return Some(tree);
        }
        let question = format!("{name}^{{tree}}\n");
        if name.contains('\n') {
            return None;
        }
        let tree = self.ask(&self.standing().reader, &READER, |asked| {
            asked.say(question.as_bytes())?;
            asked.object()
        })?;
        if let Some(name) = lasting.filter(|_| tree.1.len() < REMEMBERED_BYTES_MAX / 4) {
            self.remembered().put(name, tree.clone());
        }
        Some(tree)
    }

    /// The content of a file, unless it has more bytes than this. None: ask otherwise.
    pub(in crate::git) fn read_blob(&self, name: &Oid, bytes_max: usize) -> Option<Vec<u8>> {
        let question = format!("{name}\n");
        let (found, content) = self.ask(&self.standing().reader, &READER, |asked| {
            asked.say(question.as_bytes())?;
            asked.object()
        })?;
        (found == *name && content.len() <= bytes_max).then_some(content)
    }

    /// Stores a tree with these entries, told as `ls-tree -z` does.
    pub(in crate::git) fn write_tree_object(&self, entries: &[u8]) -> Option<Oid> {
        self.ask(&self.standing().writer, &WRITER, |asked| {
            asked.say(&[entries, b"\0"].concat())?;
            Ok(Oid::parse(asked.line()?.trim_end()))
        })
    }

    /// A tree that was just stored need not be asked for.
    pub(in crate::git) fn remember_tree(&self, tree: &Oid, content: Vec<u8>) {
        if content.len() < REMEMBERED_BYTES_MAX / 4 {
            self.remembered().put(tree.clone(), (tree.clone(), content));
        }
    }

    /// Nor need that of a commit, where the tree is remembered.
    pub(in crate::git) fn remember_commit(&self, commit: &Oid, tree: &Oid) {
        let mut remembered = self.remembered();
        if let Some(tree) = remembered.trees.get(tree).cloned() {
            remembered.put(commit.clone(), tree);
        }
    }

    /// What is remembered may be gone.
    pub(in crate::git) fn forget_trees(&self) {
        *self.remembered() = Remembered::default();
    }

    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.standing().trees.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a reference point at a commit, or with none deletes one that is there. Whether that was done.
    pub(in crate::git) fn set_reference(&self, name: &str, commit: Option<&Oid>) -> bool {
        match commit {
            Some(commit) => self.change_references(&format!("update {name} {commit}")),
            None => self.delete_reference(name),
        }
    }

    /// Whoever deletes a reference locks all that are packed. It is noted meanwhile, so that a lock which stays behind is
    /// known to be ours.
    fn delete_reference(&self, name: &str) -> bool {
        let is_done = self.ask_once(&self.standing().referrer, &REFERRER, |asked| {
            let place = self.note_place();
            let note = place.and_then(|place| Some((ChildNote::write(place, asked.child.id())?, place)));
            let answer = asked.change(&format!("delete {name}"));
            // The note of one that was killed stays. One that met the lock of somebody else has ended by itself.
            if let (true, Some((note, place))) = (answer.is_ok() || asked.has_exited(), note) {
                note.end(place);
            }
            answer
        });
        is_done == Some(true)
    }

    /// Makes what is checked out another commit, if it is still the one that it is taken for. Whether that was done.
    pub(in crate::git) fn move_head(&self, from: &Oid, to: &Oid) -> bool {
        self.change_references(&format!("update HEAD {to} {from}"))
    }

    fn change_references(&self, change: &str) -> bool {
        let is_done = self.ask_once(&self.standing().referrer, &REFERRER, |asked| asked.change(change));
        is_done == Some(true)
    }

    /// Whether these were started, or are just asked something.
    pub fn has_standing(&self) -> bool {
        self.standing().referrer.try_lock().map_or(true, |place| place.is_some())
    }

    /// Starts those that are asked for all work, so that the first who asks need not wait for that.
    pub fn start_standing(&self) {
        let standing = self.standing();
        let places =
            [(&standing.reader, &READER[..]), (&standing.referrer, &REFERRER), (&standing.writer, &WRITER)];
        for (place, list) in places {
            let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
            if place.is_none() {
                *place = Asked::start(self, list);
            }
        }
    }

    /// One question at a time. Whoever stood there may have been killed since: then a new one is asked.
    fn ask<T>(
        &self,
        place: &Mutex<Option<Asked>>,
        list: &[&str],
        question: impl Fn(&mut Asked) -> io::Result<Option<T>>,
    ) -> Option<T> {
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut asked) = place.take()
            && let Ok(answer) = question(&mut asked)
        {
            *place = Some(asked);
            return answer;
        }
        self.ask_new(&mut place, list, question)
    }

    /// The same for what must not be done twice.
    fn ask_once<T>(
        &self,
        place: &Mutex<Option<Asked>>,
        list: &[&str],
        question: impl FnOnce(&mut Asked) -> io::Result<Option<T>>,
    ) -> Option<T> {
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut asked) = place.take() else { return self.ask_new(&mut place, list, question) };
        let answer = question(&mut asked).ok()?;
        *place = Some(asked);
        answer
    }

    /// Whoever fails to answer the first question is not asked again.
    fn ask_new<T>(
        &self,
        place: &mut Option<Asked>,
        list: &[&str],
        question: impl FnOnce(&mut Asked) -> io::Result<Option<T>>,
    ) -> Option<T> {
        let mut asked = Asked::start(self, list)?;
        let answer = question(&mut asked).ok()?;
        *place = Some(asked);
        answer
    }
}

/// A git that waits for questions.
#[derive(Debug)]
struct Asked {
    child: Child,
    /// None once it is to end.
    input: Option<ChildStdin>,
    output: BufReader<Patient>,
}

impl Asked {
    fn start(git: &Git, list: &[&str]) -> Option<Asked> {
        // It works nowhere: a lock in the working tree must not look like its own.
        let mut environment = git.environment().clone();
        environment.push(("GIT_DIR".into(), git.git_dir().into()));
        let call = Call { dir: Path::new("/"), environment: &environment, ..git.call(list) };
        let mut child = process::start_standing(&call).ok()?;
        let input = child.stdin.take();
        let output = BufReader::new(Patient { pipe: child.stdout.take()? });
        Some(Asked { child, input, output })
    }

    /// It neither changes nor holds anything; that it is gone already is as well.
    fn dismiss(&mut self) {
        self.input = None;
        let _ = self.child.kill();
    }

    fn say(&mut self, question: &[u8]) -> io::Result<()> {
        self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?.write_all(question)
    }

    /// Whether one that says nothing more has ended by itself, without leaving anything behind.
    fn has_exited(&mut self) -> bool {
        let is_silent = self.output.fill_buf().is_ok_and(<[u8]>::is_empty);
        is_silent && self.child.wait().is_ok_and(|status| status.code().is_some())
    }

    /// Changes references, all or none.
    fn change(&mut self, change: &str) -> io::Result<Option<bool>> {
        self.say(format!("start\n{change}\ncommit\n").as_bytes())?;
        let answers = [self.line()?, self.line()?];
        Ok(Some(answers == ["start: ok\n", "commit: ok\n"]))
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        self.output.read_until(b'\n', &mut line)?;
        if !line.ends_with(b"\n") {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(String::from_utf8_lossy(&line).into_owned())
    }

    /// An answer of `cat-file --batch`: a line that says what follows, the object, and a line break.
    fn object(&mut self) -> io::Result<Option<(Oid, Vec<u8>)>> {
        let line = self.line()?;
        let mut words = line.split_whitespace();
        let (Some(oid), Some(_), Some(Ok(size)), None) = (
            words.next().and_then(Oid::parse),
            words.next(),
            words.next().map(str::parse::<usize>),
            words.next(),
        ) else {
            // It says that there is no such thing, and is ready for the next question.
            return Ok(None);
        };
        if size > OBJECT_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut content = vec![0; size + 1];
        self.output.read_exact(&mut content)?;
        content.pop();
        Ok(Some((oid, content)))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.dismiss();
        let _ = self.child.wait();
    }
}

impl Drop for Standing {
    /// All are told to end before the first is waited for.
    fn drop(&mut self) {
        let Self { reader, writer, referrer, .. } = self;
        for place in [reader, writer, referrer] {
            if let Some(asked) = place.get_mut().unwrap_or_else(PoisonError::into_inner) {
                asked.dismiss();
            }
        }
    }
}

/// Output that is not waited for without end.
#[derive(Debug)]
struct Patient {
    pipe: ChildStdout,
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let deadline = Instant::now() + QUESTION_DEADLINE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let milliseconds = u16::try_from(left.as_millis().max(1)).unwrap_or(u16::MAX);
            match poll(
                &mut [PollFd::new(self.pipe.as_fd(), PollFlags::POLLIN)],
                PollTimeout::from(milliseconds),
            ) {
                Ok(0) | Err(nix::errno::Errno::EINTR) => {}
                Ok(_) => return self.pipe.read(buffer),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
