//! Checkboxes that stand among the tasks of a plan and are none: what to say of them. Which lines these are is found
//! out by the parser.

use super::task::BoxState;
use super::task_line::Checkbox;
use crate::one_line::one_line;
use crate::problem::Problem;

/// Characters of a box's text that are told.
const TITLE_CHARS_MAX: usize = 60;

/// Why a box is no task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stray {
    /// Nothing before its text is an id.
    Unnamed,
    /// There is a space before it.
    Shifted,
}

impl Stray {
    /// What is wrong with a box in this line. Nobody misses what is ticked.
    pub(super) fn problem(self, text: &str, line: usize, found: &Checkbox) -> Option<Problem> {
        if found.state == BoxState::Done {
            return None;
        }
        let problem = match (self, &found.head.id) {
            (Self::Shifted, Some(id)) => {
                let id = &text[id.clone()];
                let message = format!("there is a space before the checkbox of {id}, so it is no task");
                Problem::warning(line, message).hint(format!("write `- [ ] {id}` at the start of the line"))
            }
            (Self::Unnamed | Self::Shifted, _) => {
                let title: String =
                    one_line(&text[found.head.title.clone()]).chars().take(TITLE_CHARS_MAX).collect();
                let named = if title.is_empty() { String::new() } else { format!(" “{title}”") };
                let message = format!("the checkbox{named} has no id, so it is no task");
                Problem::warning(line, message).hint(
                    "begin it with an id of letters, digits, dots and dashes that has a digit in it, such as \
                     `- [ ] 1.4 …`; indented by two spaces it is part of the task above",
                )
            }
        };
        Some(problem)
    }
}
