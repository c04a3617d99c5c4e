//! An index that somebody removed or broke. Git takes one that is missing for an empty one, in which all files are staged to
//! be deleted; nothing comes in on top of that.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use super::error::GitError;
use super::formats::checksum::checksum;
use super::repository::Git;

/// What every index begins with.
const SIGNATURE: &[u8; 4] = b"DIRC";

impl Git {
    /// Before anything comes in: the project's index is one, as far as its beginning tells.
    pub(in crate::git) fn refuse_without_index(&self) -> Result<(), GitError> {
        let file = self.git_dir().join("index");
        let reason = match beginning(&file) {
            Ok(begin) if begin == *SIGNATURE => return Ok(()),
            Ok(_) => "is broken",
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::IsADirectory) => {
                "is broken"
            }
            // Without a file there need not be one.
            Err(error) if error.kind() == ErrorKind::NotFound && self.has_no_files()? => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => "is missing",
            Err(error) => return Err(GitError::io("read", &file)(error)),
        };
        Err(GitError::NoIndex { file, reason })
    }

    /// Before anything begins: the same, and all of it is what git wrote.
    pub fn refuse_broken_index(&self) -> Result<(), GitError> {
        self.refuse_without_index()?;
        let (Some(head), Some((content, _))) = (self.head()?, self.index_on_disk()) else { return Ok(()) };
        let (body, sum) = content.split_at(content.len().saturating_sub(head.width()));
        // Some leave the sum out.
        let is_whole = sum.iter().all(|byte| *byte == 0)
            || checksum(&[body], head.width()).is_none_or(|expected| expected == sum);
        let file = self.git_dir().join("index");
        if is_whole { Ok(()) } else { Err(GitError::NoIndex { file, reason: "is broken" }) }
    }

    fn has_no_files(&self) -> Result<bool, GitError> {
        let Some(head) = self.head()? else { return Ok(true) };
        Ok(self.read_tree_object(head.as_str()).is_some_and(|(_, content)| content.is_empty()))
    }
}

fn beginning(file: &Path) -> io::Result<[u8; 4]> {
    let mut begin = [0; 4];
    File::open(file)?.read_exact(&mut begin)?;
    Ok(begin)
}
