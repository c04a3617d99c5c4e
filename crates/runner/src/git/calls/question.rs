//! A question to git that is put before its answer is wanted: git starts while other things are done.

use super::process::{Begun, Call, Ended};
use crate::git::error::GitError;

/// A question that waits for its answer.
#[derive(Debug)]
pub(in crate::git) struct Question {
    /// None once the answer is there.
    begun: Option<Begun>,
}

impl Question {
    /// Puts a question, which takes no locks: nobody may want the answer in the end.
    pub(in crate::git) fn put(call: Call<'_>) -> Result<Question, GitError> {
        Begun::start(call).map(|begun| Question { begun: Some(begun) })
    }

    /// The answer, as soon as it is there.
    pub(in crate::git) fn answer(mut self) -> Result<Ended, GitError> {
        let begun = self.begun.take().expect("a question is answered once");
        begun.finish()
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        if let Some(begun) = self.begun.take() {
            begun.abandon();
        }
    }
}
