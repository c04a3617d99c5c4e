//! The kinds of tasks, by who does them.

/// The type of a task, as its `type` attribute says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TaskType {
    /// `auto`: an agent does it. Tasks of specs are all of this type.
    #[default]
    Auto,
    /// `tdd`: an agent does it, tests first.
    Tdd,
    /// `checkpoint:human-verify`: a person looks at what was built.
    HumanVerify,
    /// `checkpoint:decision`: a person chooses.
    Decision,
    /// `checkpoint:human-action`: a person does what no agent can.
    HumanAction,
}

impl TaskType {
    /// True if it asks a person.
    #[must_use]
    pub fn is_checkpoint(self) -> bool {
        match self {
            TaskType::Auto | TaskType::Tdd => false,
            TaskType::HumanVerify | TaskType::Decision | TaskType::HumanAction => true,
        }
    }

    /// The type with this name, or what comes nearest to it and is not known.
    pub(super) fn of(name: &str) -> Result<TaskType, TaskType> {
        match name.trim().to_ascii_lowercase().replace('_', "-").as_str() {
            "" | "auto" => Ok(TaskType::Auto),
            "tdd" => Ok(TaskType::Tdd),
            "checkpoint:human-verify" => Ok(TaskType::HumanVerify),
            "checkpoint:decision" => Ok(TaskType::Decision),
            "checkpoint:human-action" => Ok(TaskType::HumanAction),
            // Whatever a checkpoint is for, its author wanted a person to be asked.
            other if other.starts_with("checkpoint") => Err(TaskType::HumanVerify),
            _ => Err(TaskType::Auto),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, type_) in [
            ("", Ok(TaskType::Auto)),
            ("auto", Ok(TaskType::Auto)),
            ("TDD", Ok(TaskType::Tdd)),
            ("checkpoint:human-verify", Ok(TaskType::HumanVerify)),
            ("checkpoint:human_verify", Ok(TaskType::HumanVerify)),
            ("checkpoint:decision", Ok(TaskType::Decision)),
            ("checkpoint:human-action", Ok(TaskType::HumanAction)),
            ("checkpoint:gate", Err(TaskType::HumanVerify)),
            ("test-first", Err(TaskType::Auto)),
        ] {
            assert_eq!(TaskType::of(name), type_, "{name}");
        }
    }
}
