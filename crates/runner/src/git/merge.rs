//! Packed work: a commit on top of what it was made on, merged with what has landed since. The result is a tree, or a
//! conflict to tell of; no file is touched for it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use crate::git::call::error::GitError;
use crate::git::call::process::{self, Call};
use crate::git::commit::{Commit, full_message, lacks_identity};
use crate::git::diff::split_names;
use crate::git::history::Oid;
use crate::git::refs::Keep;
use crate::git::repository::{DURABLY, Git};

/// The bytes that are told of the lines in conflict.
const HUNKS_BYTES_MAX: usize = 8_000;
/// From how many files lines are told, and how large these may be.
const FILES_MAX: usize = 20;
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Lines told before and after a conflict.
const CONTEXT: usize = 3;

/// The reason why work could not be joined.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conflict {
    /// The files in conflict.
    pub files: Vec<String>,
    /// The messages of git, a sentence each.
    pub messages: Vec<String>,
    /// The places in conflict with some lines around them, cut where they are too long.
    pub hunks: String,
}

impl Conflict {
    /// Git names the two sides by their commits, which say nothing to people.
    fn in_words(mut self, head: &Oid, commit: &Oid) -> Conflict {
        let told = |text: &str| {
            text.replace(head.as_str(), "what landed before").replace(commit.as_str(), "this work")
        };
        let plain = |file: &str| file.replace(&format!("~{head}"), "").replace(&format!("~{commit}"), "");
        // One file may have a name for either side.
        let files: BTreeSet<String> = self.files.iter().map(|file| plain(file)).collect();
        self.files = files.into_iter().collect();
        self.messages = self.messages.iter().map(|message| told(&plain(message))).collect();
        self.hunks = cut(told(&self.hunks));
        self
    }
}

/// The result of joining.
pub(in crate::git) enum Merge {
    Clean(Oid),
    Conflict(Conflict),
}

impl Git {
    /// Merges the changes between `base` and `commit` into `head`.
    pub(in crate::git) fn merge(&self, base: &Oid, head: &Oid, commit: &Oid) -> Result<Merge, GitError> {
        // Git takes the newest commit that both have in common. Where somebody rewrote the history, that would be an earlier
        // one than the base, so what is checked out is put on top of it.
        let (tree, base) = (format!("{head}^{{tree}}"), base.as_str());
        let put_on_base = ["commit-tree", &tree, "-p", base, "-m", "what is checked out"];
        let head = &Oid::printed(process::run(self.locking_call(&put_on_base, Vec::new()))?)?;
        let list = ["merge-tree", "--write-tree", "-z", "--name-only", head.as_str(), commit.as_str()];
        let ended = process::run(self.locking_call(&list, Vec::new()))?;
        match ended.code {
            Some(0) => Oid::printed(ended).map(Merge::Clean),
            Some(1) => {
                let unexpected = GitError::Unexpected {
                    command: ended.command.clone(),
                    output: String::from_utf8_lossy(&ended.stdout).chars().take(200).collect(),
                };
                let report = Report::parse(&ended.stdout).ok_or(unexpected)?;
                let conflict = self.explain(report)?;
                Ok(Merge::Conflict(conflict.in_words(head, commit)))
            }
            Some(_) | None => Err(ended.into_failure()),
        }
    }

    fn explain(&self, report: Report) -> Result<Conflict, GitError> {
        let mut hunks = String::new();
        for (path, content) in self.contents(&report)? {
            hunks.push_str(&hunks_in(&path.to_string_lossy(), &String::from_utf8_lossy(&content)));
            if hunks.len() > HUNKS_BYTES_MAX {
                break;
            }
        }
        let files = report.files.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        Ok(Conflict { files, messages: report.messages, hunks })
    }

    /// The files in conflict as the merge left them, markers and all: small ones that are text.
    fn contents(&self, report: &Report) -> Result<Vec<(OsString, Vec<u8>)>, GitError> {
        let mut call =
            self.call(&["--literal-pathspecs", "ls-tree", "-r", "-l", "-z", report.tree.as_str(), "--"]);
        call.arguments.extend(report.files.iter().take(FILES_MAX).cloned());
        let listing = process::run(call)?.success()?;
        let mut contents = Vec::new();
        for record in split_names(&listing) {
            let Some((blob, path)) = small_blob(record) else { continue };
            let content = process::run(self.call(&["cat-file", "blob", &blob]))?.success()?;
            if !content.contains(&0) {
                contents.push((path, content));
            }
        }
        Ok(contents)
    }
}

/// The output of `merge-tree` about a conflict.
struct Report {
    tree: Oid,
    files: Vec<OsString>,
    messages: Vec<String>,
}

impl Report {
    fn parse(output: &[u8]) -> Option<Report> {
        let mut fields = output.split(|byte| *byte == 0);
        let tree = Oid::parse(std::str::from_utf8(fields.next()?).ok()?)?;
        let listed: Vec<&[u8]> = fields.by_ref().take_while(|name| !name.is_empty()).collect();
        let files = listed.into_iter().flat_map(split_names).collect();
        let mut messages = Vec::new();
        while let Some(count) = fields.next().filter(|count| !count.is_empty()) {
            let count: usize = std::str::from_utf8(count).ok()?.parse().ok()?;
            let mut record = fields.by_ref().skip(count);
            let (kind, message) = (record.next()?, record.next()?);
            if kind.starts_with(b"CONFLICT") {
                messages.push(String::from_utf8_lossy(message).trim_end().to_owned());
            }
        }
        Some(Report { tree, files, messages })
    }
}

