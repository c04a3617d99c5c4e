//! The warnings of a run, which stopped nothing: kept by name, for the end.

use plan::TaskId;
use serde::{Deserialize, Serialize};

/// How many warnings are kept by name.
const NAMED_MAX: usize = 10;

/// The warnings of a run, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warnings {
    /// The first of them, each once.
    pub named: Vec<String>,
    /// How many came after those.
    pub more: usize,
    /// Those of them that are about one start of the program alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    passing: Vec<String>,
}

impl Warnings {
    /// True if nothing was told.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// Takes in what was told of a task.
    pub(crate) fn add_of(&mut self, task: &TaskId, told: &[String]) {
        told.iter().for_each(|told| self.add(format!("task {task}: {told}")));
    }

    /// Takes in a note; one that is passing is gone with the next start of the program, which looks again.
    pub(crate) fn add_noted(&mut self, told: &str, is_passing: bool) {
        self.passing.extend(is_passing.then(|| told.to_owned()));
        self.add(told.to_owned());
    }

    /// Forgets what was about an earlier start of the program.
    pub(crate) fn open(&mut self) {
        let gone = std::mem::take(&mut self.passing);
        self.named.retain(|told| !gone.contains(told));
    }

    /// Takes in what stands for itself.
    pub(crate) fn add(&mut self, told: String) {
        if self.named.contains(&told) {
            return;
        }
        if self.named.len() < NAMED_MAX {
            self.named.push(told);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_passing_is_gone_with_the_next_start() {
        let mut warnings = Warnings::default();
        warnings.add("stays".to_owned());
        warnings.add_noted("passes", true);
        assert_eq!(warnings.named, ["stays", "passes"]);
        warnings.open();
        assert_eq!(warnings.named, ["stays"]);
    }

    #[test]
    fn the_first_are_named_once_and_the_rest_is_counted() {
        let mut warnings = Warnings::default();
        assert!(warnings.is_empty());
        for number in 0..12 {
            warnings.add(format!("warning {}", number / 2 * 2));
            warnings.add_of(&TaskId::new("1.1"), &[format!("odd {number}")]);
        }
        assert_eq!(warnings.named[..3], ["warning 0", "task 1.1: odd 0", "task 1.1: odd 1"]);
        assert_eq!((warnings.named.len(), warnings.more), (NAMED_MAX, 10));
    }
}
