//! Phases: the headings that divide a plan.

/// Which phase of a plan a task is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhaseIndex(pub(crate) u32);

impl PhaseIndex {
    /// The position in [`Plan::phases`](crate::Plan::phases).
    #[must_use]
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// A heading that divides the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The heading's text.
    pub title: String,
    /// The heading's line, counted from one.
    pub line: usize,
    /// The lines that say how it is checked as a whole, as other tools write them: `Independent Test`, `Checkpoint`.
    pub checks: Vec<String>,
}

impl Phase {
    /// True if this is the phase in which the pull request is looked after.
    #[must_use]
    pub fn names_pr_lifecycle(&self) -> bool {
        names_pr_lifecycle(&self.title)
    }
}

/// True if a heading makes a phase: the deeper ones only where they say so.
pub(super) fn makes_phase(level: usize, title: &str) -> bool {
    level == 2 || names_pr_lifecycle(title) || starts_with_word(title, "phase")
}

fn names_pr_lifecycle(title: &str) -> bool {
    let words: Vec<&str> =
        title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let title = format!(" {} ", words.join(" ").to_lowercase());
    [" pr lifecycle ", " pr life cycle ", " pull request lifecycle ", " pull request life cycle "]
        .iter()
        .any(|name| title.contains(name))
}

fn starts_with_word(title: &str, word: &str) -> bool {
    title
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .is_some_and(|first| first.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_the_lifecycle() {
        for title in [
            "Phase 5: PR Lifecycle",
            "Phase 9: pr lifecycle readiness",
            "PR Life-Cycle",
            "Pull Request Lifecycle",
        ] {
            assert!(names_pr_lifecycle(title), "{title}");
        }
        for title in ["Phase 5: Verifier lifecycle", "Lifecycle of a PR", "SPR lifecycle", ""] {
            assert!(!names_pr_lifecycle(title), "{title}");
        }
    }

    #[test]
    fn what_makes_a_phase() {
        assert!(makes_phase(2, "Setup"));
        assert!(makes_phase(3, "Phase 2: Go"));
        assert!(makes_phase(4, "PR Lifecycle"));
        assert!(!makes_phase(3, "Notes"));
        assert!(!makes_phase(1, "Tasks"));
    }
}
