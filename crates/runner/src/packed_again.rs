//! Finished work of which objects are gone, because somebody tidied the repository up while it was packed: the files are
//! still in its tree, and it is packed once more.

use crate::git::{self, Applied, GitError, Oid, TreeWork};
use crate::offstage::{LandingRequest, Site};
use crate::recording::TRAILER;

impl Site {
    /// Applies packed work, and tells which commit it is packed into.
    pub(crate) fn apply_whole(
        &self,
        landing: &git::Landing<'_>,
        request: &LandingRequest,
        notes: &mut Vec<String>,
    ) -> Result<(Oid, Applied), GitError> {
        let error = match self.apply(landing, &request.traces, notes) {
            Ok(applied) => return Ok((landing.commit.clone(), applied)),
            Err(error) if error.is_of_gone_objects() => error,
            Err(error) => return Err(error),
        };
        let Some(commit) = self.pack_again(landing.base, request)? else { return Err(error) };
        let landing = git::Landing { commit: &commit, ..*landing };
        let applied = self.apply(&landing, &request.traces, notes)?;
        Ok((commit, applied))
    }

    /// Packs what the attempt changed. What its verify command has left in other files since is nobody's work.
    fn pack_again(&self, base: &Oid, request: &LandingRequest) -> Result<Option<Oid>, GitError> {
        if self.base().is_none() {
            return Ok(None);
        }
        let furnished = self.furnished();
        let work = self.work(base, &furnished);
        let now = self.git.despite_tidying(|| self.git.touched_in(&work))?;
        let traces = now.changes.into_iter().map(|change| change.path);
        let traces = traces.filter(|path| !request.touched.contains(path));
        let dropped: Vec<String> = self.dropped.iter().cloned().chain(traces).collect();
        let work = TreeWork { dropped: &dropped, ..work };
        let packed = self.git.pack(&work, &request.message, (TRAILER, &request.trailer), &self.keep)?;
        let commit = packed.map(|packed| packed.commit);
        self.note_packed(commit.as_ref())?;
        Ok(commit)
    }
}
