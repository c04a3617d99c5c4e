//! A reference that holds on to the tree of a landing under way. Nothing else does: whoever tidies the repository up
//! meanwhile, leaving out no object that is new, would take it away. Between landings it stays where it was, since
//! changing references takes longer than the little that it holds is worth; it goes when no other landing is to follow.

use std::fs;
use std::path::PathBuf;

use crate::git::calls::process;
use crate::git::error::GitError;
use crate::git::history::Oid;
use crate::git::repository::Git;
use crate::git::trees::keep::encode;

impl Git {
    /// Holds on to a tree, and to no other.
    pub(in crate::git) fn anchor(&self, tree: &Oid) -> Result<(), GitError> {
        let (name, mark) = (self.anchor_name(), self.anchor_mark());
        fs::write(&mark, &name).map_err(GitError::io("write", &mark))?;
        let update = ["update-ref", &name, tree.as_str()];
        process::run(self.locking_call(&update, Vec::new()))?.success().map(drop)
    }

    /// Lets it go, also one that a program left which died. One that stays, because somebody has the references locked,
    /// is in nobody's way, and whoever comes next tries again.
    pub(in crate::git) fn weigh_anchor(&self) {
        let mark = self.anchor_mark();
        if mark.exists() && self.is_weighed() {
            // Nothing is lost by looking once more.
            let _ = fs::remove_file(mark);
        }
    }

    fn is_weighed(&self) -> bool {
        let name = self.anchor_name();
        let delete = process::run(self.locking_call(&["update-ref", "-d", &name], Vec::new()));
        delete.is_ok_and(|ended| ended.is_success())
    }

    /// Linked working trees share their references, and each has landings of its own. No plan's name begins like this.
    fn anchor_name(&self) -> String {
        let own = self.git_dir().file_name().unwrap_or_default().to_string_lossy();
        format!("refs/tillgreen/%landing/{}", encode(&own))
    }

    /// A file that is there as long as the reference may be, so that nobody has to ask git.
    fn anchor_mark(&self) -> PathBuf {
        self.git_dir().join("tillgreen-anchor")
    }
}
