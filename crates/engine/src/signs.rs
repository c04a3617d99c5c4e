//! Signs of work that is put off or silenced, in lines that attempts added. They refuse nothing: a person looks there first.

use plan::TaskId;
use serde::{Deserialize, Serialize};

use crate::event::What;
use crate::state::State;

/// The signs that are named of one task.
const NAMED_MAX: usize = 20;

/// A sign of work that is put off or silenced.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Sign {
    /// The file.
    pub path: String,
    /// The line, counted from 1, as it was when somebody looked.
    pub line: u32,
    /// The sign itself, as `noqa` or `it.only`.
    pub what: String,
}

/// The signs in what a task's attempts added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signs {
    /// The first of them.
    pub named: Vec<Sign>,
    /// How many came after those.
    #[serde(default, skip_serializing_if = "is_none")]
    pub more: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

impl Signs {
    /// Keeps the first ones and counts the others.
    pub fn new(mut signs: Vec<Sign>) -> Self {
        let more = u32::try_from(signs.len().saturating_sub(NAMED_MAX)).unwrap_or(u32::MAX);
        signs.truncate(NAMED_MAX);
        Self { named: signs, more }
    }

    /// True if there is nothing to look at.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// What is left of them when later work takes these out again, by file and sign.
    #[must_use]
    pub fn without(&self, gone: &[(String, String)]) -> Self {
        let mut left = self.clone();
        for (path, what) in gone {
            let at = left.named.iter().position(|sign| sign.path == *path && sign.what == *what);
            at.map(|at| left.named.remove(at));
        }
        left
    }

    /// The first of them in words, and how many there are besides.
    pub fn words(&self, named_max: usize) -> String {
        let named = self.named.iter().take(named_max);
        let named = named.map(|sign| format!("`{}` in {}:{}", sign.what, sign.path, sign.line));
        let more = self.named.len().saturating_sub(named_max) + usize::try_from(self.more).unwrap_or(0);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        named.collect::<Vec<_>>().join(", ") + &more
    }
}

/// Signs that are known already are no news.
pub(crate) fn found(state: &State, id: TaskId, signs: Signs) -> Option<What> {
    let is_news = state.task(&id)?.grounds.signs != signs;
    is_news.then_some(What::Found { task: id, evidence: crate::evidence::Evidence::Signs(signs) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(line: u32, what: &str) -> Sign {
        Sign { path: "a.py".to_owned(), line, what: what.to_owned() }
    }

    #[test]
    fn the_first_are_named_and_the_rest_is_counted() {
        let signs = Signs::new((1..=25).map(|line| sign(line, "it.only")).collect());
        assert_eq!((signs.named.len(), signs.more), (NAMED_MAX, 5));
        assert_eq!(signs.words(2), "`it.only` in a.py:1, `it.only` in a.py:2 and 23 more");
    }

    #[test]
    fn what_later_work_takes_out_is_no_sign_any_more() {
        let signs = Signs::new(vec![sign(1, "it.only"), sign(2, "noqa"), sign(3, "it.only")]);
        let gone = |what: &str| ("a.py".to_owned(), what.to_owned());
        let left = signs.without(&[gone("it.only"), gone("xit"), ("b.py".to_owned(), "noqa".to_owned())]);
        assert_eq!(left.words(9), "`noqa` in a.py:2, `it.only` in a.py:3");
        assert!(left.without(&[gone("it.only"), gone("noqa")]).is_empty());
    }
}