/// The object and the path of a record of `ls-tree -l`, if it is a file of bearable size.
fn small_blob(record: OsString) -> Option<(String, OsString)> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let bytes = record.as_bytes();
    let tab = bytes.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(bytes.get(..tab)?).ok()?.split_whitespace().skip(1);
    let (kind, oid, size) = (words.next()?, words.next()?, words.next()?);
    let is_small = kind == "blob" && size.parse::<u64>().is_ok_and(|size| size <= FILE_BYTES_MAX);
    is_small.then(|| (oid.to_owned(), OsString::from_vec(bytes.get(tab + 1..).unwrap_or_default().to_vec())))
}

/// The regions between markers, with some lines around each.
fn hunks_in(path: &str, content: &str) -> String {
    let lines: Vec<&str> = content.lines().collect();
    let mut text = String::new();
    let mut from = 0;
    while let Some(start) =
        (from..lines.len()).find(|at| lines.get(*at).is_some_and(|line| line.starts_with("<<<<<<<")))
    {
        let Some(end) =
            (start..lines.len()).find(|at| lines.get(*at).is_some_and(|line| line.starts_with(">>>>>>>")))
        else {
            break;
        };
        let shown = lines.get(start.saturating_sub(CONTEXT)..(end + 1 + CONTEXT).min(lines.len()));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{path}, line {}:", start + 1);
        for line in shown.unwrap_or_default() {
            text.push_str(line);
            text.push('\n');
        }
        if text.len() > HUNKS_BYTES_MAX {
            break;
        }
        from = end + 1;
    }
    text
}

fn cut(text: String) -> String {
    if text.len() <= HUNKS_BYTES_MAX {
        return text;
    }
    let end = (0..=HUNKS_BYTES_MAX).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    format!("{}\n… (cut)\n", text.get(..end).unwrap_or_default())
}

/// New files are written also where a sparse checkout leaves out what is there already: whoever made them needs them.
pub(super) const UNSPARSE: [&str; 2] = ["-c", "core.sparseCheckout=false"];

/// The number of commits that are told of.
const TOLD_MAX: &str = "--max-count=20";

impl Git {
    /// Packs a tree into a commit on top of its base, kept by a reference. No hook runs and nothing is signed here; that
    /// happens where the work comes in.
    pub fn pack(
        &self,
        (base, tree): (&Oid, &Oid),
        message: &str,
        trailer: (&str, &str),
        keep: &Keep,
    ) -> Result<Oid, GitError> {
        let message = full_message(&Commit { trailer: Some(trailer), ..Commit::new(&[], message) })?;
        let list = ["commit-tree", tree.as_str(), "-p", base.as_str(), "-F", "-"];
        let call = self.locking_call(&[&DURABLY[..], &list].concat(), message.into_bytes());
        let ended = process::run(call)?;
        if lacks_identity(&ended.stderr) {
            return Err(GitError::NoIdentity { root: self.root().to_owned() });
        }
        let commit = Oid::printed(ended)?;
        self.keep(keep, &commit)?;
        Ok(commit)
    }

    /// Puts the changes between `base` and `work` into a linked work tree at `head`, uncommitted. Where they do not
    /// fit, nothing is changed and the conflict is given back.
    pub fn carry_over(
        &self,
        worktree: &Path,
        (base, work): (&Oid, &Oid),
        head: &Oid,
    ) -> Result<Option<Conflict>, GitError> {
        match self.merge(base, head, work)? {
            Merge::Clean(merged) => self.write_into(worktree, (head, &merged)).map(|()| None),
            Merge::Conflict(conflict) => Ok(Some(conflict)),
        }
    }

    /// Makes a linked work tree that shows one commit or tree show another, files and index alike.
    pub(super) fn write_into(&self, worktree: &Path, (from, to): (&Oid, &Oid)) -> Result<(), GitError> {
        let switch = [&UNSPARSE[..], &["read-tree", "--reset", "-u", from.as_str(), to.as_str()]].concat();
        process::run(Call { dir: worktree, ..self.locking_call(&switch, Vec::new()) })?.success().map(drop)
    }

    /// The commits since another one, a line each, the newest first.
    pub fn told_since(&self, base: &Oid) -> Result<Vec<String>, GitError> {
        let range = format!("{base}..HEAD");
        let log = ["log", "--no-show-signature", "--no-color", "--format=%h %s", TOLD_MAX, &range, "--"];
        let stdout = process::run(self.call(&log))?.success()?;
        Ok(String::from_utf8_lossy(&stdout).lines().map(str::to_owned).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{HUNKS_BYTES_MAX, cut, hunks_in};

    #[test]
    fn regions_are_told_with_lines_around_them() {
        let content = "1\n2\n3\n4\n<<<<<<< a\nours\n=======\ntheirs\n>>>>>>> b\n5\n6\n7\n8\n";
        let expected = "x, line 5:\n2\n3\n4\n<<<<<<< a\nours\n=======\ntheirs\n>>>>>>> b\n5\n6\n7\n";
        assert_eq!(hunks_in("x", content), expected);
        assert_eq!(hunks_in("x", "<<<<<<< never ends\n"), "");
        assert_eq!(hunks_in("x", "no conflict\n"), "");
    }

    #[test]
    fn long_ones_are_cut_between_characters() {
        let text = cut("ü".repeat(HUNKS_BYTES_MAX));
        assert!(text.ends_with("… (cut)\n") && text.len() < HUNKS_BYTES_MAX + 20);
    }
}
