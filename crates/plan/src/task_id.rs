//! The identity of a task: its name in the plan and, where a plan uses a name twice, which of them it is.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which task of a plan is meant: `1.3`, or `1.3~2` for the second task that is called `1.3`.
///
/// Cloning shares the name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    name: Arc<str>,
    occurrence: u32,
}

impl TaskId {
    /// The first task called `name`.
    #[must_use]
    pub fn new(name: &str) -> Self {
        TaskId { name: name.into(), occurrence: 1 }
    }

    /// The `occurrence`-th task called `name`, counted from one.
    #[must_use]
    pub fn with_occurrence(name: &str, occurrence: u32) -> Self {
        TaskId { name: name.into(), occurrence: occurrence.max(1) }
    }

    /// The name as it stands in the plan.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Which of the tasks with this name it is, counted from one.
    #[must_use]
    pub fn occurrence(&self) -> u32 {
        self.occurrence
    }

    /// The id of the `n`-th fix of this task: `1.3` gives `1.3.1`.
    ///
    /// The name alone decides, so the fixes of two tasks with one name share their numbers.
    #[must_use]
    pub fn child(&self, n: u32) -> TaskId {
        TaskId { name: format!("{}.{n}", self.name).into(), occurrence: 1 }
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.occurrence > 1 {
            write!(f, "~{}", self.occurrence)?;
        }
        Ok(())
    }
}

impl FromStr for TaskId {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let parsed = text.rsplit_once('~').and_then(|(name, number)| {
            let canonical = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0');
            let occurrence = number.parse::<u32>().ok().filter(|&number| canonical && number > 1)?;
            Some(TaskId { name: name.into(), occurrence })
        });
        Ok(parsed.unwrap_or_else(|| TaskId::new(text)))
    }
}

impl From<&str> for TaskId {
    fn from(text: &str) -> Self {
        let Ok(id) = text.parse();
        id
    }
}

impl Serialize for TaskId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TaskId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(TaskId::from(text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_string_both_ways() {
        for (text, name, occurrence) in
            [("1.3", "1.3", 1), ("1.3~2", "1.3", 2), ("#4", "#4", 1), ("a~b", "a~b", 1), ("1~1", "1~1", 1)]
        {
            let id = TaskId::from(text);
            assert_eq!((id.name(), id.occurrence()), (name, occurrence));
            assert_eq!(id.to_string(), text);
            let json = serde_json::to_string(&id).unwrap();
            assert_eq!(json, format!("{text:?}"));
            assert_eq!(serde_json::from_str::<TaskId>(&json).unwrap(), id);
        }
    }

    #[test]
    fn fixes_extend_the_name() {
        assert_eq!(TaskId::new("1.3").child(1).child(2).to_string(), "1.3.1.2");
        assert_eq!(TaskId::from("1.3~2").child(1).to_string(), "1.3.1");
    }
}
